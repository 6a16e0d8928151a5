"""Keys of a run: another for each purpose and place, the same when asked again."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from train_steps import OTHER, SECRET

from discreet.errors import InputError
from discreet.learn.keys import bits_of, key_of, new_secret


def test_keys_differ_by_purpose_and_place_and_the_secret_must_be_one():
    keys = {key_of(SECRET, "a", 1), key_of(SECRET, "a", 2), key_of(SECRET, "b", 1), key_of(OTHER, "a", 1)}
    assert len(keys) == 4
    assert new_secret() != new_secret()
    with pytest.raises(InputError, match="32 bytes") as caught:
        key_of(b"short", "a", 1)
    assert "short" not in str(caught.value)


def test_a_purpose_and_its_places_cannot_run_into_each_other():
    assert key_of(SECRET, "a", 1, 2) != key_of(SECRET, "a", 1)
    assert key_of(SECRET, "ab") != key_of(SECRET, "a", int.from_bytes(b"b"))
    assert len(key_of(SECRET, "a")) == 64


def test_bits_of_a_place_are_the_same_when_asked_again_and_those_of_others_are_not():
    here = [bits_of(SECRET, "noise", 3).read(64).tobytes() for _ in range(2)]
    assert here[0] == here[1]
    others = [bits_of(OTHER, "noise", 3), bits_of(SECRET, "noise", 4), bits_of(SECRET, "lot", 3)]
    assert here[0] not in [other.read(64).tobytes() for other in others]


def test_a_secret_is_read_from_the_bits_that_are_given():
    assert new_secret(bits_of(SECRET, "secret")) == new_secret(bits_of(SECRET, "secret")) != SECRET
