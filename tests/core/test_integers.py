"""The largest number that fits is found, with few questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.integers import largest, refine


@given(st.integers(0, 10**12))
def test_the_largest_that_fits_is_found(most):
    tried = []

    def fits(number):
        tried.append(number)
        return number <= most

    assert largest(fits) == most
    assert len(tried) <= 2 * most.bit_length() + 2


@pytest.mark.parametrize("error", [ValueError, KeyError])
def test_what_goes_wrong_in_a_question_is_raised(error):
    def fits(number):
        raise error

    with pytest.raises(error):
        largest(fits)


@pytest.mark.parametrize("guess", [1, 2, 30, 31, 32, 33, 500])
def test_the_last_number_that_fits_is_reached_from_either_side(guess):
    assert refine(guess, 1, lambda number: number**2 <= 1000) == 31
    assert refine(guess, -1, lambda number: number**2 >= 1000) == 32


def test_a_refined_number_always_fits():
    edge = 123_457
    found = refine(100_000, -1, lambda number: number >= edge, digits=3)
    assert edge <= found <= edge * 1.001
