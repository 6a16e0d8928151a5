"""Tails are true bounds, half-widths are the smallest that hold."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet import noise
from discreet.errors import InputError
from discreet.noise import spread

mpmath.mp.dps = 40


def laplace_tail(scale, t):
    r = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    return r ** (t + 1) / (1 + r) if t >= 0 else 1 - r ** (-t) / (1 + r)


def gaussian_tail(sigma, t):
    s = mpmath.mpf(sigma.numerator) / sigma.denominator
    reach = int(30 * s) + 10
    total = mpmath.fsum(mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s**2)) for x in range(-reach, reach))
    return mpmath.fsum(mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s**2)) for x in range(t + 1, max(t, 0) + reach)) / total


@pytest.mark.parametrize("scale", [Fraction(1, 20), Fraction(1), Fraction(37, 3), Fraction(10**6)])
@pytest.mark.parametrize("t", [-30, -1, 0, 1, 10, 400])
def test_laplace_tails_are_bounds(scale, t):
    low, high = spread.laplace_above(scale, t)
    assert low <= laplace_tail(scale, t) <= high
    assert high - low <= 3e-11


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(20, 3), Fraction(60)])
@pytest.mark.parametrize("t", [-5, -1, 0, 3, 50, 600])
def test_gaussian_tails_are_bounds(sigma, t):
    low, high = spread.gaussian_above(sigma, t)
    assert low <= gaussian_tail(sigma, t) <= high


@pytest.mark.parametrize("t", [0, 4000, 9999, 10_000, 30_000, 100_000, 300_000])
def test_the_two_ways_of_bounding_gaussian_tails_agree(monkeypatch, t):
    quick = spread.gaussian_above(Fraction(10_000), t)
    monkeypatch.setattr(spread, "_SUMMED", 20_000)
    summed = spread.gaussian_above(Fraction(10_000), t)
    assert quick[0] <= summed[1]
    assert summed[0] <= quick[1]
    assert quick[1] <= summed[1] * (1 + 1e-5) + 1e-290


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("k", [1, 7, 1000])
def test_half_widths_hold_and_one_less_does_not(confidence, k):
    for scale in (Fraction(1, 3), Fraction(10), Fraction(12345, 7)):
        t = spread.laplace_half_width(scale, confidence, k)
        assert (1 - 2 * laplace_tail(scale, t)) ** k >= confidence
        assert t == 0 or (1 - 2 * laplace_tail(scale, t - 1)) ** k < confidence
    for sigma in (Fraction(1, 3), Fraction(10)):
        t = spread.gaussian_half_width(sigma, confidence, k)
        assert (1 - 2 * gaussian_tail(sigma, t)) ** k >= confidence
        assert t == 0 or (1 - 2 * gaussian_tail(sigma, t - 1)) ** k < confidence


def test_large_half_widths_are_found_fast():
    assert spread.gaussian_half_width(Fraction(2**40), 0.95) == pytest.approx(1.959964 * 2**40, rel=1e-6)
    assert spread.laplace_half_width(Fraction(2**40), 0.95) == pytest.approx(math.log(20) * 2**40, rel=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(1), Fraction(10), Fraction(1000)])
def test_variances_match_the_noise(scale):
    count = 400_000
    for draw, variance in ((noise.laplace, spread.laplace_variance), (noise.gaussian, spread.gaussian_variance)):
        squares = draw(scale, count).astype(float) ** 2
        standard_error = squares.std() / count**0.5
        assert abs(squares.mean() - variance(scale)) <= 8 * standard_error + 1e-12
        assert abs(squares.mean() - 1.07 * variance(scale)) > 8 * standard_error or scale < 1


def test_tiny_scales_have_no_variance_to_speak_of():
    assert spread.laplace_variance(Fraction(1, 2000)) == 0.0
    assert spread.gaussian_variance(Fraction(1, 2000)) == 0.0


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan")])
def test_bad_confidence_is_refused(confidence):
    with pytest.raises(InputError, match="confidence"):
        spread.laplace_half_width(Fraction(1), confidence)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_bad_k_is_refused(k):
    with pytest.raises(InputError, match="`k` must be"):
        spread.gaussian_half_width(Fraction(1), 0.95, k)


def test_no_float_slips_below_its_bound():
    """The slack must exceed the rounding of the floats it covers."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        sigma = Fraction(int(rng.integers(1, 400)), int(rng.integers(1, 40)))
        t = int(rng.integers(0, int(8 * sigma) + 2))
        low, high = spread.gaussian_above(sigma, t)
        if high > 1e-200:
            assert low < high


@pytest.mark.parametrize("k", [2, 3, 20])
@pytest.mark.parametrize("size", [Fraction(1, 3), Fraction(2), Fraction(9), Fraction(300)])
def test_a_lead_holds_and_much_less_does_not(size, k):
    """By brute force: the chance that the largest of `k` draws leads one of them by more than t."""
    for found, law in (
        (spread.laplace_lead(size, 0.9, k), lambda x: np.exp(-abs(x) / float(size))),
        (spread.gaussian_lead(size, 0.9, k), lambda x: np.exp(-((x / float(size)) ** 2) / 2)),
    ):
        x = np.arange(-int(40 * size) - 3, int(40 * size) + 4).astype(float)
        masses = law(x) / law(x).sum()
        below = np.append(masses.cumsum(), np.ones(found + 1))

        def chance(t, masses=masses, below=below):
            return float((masses * below[t : t + len(masses)] ** (k - 1)).sum())

        assert chance(found) >= 0.9 - 1e-12
        less = found - 1 - int(size / 16)
        assert less < 0 or chance(less) < 0.9


def test_leads_of_wide_and_of_narrow_noise_are_found():
    assert spread.gaussian_lead(Fraction(10**9), 0.95, 10) / 1e9 == pytest.approx(
        spread.gaussian_lead(Fraction(8000), 0.95, 10) / 8000, rel=0.02
    )
    assert spread.laplace_lead(Fraction(10**9), 0.95, 10) / 1e9 == pytest.approx(
        spread.laplace_lead(Fraction(8000), 0.95, 10) / 8000, rel=0.02
    )
    assert spread.laplace_lead(Fraction(1, 1000), 0.95, 10) == 0
    assert spread.gaussian_lead(Fraction(5), 0.95, 1) == 0
