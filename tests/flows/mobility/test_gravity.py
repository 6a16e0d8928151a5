"""What the size of a cell says makes noisy cells better."""

import numpy as np
import pytest

from discreet.flows.mobility.gravity import posterior
from discreet.mechanisms import Gaussian, Laplace


@pytest.mark.parametrize("noise", [Laplace(5), Gaussian(7)], ids=["laplace", "gaussian"])
def test_what_a_size_says_makes_noisy_cells_better(noise):
    chance = np.random.default_rng(4)
    size = chance.lognormal(0, 1.5, 5000)
    truth = chance.poisson(size * chance.gamma(2, 0.5, 5000)).astype(np.int64)
    noisy = noise.release(truth)
    seen = posterior(noisy, size, noise)
    mean, variance = seen.mean, seen.variance
    errors = [((x - truth) ** 2).mean() for x in (mean, np.maximum(noisy, 0), size)]
    assert errors[0] < 0.7 * min(errors[1:])
    assert 0.4 < variance.mean() / errors[0] < 1.6  # 0.93, give or take 0.06: a few large cells decide
    misled = posterior(noisy, size[::-1].copy(), noise).mean
    assert ((misled - truth) ** 2).mean() > 1.3 * errors[0]


@pytest.mark.parametrize("noise", [Laplace(5), Gaussian(7)], ids=["laplace", "gaussian"])
def test_an_atom_at_zero_tells_empty_cells_from_large_ones(noise):
    chance = np.random.default_rng(7)
    size = np.full(4000, 300.0)
    truth = (chance.random(4000) < 0.5) * np.round(chance.lognormal(5, 2, 4000)).astype(np.int64)
    noisy = noise.release(truth)
    plain, seen = posterior(noisy, size, noise), posterior(noisy, size, noise, atom=True)
    errors = [np.abs(x - truth).mean() for x in (seen.median, plain.mean, np.maximum(noisy, 0))]
    assert errors[0] < 0.9 * min(errors[1:])  # 3.0, 5.3 and 3.6 with Laplace noise
    assert np.mean(seen.median[truth == 0] < 1) > 0.7
    assert np.abs(seen.mean - truth).mean() < min(errors[1:])


def test_a_count_beyond_every_factor_is_what_was_measured():
    far = np.array([10**9, 5, -3, 40])
    seen = posterior(far, np.full(4, 0.1), Laplace(2), atom=True)
    assert seen.median[0] == seen.mean[0] == 10**9
    assert np.isfinite(seen.variance).all()
    assert seen.median.min() >= 0
