"""Randomized response: exact probabilities, unbiased estimates."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from chance import at_most, fits, mean_fits
from discreet.core.loss import Pure
from discreet.errors import InputError
from discreet.mechanisms import RandomizedResponse
from mechanisms.outputs import farthest, lookup

N = 100_000


def law(mechanism, value):
    truth = mechanism.truthful
    out = np.full(mechanism.categories, (1 - truth) / (mechanism.categories - 1))
    out[value] = truth
    return out


@pytest.mark.parametrize("categories", [2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_claimed_epsilon_holds_and_is_attained(categories, epsilon):
    mechanism = RandomizedResponse(categories, epsilon)
    assert farthest(law(mechanism, 0), law(mechanism, 1)) == pytest.approx(epsilon, rel=1e-9)
    assert mechanism.loss() == Pure(epsilon)


def test_the_survey_with_a_coin_costs_ln_3():
    survey = RandomizedResponse.coin()
    assert survey.truth == Fraction(3, 4)
    assert 0 <= survey.epsilon - Fraction(math.log(3)) < Fraction(1, 10**14)
    for q in (Fraction(1, 10), Fraction(9, 10)):
        epsilon = RandomizedResponse.coin(q).epsilon
        assert float(epsilon) == pytest.approx(math.log((1 + q) / (1 - q)), rel=1e-12)
    assert RandomizedResponse.coin(Fraction(1, 2), categories=5).truth == Fraction(6, 10)


def test_rational_epsilon_is_rounded_up():
    for truth in (Fraction(3, 4), Fraction(2, 3), Fraction(999, 1000)):
        with mpmath.workdps(60):
            exact = mpmath.log(mpmath.mpf(truth.numerator) / (truth.denominator - truth.numerator))
            epsilon = RandomizedResponse(truth=truth).epsilon
            assert 0 <= mpmath.mpf(epsilon.numerator) / epsilon.denominator - exact < 1e-14


MECHANISMS = [RandomizedResponse(2, 1), RandomizedResponse(5, 0.5), RandomizedResponse.coin()]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_reports_follow_the_law(mechanism):
    for value in (0, mechanism.categories - 1):
        assert fits(mechanism.release(np.full(N, value)), lookup(law(mechanism, value)))


def test_few_reports_follow_the_law_too():
    mechanism = RandomizedResponse(3, 1)  # short lists take another path through the coin
    reports = np.concatenate([mechanism.release([1] * 5) for _ in range(4000)])
    assert fits(reports, lookup(law(mechanism, 1)))


def test_broken_reports_are_caught():
    mechanism = RandomizedResponse(5, 0.5)
    assert not fits(RandomizedResponse(5, 1).release(np.ones(N, dtype=int)), lookup(law(mechanism, 1)))
    skips = mechanism.release(np.ones(N, dtype=int))
    skips[::20] = 1
    assert not fits(skips, lookup(law(mechanism, 1)))
    assert farthest(law(RandomizedResponse(5, 1), 0), law(RandomizedResponse(5, 1), 1)) > 0.99


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_estimates_are_unbiased_and_cover(mechanism):
    trials, n = 800, 500
    values = np.arange(n) % 7 % mechanism.categories
    truth = np.bincount(values, minlength=mechanism.categories)
    estimates = np.array([mechanism.estimate(mechanism.release(values)) for _ in range(trials)])
    for category in range(mechanism.categories):
        assert mean_fits(estimates[:, category], truth[category], mechanism.variance(n))
        assert not mean_fits(estimates[:, category], truth[category] + n / 5, mechanism.variance(n))
    assert estimates.sum(axis=1) == pytest.approx(n)
    assert np.var(estimates[:, 0]) < 1.5 * mechanism.variance(n)
    width = mechanism.error(0.9, k=mechanism.categories, n=n)
    missed = np.abs(estimates - truth).max(axis=1)
    assert at_most((missed > width).sum(), trials, 0.1)
    assert not at_most((missed > width / 4).sum(), trials, 0.1)


def test_estimate_of_nothing_is_zero():
    assert RandomizedResponse(3, 1).estimate([]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("values", [[2], [-1], [0.5]])
def test_unknown_categories_are_refused(values):
    with pytest.raises(InputError, match="values"):
        RandomizedResponse(2, 1).release(values)
    with pytest.raises(InputError, match="reports"):
        RandomizedResponse(2, 1).estimate(values)


def test_odd_parameters():
    for bad in (Fraction(1, 2), 1, 0):
        with pytest.raises(InputError, match="truth"):
            RandomizedResponse(truth=bad)
    with pytest.raises(InputError, match="epsilon"):
        RandomizedResponse(2)
    with pytest.raises(InputError, match="epsilon"):
        RandomizedResponse(2, 1, truth=0.75)
    with pytest.raises(InputError, match="q"):
        RandomizedResponse.coin(1)
    certain = RandomizedResponse(2, 5000)
    assert certain.release([0, 1, 1]).tolist() == [0, 1, 1]
    assert certain.estimate([0, 1, 1]).tolist() == [1, 2]
