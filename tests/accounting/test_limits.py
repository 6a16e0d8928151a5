"""What accountants accept: arithmetic out of reach is an input error, and curves have a sensible number of points."""

import math

import pytest

from discreet.accounting.limits import in_range, read_points
from discreet.errors import InputError


@in_range
def growth(rate: float) -> float:
    """e to the rate."""
    return math.exp(rate)


@pytest.mark.parametrize("problem", [OverflowError, ZeroDivisionError, FloatingPointError])
def test_arithmetic_out_of_reach_names_the_function_and_hides_where(problem):
    @in_range
    def fails() -> None:
        raise problem

    with pytest.raises(InputError, match="`fails` must be called with numbers that floating point can hold") as caught:
        fails()
    assert caught.value.__suppress_context__


def test_what_is_in_reach_is_left_alone():
    assert growth(1.0) == math.e
    assert growth.__name__ == "growth"
    with pytest.raises(InputError, match="growth"):
        growth(1e6)
    with pytest.raises(TypeError):
        growth("1")


@pytest.mark.parametrize("points", [1, 0, -5, 2.5, 10**6 + 1])
def test_a_curve_has_two_points_at_least_and_a_million_at_most(points):
    assert [read_points(2), read_points(10**6)] == [2, 10**6]
    with pytest.raises(InputError, match="from 2 to 1,000,000"):
        read_points(points)
