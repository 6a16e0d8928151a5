"""Discrete Laplace noise on integers: the theorems people learn, as tests."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, laplace_pmf, mean_fits
from discreet.core.loss import LaplaceNoise, Repeated
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from mechanisms.outputs import farthest, hockey_stick

N = 200_000


def test_scale_is_exactly_l1_over_epsilon():
    assert Laplace.for_epsilon(0.1).scale == 10
    assert Laplace.for_epsilon("1/3", Sensitivity(each=2, outputs=5)).scale == 30


def test_loss_states_the_law():
    assert Laplace(3).loss(2) == LaplaceNoise(3, 2)
    assert Laplace(3).loss(Sensitivity(each=2, outputs=4)) == Repeated(LaplaceNoise(3, 2), 4)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("each", [1, 4])
def test_claimed_epsilon_holds_and_is_attained(epsilon, each):
    law = laplace_pmf(Laplace.for_epsilon(epsilon, each).scale)
    x = np.arange(-200, 201)
    assert farthest(law(x), law(x - each)) == pytest.approx(epsilon, rel=1e-9)
    half = laplace_pmf(Laplace.for_epsilon(epsilon, each).scale / 2)
    assert farthest(half(x), half(x - each)) > 1.9 * epsilon  # half the noise is caught


def test_a_larger_shift_reveals_more():
    law, x = laplace_pmf(5), np.arange(-400, 401)
    for epsilon in (0, 0.1, 0.5, 1):
        shown = [hockey_stick(law(x - shift), law(x), epsilon) for shift in range(12)]
        assert all(a <= b + 1e-15 for a, b in itertools.pairwise(shown))


def honest(scale, n):
    return Laplace(scale).release(np.full(n, 7)) - 7


def half_the_noise(scale, n):
    return Laplace(Fraction(scale) / 2).release(np.full(n, 7)) - 7


def forgets_one_in_a_hundred(scale, n):
    noise = Laplace(scale).release(np.zeros(n, dtype=int))
    noise[::100] = 0
    return noise


def two_per_cent_off(scale, n):
    return Laplace(Fraction(scale) * 98 / 100).release(np.zeros(n, dtype=int))


@pytest.mark.parametrize("scale", [Fraction(1, 2), 1, 10, 300])
def test_noise_follows_the_law(scale):
    assert fits(honest(scale, N), laplace_pmf(scale))


@pytest.mark.parametrize("mutant", [half_the_noise, forgets_one_in_a_hundred])
def test_broken_noise_is_caught(mutant):
    assert not fits(mutant(10, 5 * N), laplace_pmf(10))


def test_a_scale_off_by_two_per_cent_is_caught():
    assert not fits(two_per_cent_off(10, 20 * N), laplace_pmf(10))


@pytest.mark.parametrize(("k", "sensitivity", "epsilon"), [(1, 1, 1), (10, 2, 0.5), (100, 1, 0.01)])
def test_expected_l1_error(k, sensitivity, epsilon):
    mechanism = Laplace.for_epsilon(epsilon, sensitivity)
    x = np.arange(1, 100_000)
    exact = 2 * k * (x * laplace_pmf(mechanism.scale)(x)).sum()
    assert mechanism.expected_l1(k) == pytest.approx(exact, rel=1e-9)
    noise = np.abs(mechanism.release(np.zeros(N, dtype=int)))
    assert mean_fits(noise, exact / k, mechanism.variance)
    assert not mean_fits(noise // 2, exact / k, mechanism.variance)


def test_expected_l1_approaches_the_textbook():
    gaps = [1 - Laplace(scale).expected_l1() / scale for scale in (1, 10, 100, 1000)]
    assert all(0 < b < a / 50 for a, b in itertools.pairwise(gaps))  # k s/epsilon, from below, at rate 1/b^2


@pytest.mark.parametrize("scale", [1, 10, 1000])
def test_mean_squared_error_is_below_the_textbook(scale):
    mechanism = Laplace(scale)
    assert mechanism.variance < 2 * scale**2
    assert mechanism.variance == pytest.approx(2 * scale**2, abs=0.2)
    fourth = 24.5 * max(scale, 1) ** 4
    assert mean_fits(mechanism.release(np.zeros(N, dtype=int)) ** 2.0, mechanism.variance, fourth)


@pytest.mark.parametrize(("k", "beta"), [(1, 0.5), (20, 0.1), (100, 0.01)])
def test_largest_error_theorem(k, beta):
    scale, trials = 10, 4000
    noise = np.abs(Laplace(scale).release(np.zeros(k * trials, dtype=int))).reshape(trials, k).max(axis=1)
    bound = scale * math.log(k / beta)
    assert at_most((noise > bound).sum(), trials, beta)
    assert not at_most((noise * 4 > bound).sum(), trials, beta)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("k", [1, 30])
def test_error_covers_and_is_tight(confidence, k):
    scale, trials = 10, 5000
    width = Laplace(scale).error(confidence, k)
    noise = np.abs(Laplace(scale).release(np.zeros(k * trials, dtype=int))).reshape(trials, k).max(axis=1)
    assert at_most((noise > width).sum(), trials, 1 - confidence)
    x = np.arange(-(width - 1), width)
    assert laplace_pmf(scale)(x).sum() ** k < confidence  # one less would not do


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0],
        np.array([1.5]),
        ["1"],
        [True],
        np.array([True]),
        [[1]],
        3,
        [2**70],
        [2**63],
        [2**62 + 1],
        [[1], [2, 3]],
    ],
)
def test_what_is_not_a_list_of_integers_is_refused(values):
    with pytest.raises(InputError, match=r"^`values"):
        Laplace(1).release(values)


def test_floats_are_pointed_to_the_lattice_without_showing_them():
    with pytest.raises(InputError, match="Lattice") as caught:
        Laplace(1).release([123.456])
    assert "123" not in str(caught.value)


def test_unsigned_and_edge_values_do_not_wrap():
    assert abs(int(Laplace(1).release(np.array([2**62], dtype=np.uint64))[0]) - 2**62) < 1000
    assert abs(int(Laplace(2**40).release([-(2**62)])[0]) + 2**62) < 2**50
    with pytest.raises(InputError, match="values"):
        Laplace(1).release(np.array([2**64 - 1], dtype=np.uint64))
