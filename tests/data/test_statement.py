"""SQL that is kept between releases: the same text as is compiled anew, whatever the salt."""

import random

import pytest

from discreet.data.statement import _USES, probe_salt, statement_of


def compiled(salt):
    """A text that uses words of a salt in every way, beside numbers that are none of them."""
    odd = ((salt[0] & (2**30 - 1)) | 2**29 | 1, (salt[1] & (2**30 - 1)) | 1, (salt[2] & (2**31 - 1)) | 2**30 | 1)
    return f'SELECT "t10"."m{1}" * {odd[0]} + 2147483647 * {odd[1]} ^ {salt[3]} % {odd[2]} = \'{4}\' OR {salt[3]}'


@pytest.mark.parametrize("words", [8, 10])
def test_no_two_uses_of_a_probe_are_alike(words):
    uses = [use(word) for word in probe_salt(words) for use in _USES]
    assert len(set(uses)) == 4 * words
    assert all(2**29 < use < 2**31 for use in uses[::4])


def test_the_text_of_any_salt_is_what_is_compiled_for_it():
    chance = random.Random(3)
    first = [chance.randrange(2**31) for _ in range(8)]
    kept = statement_of(compiled(probe_salt(8)), 8, compiled(first), first)
    assert [place for _, place in kept.holes] == [0, 1, 3, 2, 3]
    salts = [[chance.randrange(2**31) for _ in range(8)] for _ in range(200)]
    for salt in [[0] * 8, [1] * 8, [127] * 8, [2**31 - 1] * 8, probe_salt(8), *salts]:
        assert kept.sql(salt) == compiled(salt)


def test_it_holds_no_salt():
    salt = [987654321 + place for place in range(8)]
    kept = statement_of(compiled(probe_salt(8)), 8, compiled(salt), salt)
    assert not any(str(use(word)) in "".join(kept.texts) for word in (*salt, *probe_salt(8)) for use in _USES)
    assert "$salt_3_0" in kept.template
    assert kept.parameters(salt)["salt_3_0"] == salt[3]


def test_a_text_that_uses_a_salt_in_another_way_is_not_kept():
    salt = [987654321 + place for place in range(8)]
    strange = lambda words: compiled(words) + f" - {words[4] * 3}"  # noqa: E731
    assert statement_of(strange(probe_salt(8)), 8, strange(salt), salt) is None


def test_a_number_that_happens_to_be_a_probe_is_no_hole():
    salt = [987654321 + place for place in range(8)]
    chance = f" + {probe_salt(8)[5]}"
    assert statement_of(compiled(probe_salt(8)) + chance, 8, compiled(salt) + chance, salt) is None
