"""What mechanisms accept: integers with room for noise, prices as written; messages never show a value."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms.inputs import (
    ROOM,
    read_confidence,
    read_count,
    read_epsilon,
    read_epsilon_or_none,
    read_flag,
    read_integer,
    read_outputs,
    read_scores,
    read_values,
)


def test_prices_and_confidences_are_read_as_they_are_written():
    assert read_epsilon(0.1) == Fraction(1, 10)
    assert read_epsilon_or_none(None) is None
    assert read_confidence(0.95) == Fraction(95, 100)
    for value in (0, -1):
        with pytest.raises(InputError, match="`epsilon` must be more than zero"):
            read_epsilon_or_none(value)
    for value in (0, 1, 1.5):
        with pytest.raises(InputError, match="`confidence` must be strictly between 0 and 1"):
            read_confidence(value)


@pytest.mark.parametrize("values", [[1, -2], (1, -2), np.array([1, -2], dtype=np.int8), [np.int64(1), -2]])
def test_integers_of_any_kind_are_values(values):
    read = read_values(values)
    assert read.dtype == np.int64
    assert read.tolist() == [1, -2]
    assert read_values([]).shape == (0,)
    assert read_values([ROOM, -ROOM]).tolist() == [ROOM, -ROOM]


@pytest.mark.parametrize(
    "values",
    [
        [1.5, 31337],
        [True, 31337],
        np.array([True]),
        [[31337]],
        31337,
        ["31337"],
        [None],
        [31337, [1, 2]],
        np.array([2**63 + 31337], dtype=np.uint64),
        [ROOM + 31337],
        [-ROOM - 31337],
    ],
)
def test_anything_else_is_refused_and_never_shown(values):
    with pytest.raises(InputError) as caught:
        read_values(values, "counts")
    assert caught.value.field == "counts"
    assert "31337" not in str(caught.value)


@pytest.mark.parametrize("value", [1.0, True, "1", None, ROOM + 1])
def test_one_integer_is_an_integer(value):
    assert read_integer(np.int32(7)) == 7
    with pytest.raises(InputError, match="`value`") as caught:
        read_integer(value)
    assert str(ROOM + 1) not in str(caught.value)


def test_there_must_be_a_score_to_choose_from():
    assert read_scores([2**63 - 1]).tolist() == [2**63 - 1]  # scores get no noise, so they need no room
    with pytest.raises(InputError, match="at least one score"):
        read_scores([])


def test_counts_and_flags_are_what_they_say():
    assert read_count(np.int64(3)) == 3
    assert read_outputs(ROOM) == ROOM
    assert read_flag(np.True_) is True
    for bad in (lambda: read_count(0), lambda: read_count(1.5), lambda: read_count(5, most=4)):
        with pytest.raises(InputError, match="a whole number, 1"):
            bad()
    with pytest.raises(InputError, match=r"at most 2\*\*62"):
        read_outputs(ROOM + 1)
    with pytest.raises(InputError, match="True or False"):
        read_flag(1)
