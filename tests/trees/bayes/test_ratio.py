"""Totals as ratios of a guess: narrow spreads are found under wide noise, and far-off numbers break nothing."""

import numpy as np
import pytest

from discreet.trees.bayes.ratio import ratio_moments


@pytest.mark.statistical
def test_a_narrow_spread_is_found_where_noise_is_wider_than_totals():
    numbers = np.random.default_rng(4)
    guess = numbers.gamma(1.0, 40.0, 6000) + 1
    true = guess * numbers.lognormal(0, 0.3, 6000)
    noisy = true + numbers.normal(0, 100, 6000)
    mean, variance = ratio_moments(noisy, np.full(6000, 1e4), guess)
    assert np.abs(mean - true).mean() < 1.15 * np.abs(guess * 1.046 - true).mean()
    assert (variance >= 0).all()


def test_little_noise_leaves_the_noisy_totals_as_they_are():
    numbers = np.random.default_rng(5)
    true = np.round(numbers.gamma(1.0, 40.0, 2000))
    noisy = true + numbers.normal(0, 0.5, 2000)
    mean, _ = ratio_moments(noisy, np.full(2000, 0.25), np.full(2000, 40.0))
    assert np.abs(mean - true).mean() < 0.6


@pytest.mark.parametrize("noise", [1e-6, 1.0, 1e12])
def test_numbers_far_from_every_guess_stay_finite(noise):
    noisy = np.array([-1e9, -5.0, 0.0, 3.0, 1e9, 1e15])
    mean, variance = ratio_moments(noisy, np.full(6, noise), np.array([0.0, 0.0, 1e-9, 5.0, 1.0, 1e12]))
    assert np.isfinite(mean).all()
    assert np.isfinite(variance).all()
    assert (mean >= -1e-6).all()
