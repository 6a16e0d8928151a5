"""Axes: values lie where their numbers say, ticks are round, and numbers are written so that they can be read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.show import Scale, brief, compact
from discreet.show.scale import finite, informative, round_up, ticks

FINITE = st.floats(-1e12, 1e12)


@given(FINITE, FINITE, FINITE)
def test_a_larger_value_never_lies_to_the_left(low, high, value):
    if low >= high:
        return
    scale = Scale(low, high)
    assert scale.at(low) == 0
    assert scale.at(high) == pytest.approx(1)
    assert 0 <= scale.at(value) <= 1
    assert scale.at(value) <= scale.at(max(value, high))


def test_on_a_logarithmic_axis_equal_ratios_are_equally_far():
    scale = Scale(1, 10_000, log=True)
    assert [scale.at(value) for value in (1, 10, 100, 1000, 10_000)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert scale.ticks() == [1, 10, 100, 1000, 10_000]
    assert Scale(0.3, 4, log=True).ticks() == [0.5, 1, 2]
    assert len(Scale(1e-9, 1e9, log=True).ticks()) <= 7


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (0, math.inf), (math.nan, 1)])
def test_an_axis_has_two_finite_ends_in_order(ends):
    with pytest.raises(InputError, match="scale"):
        Scale(*ends)


def test_a_logarithmic_axis_begins_above_zero_and_nothing_undefined_is_drawn():
    with pytest.raises(InputError, match="more than zero"):
        Scale(0, 1, log=True)
    with pytest.raises(InputError, match="a number"):
        Scale(0, 1).at(math.nan)


def test_an_axis_around_values_holds_them_all():
    for values in ([1, 2, 3], [-5, 5], [7], [0], [], [math.inf, 2]):
        scale = Scale.around(values, zero=True)
        assert scale.low <= min([0, *(value for value in values if math.isfinite(value))])
        assert scale.high >= max([0, *(value for value in values if math.isfinite(value))])
    assert Scale.around([0.1, 10], log=True).low > 0
    assert Scale.around([3], log=True).high > 3


def test_ticks_are_round_few_and_on_the_axis():
    assert [round_up(x) for x in (0.3, 1, 1.01, 99, 100, float("inf"), -1)] == [0.5, 1, 2, 100, 100, 1, 1]
    for low, high in ((0, 1), (-7, 13), (0, 1e9), (-1e-3, 1e-3), (5, 5), (0, 1e-30)):
        found = ticks(low, high)
        assert 1 <= len(found) <= 7
        assert all(low <= value <= high for value in found)
    assert ticks(0, 0.3) == pytest.approx([0, 0.1, 0.2, 0.3])  # the last one is not lost to rounding


def test_numbers_are_written_to_be_read():
    assert brief(float("nan")) == "none"
    assert compact(999) == "999"
    assert compact(25_000) == "25k"
    assert compact(-0.5) == "-0.5"
    assert [finite(value) for value in (1, 2.5, None, math.inf, True, "2024-01-01")] == [True, True, *[False] * 4]


def test_what_is_many_times_wider_than_the_rest_decides_no_axis():
    tight = [(value, value - 1, value + 1) for value in range(10, 20)]
    assert max(informative([*tight, (500, -5000, 5000)])) == 20
    assert max(informative([*tight, (50, 48, 52)])) == 52
    assert informative([(1, None, None), (None, 0, 9)]) == [1.0]
    assert sorted(informative([(5, float("-inf"), float("inf"))])) == [5.0]
