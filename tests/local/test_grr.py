"""Randomized response: the survey of two coins, and coins that are none."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting.posterior import after
from discreet.errors import InputError
from discreet.local import (
    GRR,
)


def test_the_coin_survey():
    """Two coins: ln 3; three in four say yes who mean it; a prior of 2% becomes 5.8%."""
    survey = GRR.coin()
    assert survey.law(1) == {0: Fraction(1, 4), 1: Fraction(3, 4)}
    assert 0 <= survey.epsilon - Fraction(math.log(3)) < Fraction(1, 10**14)
    assert round(float(after(0.02, if_true=survey.hit, if_false=survey.miss)), 3) == 0.058
    for q in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        assert GRR.coin(q).ratio == (1 + q) / (1 - q)
    binary = GRR(2, epsilon=1)
    said = np.array([0] * 60 + [1] * 40)
    odds = math.e
    expected = (0.4 - 1 / (1 + odds)) * (odds + 1) / (odds - 1)
    assert binary.estimate(said).frequencies[1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("wrong", [0, 1, -1, 2, "x", None])
def test_coins_that_are_not_coins_are_refused(wrong):
    with pytest.raises(InputError):
        GRR.coin(wrong)
    with pytest.raises(InputError):
        GRR.truthful(wrong, 3)
