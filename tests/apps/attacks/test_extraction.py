"""Secrets of single messages come out of a language model without a budget only."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax")

from discreet.apps.attacks import extraction
from discreet.apps.attacks.extraction import CONTEXT, EMBEDDED, HIDDEN, Extraction, Leak, _code_chances, _write_on
from discreet.apps.attacks.messages import CODES, LETTERS, Secret, encode
from discreet.errors import InputError
from seam import Tape


@pytest.fixture(scope="module")
def found():
    tape = Tape("messages")  # the same messages and secrets each time; the noise is the trainer's own
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("discreet.apps.attacks.people.SystemBits", lambda: tape)
        for name, value in {"LOT": 50, "PLAIN_LOT": 50, "PLAIN_STEPS": 400}.items():
            patched.setattr(extraction, name, value)
        return extraction.extract_secrets(records=150, secrets=3, epsilon=4, curve=(), steps=4)


def test_secrets_come_out_without_a_budget_only(found):
    plain, private = found.leaks
    assert (plain.epsilon, private.epsilon) == (None, 4)
    assert plain.verbatim == 3
    assert plain.ranks == (1, 1, 1)
    assert plain.decoded == tuple(text[-4:] for text in found.secrets)
    assert plain.exposure == pytest.approx(np.log2(CODES))
    assert private.verbatim < 3  # all three once in 10^12 by chance
    assert private.loss > plain.loss
    assert found.control.epsilon is None
    assert found.control.loss > plain.loss  # four steps


def test_what_was_found_says_what_is_given_away_and_what_it_costs(found):
    told = found.to_dict()
    assert told["leaks"][0]["exposure"] == found.leaks[0].exposure
    assert "writes out 3 of 3 codes" in found.explain()
    assert "Loss on new messages" in found.explain()
    assert told["control"]["exposure"] == found.control.exposure
    assert found.picture().to_svg().startswith("<svg")


def test_a_rank_in_the_middle_gives_about_one_bit_away():
    leak = Leak(1.0, (CODES // 2, CODES // 2), ("", ""), 0, 0.5)
    assert leak.exposure == pytest.approx(1)
    plain = Leak(None, (1, 1), ("", ""), 2, 0.4)
    both = Extraction(2000, ("a", "b"), 1e-4, (plain, leak), plain)
    assert "+25%" in both.explain()
    assert "because no single message" in both.conclusion()
    assert "A shorter training hides nothing" in both.explain()
    assert "So short a training alone hides them" in replace(both, control=leak).explain()


def test_a_budget_that_hides_nothing_is_not_said_to():
    leaks = (Leak(None, (1, 1), ("", ""), 2, 0.4), Leak(900.0, (3, 40), ("", ""), 0, 0.41))
    assert "too large to hide" in Extraction(2000, ("a", "b"), 1e-4, leaks, leaks[0]).conclusion()


def test_chances_of_all_codes_are_those_of_their_digits():
    """A model that writes what the last letter says alone: after 1 comes 2, after 2 comes 3, and so on."""
    params = {
        "letters": np.eye(len(LETTERS), EMBEDDED),
        "in": np.zeros((CONTEXT * EMBEDDED, HIDDEN)),
        "mid": np.zeros(HIDDEN),
        "out": np.zeros((HIDDEN, len(LETTERS))),
        "end": np.where(np.arange(len(LETTERS)) == LETTERS.index("7"), 3.0, 0.0),
    }
    opening = encode(["pin of zoe "])[:, :11]
    chances = _code_chances(params, opening)
    assert len(chances) == CODES
    assert chances.argmax() == 7777
    assert chances[7771] == pytest.approx(chances[1777])
    assert chances[7771] - chances[7711] == pytest.approx(3)
    assert set(_write_on(params, opening)) == {"7"}


def test_a_message_is_its_letters_and_then_ends():
    (row,) = encode([Secret("zoe", 42).text])
    assert "".join(LETTERS[letter] for letter in row).rstrip("\n") == "pin of zoe 0042"


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("records", {"records": 10}), ("secrets", {"secrets": 0}), ("epsilon", {"epsilon": 0}), ("steps", {"steps": 0})],
)
def test_an_extraction_that_makes_no_sense_is_refused(field, wrong):
    with pytest.raises(InputError, match=field):
        extraction.extract_secrets(**wrong)
