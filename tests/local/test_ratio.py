"""Likelihood ratios: never above e^epsilon, and refused where they contradict it."""

from fractions import Fraction

import pytest

from discreet.core.exact import exp_down
from discreet.errors import InputError
from discreet.local import GRR, SUE


def test_a_ratio_must_agree_with_epsilon():
    assert GRR(2, 1, ratio=2).ratio == 2
    with pytest.raises(InputError, match="e\\^epsilon"):
        GRR(2, 1, ratio=3)
    for wrong in (1, Fraction(1, 2), -1, 10**20):
        with pytest.raises(InputError):
            GRR(2, ratio=wrong)
    with pytest.raises(InputError):
        GRR(2)


def test_ratios_stay_below_e_to_the_epsilon():
    for epsilon in (Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(32)):
        assert GRR(3, epsilon).ratio <= exp_down(epsilon)
        assert SUE(3, epsilon).ratio <= exp_down(epsilon)
