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
    mean, variance = posterior(noisy, size, noise)
    errors = [((x - truth) ** 2).mean() for x in (mean, np.maximum(noisy, 0), size)]
    assert errors[0] < 0.7 * min(errors[1:])
    assert 0.4 < variance.mean() / errors[0] < 1.6  # 0.93, give or take 0.06: a few large cells decide
    misled, _ = posterior(noisy, size[::-1].copy(), noise)
    assert ((misled - truth) ** 2).mean() > 1.3 * errors[0]
