"""Discrete Gaussian noise on integers."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, gaussian_pmf, mean_fits
from discreet.core.loss import GaussianNoise, Repeated
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError
from discreet.mechanisms import Gaussian
from mechanisms.outputs import hockey_stick

N = 200_000


def test_sigma_is_the_formula_rounded_up():
    assert Gaussian.for_rho(Fraction(1, 2)).sigma == 1
    for rho, sensitivity in ((0.3, Sensitivity(3, 7)), (1e-6, Sensitivity(1))):
        sigma = Gaussian.for_rho(rho, sensitivity).sigma
        wanted = Fraction(sensitivity.l2_squared) / (2 * Fraction(str(rho)))
        assert wanted <= sigma**2 < wanted * (1 + Fraction(1, 10**12))


def test_loss_states_the_law():
    assert Gaussian(3).loss(2) == GaussianNoise(3, 2)
    assert Gaussian(3).loss(Sensitivity(each=2, outputs=4)) == Repeated(GaussianNoise(3, 2), 4)


def renyi(sigma, shift, alpha):
    """D_alpha of the law and its shift, summed over the integers."""
    x = np.arange(-int(45 * sigma) - 60, int(45 * sigma) + 61)
    p, q = gaussian_pmf(sigma)(x), gaussian_pmf(sigma)(x - shift)
    seen = (p > 1e-290) & (q > 1e-290)
    terms = alpha * np.log(p[seen]) + (1 - alpha) * np.log(q[seen])
    return math.log(np.exp(terms).sum()) / (alpha - 1)


@pytest.mark.parametrize("rho", [0.01, 0.5, 2])
@pytest.mark.parametrize("each", [1, 3])
def test_claimed_rho_holds_and_is_attained(rho, each):
    sigma = float(Gaussian.for_rho(rho, each).sigma)
    shown = [renyi(sigma, each, alpha) / alpha for alpha in (1.001, 1.5, 2, 3, 5)]
    assert max(shown) <= rho * (1 + 1e-8)
    assert max(shown) >= rho * (1 - 1e-6)
    assert renyi(sigma / 2, each, 2) / 2 > 2 * rho  # half the noise is caught


def test_a_larger_shift_reveals_more():
    law, x = gaussian_pmf(4), np.arange(-300, 301)
    for epsilon in (0, 0.1, 1, 3):
        shown = [hockey_stick(law(x - shift), law(x), epsilon) for shift in range(12)]
        assert all(a <= b + 1e-15 for a, b in itertools.pairwise(shown))


@pytest.mark.parametrize("sigma", [Fraction(1, 2), 1, 10, 500])
def test_noise_follows_the_law(sigma):
    assert fits(Gaussian(sigma).release(np.full(N, -3)) + 3, gaussian_pmf(sigma))


def test_broken_noise_is_caught():
    assert not fits(Gaussian(5).release(np.zeros(N, dtype=int)), gaussian_pmf(10))  # half the noise
    skips = Gaussian(10).release(np.zeros(5 * N, dtype=int))
    skips[::100] = 0
    assert not fits(skips, gaussian_pmf(10))


@pytest.mark.parametrize("sigma", [0.5, 2, 100])
def test_variance(sigma):
    noise = Gaussian(sigma).release(np.zeros(N, dtype=int))
    assert mean_fits(noise.astype(float) ** 2, Gaussian(sigma).variance, 3 * max(sigma, 1) ** 4)
    assert Gaussian(sigma).variance <= sigma**2 * (1 + 1e-12)  # a sum of floats


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("k", [1, 30])
def test_error_covers_and_is_tight(confidence, k):
    sigma, trials = 10, 5000
    width = Gaussian(sigma).error(confidence, k)
    noise = np.abs(Gaussian(sigma).release(np.zeros(k * trials, dtype=int))).reshape(trials, k).max(axis=1)
    assert at_most((noise > width).sum(), trials, 1 - confidence)
    x = np.arange(-(width - 1), width)
    assert gaussian_pmf(sigma)(x).sum() ** k < confidence  # one less would not do


def test_floats_are_refused():
    with pytest.raises(InputError, match="Lattice"):
        Gaussian(1).release(np.array([1.5]))
