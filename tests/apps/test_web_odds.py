"""What pages say of odds is true, and no looser than it must be."""

import math
import re

import numpy as np
import pytest

from discreet import Budget
from discreet.core.loss import Composed, GaussianNoise, LaplaceNoise, Pure

pytest.importorskip("fastapi")

from discreet.apps.web.odds import lifetime, meaning


def said(text):
    """The first percentage of a sentence, after "at most" or "no more than"."""
    return float(re.search(r"(?:at most|no more than) ([\d.]+)%", text)[1])


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "0.5", "1", "3", "8"])
def test_pure_odds_are_those_of_bayes_rounded_up(epsilon):
    true = 100 / (1 + math.exp(-float(epsilon)))
    for text in (meaning(Pure(epsilon)), lifetime(Budget(epsilon))):
        assert true <= said(text) <= true + 0.1
    down = float(re.search(r"down to ([\d.]+)%", meaning(Pure(epsilon)))[1])
    assert 100 - true - 0.1 <= down <= 100 - true


def test_noise_that_is_pure_together_is_said_so():
    both = Composed((LaplaceNoise(10, 1), LaplaceNoise(20, 2)))  # 0.1 and 0.1
    assert said(meaning(both)) == said(meaning(Pure("0.2")))
    assert said(meaning(both)) > said(meaning(Pure("0.1")))


def guessed(sigma, shift):
    """How often the best guess between two neighbouring counts is right, after discrete Gaussian noise."""
    wide = np.arange(-40 * sigma, 40 * sigma + shift + 1)
    one = np.exp(-(wide**2) / (2 * sigma**2))
    other = np.exp(-((wide - shift) ** 2) / (2 * sigma**2))
    return 100 * np.maximum(one / one.sum(), other / other.sum()).sum() / 2


@pytest.mark.parametrize(("sigma", "shift"), [(1, 1), (4, 1), (10, 1), (10, 5)])
def test_gaussian_noise_is_said_by_the_best_guess(sigma, shift):
    text = meaning(GaussianNoise(sigma, shift))
    assert "is right at most" in text
    true = guessed(sigma, shift)
    assert true <= said(text) <= true + 0.2
    assert said(meaning(GaussianNoise(2 * sigma, shift))) < true  # a sentence about less noise would be caught


def test_a_lifetime_is_said_for_every_kind_of_budget():
    assert "epsilon = 1 with delta = 1e-6" in lifetime(Budget(1, delta="1e-6"))
    assert said(lifetime(Budget(1, delta="1e-6"))) >= said(lifetime(Budget(1)))
    rho = lifetime(Budget(rho="0.1"))
    assert "rho = 0.1 (epsilon = " in rho
    sigma = math.sqrt(1 / 0.2)  # Gaussian noise that costs rho = 0.1 whole
    assert said(rho) >= 50 * (1 + math.erf(1 / (2 * math.sqrt(2) * sigma)))
