"""What samplers accept: scales that leave room in 64 bits, sizes, probabilities; everything else is named."""

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.noise.parameters import LARGEST, SMALLEST, read_probability, read_scale, read_size


@pytest.mark.parametrize("value", [1, 0.5, "2/3", Fraction(7, 3), LARGEST, SMALLEST])
def test_a_scale_is_read_exactly(value):
    assert read_scale(value) == Fraction(value)


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        (0, "more than zero"),
        (-1, "more than zero"),
        (LARGEST + 1, "at most 2**40"),
        (SMALLEST / 2, "at least 2**-40"),
    ],
)
def test_a_scale_that_makes_no_noise_or_no_room_is_refused_by_name(value, allowed):
    with pytest.raises(InputError) as caught:
        read_scale(value, "sigma")
    assert caught.value.field == "sigma"
    assert allowed in caught.value.allowed


def test_sizes_are_whole_and_none_is_a_single_draw():
    assert [read_size(size) for size in (None, 0, 1, 2**30)] == [1, 0, 1, 2**30]
    for size in (-1, 1.5, 2**30 + 1):
        with pytest.raises(InputError, match="`size`"):
            read_size(size)


def test_probabilities_may_be_certain_and_no_more():
    assert [read_probability(value, "p") for value in (0, "1/3", 1)] == [0, Fraction(1, 3), 1]
    for value in (-0.001, 1.001):
        with pytest.raises(InputError, match="between 0 and 1"):
            read_probability(value, "p")
