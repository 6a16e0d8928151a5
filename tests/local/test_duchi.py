"""One bit about a number: its odds run from one end of the range to the other."""

from fractions import Fraction

import pytest

from discreet.errors import InputError
from discreet.local import Duchi


def test_the_odds_are_the_ratio_at_the_ends_and_even_in_the_middle():
    pay = Duchi(1, 0, 100, steps=50)
    low, middle, high = (pay.law(value) for value in (0, 50, 100))
    assert low[0] == low[1] * pay.ratio
    assert high[1] == high[0] * pay.ratio
    assert middle == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert pay.report_bits == 1


def test_numbers_at_the_ends_vary_least():
    assert Duchi(1).variance(10, 1) < Duchi(1).variance(10, 0)
    assert Duchi(1).variance(10) == Duchi(1).variance(10, 0)


def test_the_mean_of_all_ones_is_the_upper_end_of_what_scores_reach():
    pay = Duchi(1, 0, 100)
    scale = float((pay.ratio + 1) / (pay.ratio - 1))
    assert pay.estimate([1] * 10).mean == pytest.approx(50 + 50 * scale)
    assert pay.estimate([0, 1] * 5).mean == pytest.approx(50)


def test_a_ratio_too_long_to_draw_from_is_refused():
    with pytest.raises(InputError):
        Duchi(ratio=Fraction(10**30 + 1, 10**30 - 1))
