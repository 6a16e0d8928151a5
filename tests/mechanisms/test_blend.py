"""Bounds on weighted sums of noise: they cover, they are not loose, and bounds of a smaller law are caught."""

from fractions import Fraction

import numpy as np
import pytest

from chance import at_most
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.blend import half_width, one_sided

NOISES = [Laplace(20), Laplace(1), Laplace(Fraction(1, 8)), Gaussian(20), Gaussian(1), Gaussian(Fraction(1, 4))]
WEIGHTS, COUNTS = np.array([1.0, 0.5, 0.3]), np.array([1.0, 2.0, 4.0])
N = 100_000


def sums(noise, n=N):
    drawn = noise.release(np.zeros(7 * n, dtype=int)).reshape(n, 7)
    return drawn @ np.repeat(WEIGHTS, COUNTS.astype(int))


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("miss", [0.3, 0.05, 0.001])
def test_half_width_covers_the_exact_law_closely(noise, miss):
    width, drawn = half_width(noise, WEIGHTS, COUNTS, miss), np.abs(sums(noise))
    assert at_most((drawn > width).sum(), N, miss)
    deviation = float(np.sqrt(noise.variance * (COUNTS * WEIGHTS**2).sum()))
    if miss > 0.01 and (drawn == 0).mean() < 0.5:  # a law that is nearly all one point has no width to be close to
        assert not at_most((drawn > width - 0.15 * deviation - 0.11).sum(), N, miss * 0.7)


@pytest.mark.parametrize("noise", [Laplace(20), Gaussian(20)], ids=repr)
def test_the_width_of_half_the_noise_is_caught(noise):
    half = Laplace(10) if isinstance(noise, Laplace) else Gaussian(10)
    assert not at_most((np.abs(sums(noise)) > half_width(half, WEIGHTS, COUNTS, 0.05)).sum(), N, 0.05)
    energy = np.array([(COUNTS * WEIGHTS**2).sum()])
    assert not at_most((sums(noise) > one_sided(half, energy, 1.0, 0.05)[0]).sum(), N, 0.05)


@pytest.mark.parametrize("noise", [*NOISES, Laplace(1000), Gaussian(1000)], ids=repr)
@pytest.mark.parametrize("miss", [0.2, 0.025, 1e-4])
def test_one_sided_covers_whatever_the_weights(noise, miss):
    energy = np.array([1.0, (COUNTS * WEIGHTS**2).sum()])
    single, several = one_sided(noise, energy, 1.0, miss)
    assert at_most((noise.release(np.zeros(N, dtype=int)) > single).sum(), N, miss)
    assert at_most((sums(noise) > several).sum(), N, miss)
    assert several <= 1.35 * half_width(noise, WEIGHTS, COUNTS, 2 * miss) or noise.variance < 300 or miss == 0.2


def test_one_draw_agrees_with_the_exact_half_width():
    one = np.ones(1)
    for noise in (Laplace(50), Gaussian(50)):
        assert noise.error(0.95) <= half_width(noise, one, one, 0.05) + 1 <= noise.error(0.95) * 1.03 + 1


def test_rare_misses_are_left_to_a_bound_that_always_holds():
    for noise in NOISES:
        widths = [half_width(noise, WEIGHTS, COUNTS, miss) for miss in (1e-3, 1e-7, 1e-9, 1e-30)]
        assert widths == sorted(widths)


def test_many_energies_are_rounded_up_only():
    energy = np.geomspace(0.01, 100, 5000)
    for noise in (Laplace(20), Gaussian(20)):
        together = one_sided(noise, energy, 1.0, 0.05)
        for i in range(0, 5000, 700):
            alone = one_sided(noise, energy[i : i + 1], 1.0, 0.05)[0]
            assert alone * (1 - 1e-9) <= together[i] <= alone * 1.04
