"""The largest number that fits is found, with few questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.integers import largest


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
