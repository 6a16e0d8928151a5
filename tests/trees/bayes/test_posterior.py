"""Posterior means are as good as for those who know the prior, and worse under a wrong law."""

from __future__ import annotations

import numpy as np
import pytest
from noisy_sizes import NOISE, SHARES, SIZES
from scipy import stats

import chance
from discreet.mechanisms import Laplace
from discreet.trees.bayes.posterior import posterior_moments


def squared_errors(true, noisy, variance, noise):
    rough = np.full((len(noisy), 1), 16.0)
    mean, spread = posterior_moments(noisy[:, None].astype(float), np.full(len(noisy), variance), noise, rough)
    assert (mean >= 0).all()
    return (mean[:, 0] - true) ** 2, spread[:, 0]


def test_expectations_are_as_good_as_those_who_know_the_prior_have(sample):
    true, noisy = sample
    ours, spread = squared_errors(true, noisy, NOISE.variance, NOISE)
    chances = SHARES * chance.laplace_pmf(5)(noisy[:, None] - SIZES)
    oracle = (chances @ SIZES / chances.sum(axis=1) - true) ** 2
    assert oracle.mean() <= ours.mean() < 1.1 * oracle.mean()
    assert ours.mean() < 0.6 * NOISE.variance
    # The stated variance is what the errors are, on average.
    assert spread.mean() == pytest.approx(ours.mean(), rel=0.1)


def test_expectations_under_a_wrong_variance_are_worse(sample):
    true, noisy = sample
    right, _ = squared_errors(true, noisy, NOISE.variance, NOISE)
    wrong, spread = squared_errors(true, noisy, 9 * NOISE.variance, NOISE)
    assert stats.ttest_1samp(wrong - right, 0, alternative="greater").pvalue < chance.LEVEL
    assert spread.mean() != pytest.approx(wrong.mean(), rel=0.1)


def test_counts_that_dwarf_the_noise_are_left_alone():
    numbers = np.random.default_rng(2)
    true = np.rint(np.exp(numbers.normal(14, 1, (500, 3))))
    noisy = true + np.rint(numbers.laplace(0, 10, true.shape))
    mean, spread = posterior_moments(noisy, np.full(500, 200.0), Laplace(10), np.full(true.shape, np.exp(14)))
    assert np.abs(mean - noisy).max() < 15
    assert np.abs(mean - noisy).mean() < 2
    assert spread.mean() == pytest.approx(200, rel=0.1)


def test_the_same_again(sample):
    true, noisy = sample
    once, twice = (squared_errors(true, noisy, NOISE.variance, NOISE) for _ in range(2))
    assert (once[0] == twice[0]).all()
    assert (once[1] == twice[1]).all()


def test_small_counts_that_noise_hides_are_expected_to_be_as_many_as_their_parents_say():
    """Of 4,000 counts of 0.2 on average, under noise of 89: nobody could tell 0.2 from 5 by the noisy counts."""
    random = np.random.default_rng(8)
    true = random.poisson(0.2, (4000, 2))
    noisy = true + np.rint(random.laplace(0, 63, true.shape))
    mean, _ = posterior_moments(noisy, np.full(4000, 2 * 63.0**2), Laplace(63), np.full(true.shape, 0.2))
    assert 0.05 < mean.mean() < 0.6
