"""The exact curve of one noise: never below the truth, and tight."""

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import delta
from discreet.core.loss import (
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RealGaussianNoise,
)
from divergences import hockey_stick, laplace_pair, mp, real, shifts


def gaussian_pair(sigma, shift):
    reach = int(14 * sigma) + shift + 2
    weight = {x: mp.exp(-(x**2) / (2 * real(sigma) ** 2)) for x in range(-2 * reach, 2 * reach + 1)}
    total = mp.fsum(weight.values())
    return [(weight[x - shift] / total, weight[x] / total) for x in range(-reach, reach + shift + 1)]


@settings(max_examples=30, deadline=None)
@given(st.fractions("0.3", 20, max_denominator=50), st.integers(1, 6), st.fractions(0, 6, max_denominator=20))
def test_gaussian_delta_is_the_exact_one_from_above(sigma, shift, epsilon):
    true = hockey_stick(gaussian_pair(sigma, shift), epsilon)
    found = real(delta(GaussianNoise(sigma, shift), epsilon))
    assert true * (1 - mp.mpf(10) ** -30) <= found + mp.mpf(10) ** -29
    assert found <= true + mp.mpf(10) ** -10


@settings(max_examples=30, deadline=None)
@given(st.fractions("0.3", 8, max_denominator=50), shifts, st.fractions(0, 6, max_denominator=20))
def test_laplace_delta_is_the_exact_one_from_above(scale, shift, epsilon):
    true = hockey_stick(laplace_pair(scale, shift), epsilon)
    found = real(delta(LaplaceNoise(scale, shift), epsilon))
    assert true * (1 - mp.mpf(10) ** -30) <= found + mp.mpf(10) ** -29
    assert found <= true + mp.mpf(10) ** -28


def test_half_the_shift_would_be_caught():
    true = hockey_stick(gaussian_pair(Pure(4).epsilon, 2), Pure(1).epsilon)
    assert real(delta(GaussianNoise(4, 1), 1)) < true <= real(delta(GaussianNoise(4, 2), 1))


@given(st.fractions("0.3", 50, max_denominator=50), st.fractions(0, 8, max_denominator=20))
def test_real_gaussian_delta_is_the_analytic_one_from_above(multiplier, epsilon):
    a, e = 1 / real(multiplier), real(epsilon)
    true = mp.ncdf(a / 2 - e / a) - mp.exp(e) * mp.ncdf(-a / 2 - e / a)
    found = real(delta(RealGaussianNoise(multiplier), epsilon))
    assert true <= found <= true + mp.mpf(10) ** -10
