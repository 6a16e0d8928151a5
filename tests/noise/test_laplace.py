"""Discrete Laplace noise follows its law at every scale, and a law two percent off is told apart."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chance import LEVEL, fit, fits, laplace_pmf, mean_fits
from discreet import noise
from discreet.errors import InputError

COUNT = 1_000_000


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 10), 0.5, 1, 10, 32, 33, 1000, 3000.5])
def test_the_law_fits(scale):
    drawn = noise.laplace(scale, COUNT)
    assert fits(drawn, laplace_pmf(scale))
    off = 0.02 if scale >= 0.5 else 0.5  # so small a scale rarely leaves zero: a coarser error is all one can see
    assert fit(drawn, laplace_pmf(float(scale) * (1 + off))) < LEVEL
    assert fit(drawn, laplace_pmf(float(scale) * (1 - off))) < LEVEL


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [33, 1000, 1e6, 1e9, 2**40])
def test_large_scales_are_uniform_in_their_own_quantiles(scale):
    """|x| + a uniform fraction has a known continuous law: its CDF values must be uniform."""
    drawn = noise.laplace(scale, COUNT)
    rate = 1 / scale
    side = np.where(drawn >= 0, drawn, -1 - drawn)
    quantile = -np.expm1(-rate * (side + np.random.default_rng().random(COUNT)))
    assert mean_fits(drawn < 0, np.exp(-rate) / (1 + np.exp(-rate)), 0.25)
    ok = stats.kstest(np.where(drawn >= 0, quantile, 1 - quantile), "uniform").pvalue
    # A geometric variable plus a fraction is exponential only within a step: exact to 1/scale^2.
    assert ok > LEVEL if scale >= 1e6 else fits(drawn, laplace_pmf(scale))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [1000, 1e6, 1e9])
def test_low_digits_and_high_digits_are_independent(scale):
    drawn = noise.laplace(scale, COUNT)
    drawn = np.where(drawn >= 0, drawn, -1 - drawn)
    low, high = drawn & 3, drawn > scale
    table = np.array([[np.sum((low == v) & (high == h)) for h in (False, True)] for v in range(4)])
    assert stats.chi2_contingency(table).pvalue > LEVEL


def test_one_draw_is_a_plain_int():
    assert type(noise.laplace(10)) is int
    assert noise.laplace(10, 0).shape == (0,)


def test_noise_is_fresh_each_time():
    assert not np.array_equal(noise.laplace(1000, 100), noise.laplace(1000, 100))


def test_a_tiny_scale_is_nearly_always_zero():
    assert not noise.laplace(0.001, 10_000).any()


@pytest.mark.parametrize(
    "scale", [0, -1, float("nan"), float("inf"), -0.0, 2**41, "ten", None, True, Fraction(1, 2**50)]
)
def test_bad_scales_are_refused_by_name(scale):
    with pytest.raises(InputError, match="scale"):
        noise.laplace(scale, 10)


@pytest.mark.parametrize("size", [-1, 1.5, "many", True])
def test_bad_sizes_are_refused_by_name(size):
    with pytest.raises(InputError, match="size"):
        noise.laplace(1, size)


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=Fraction(1, 1000), max_value=2**40))
def test_any_rational_scale_draws(scale):
    drawn = noise.laplace(scale, 50)
    assert drawn.dtype == np.int64
    assert (np.abs(drawn) <= 60 * scale + 60).all()


@pytest.mark.large
@pytest.mark.parametrize("scale", [1, 10, 1000])
def test_the_law_fits_ten_million_draws(scale):
    drawn = noise.laplace(scale, 10_000_000)
    assert fits(drawn, laplace_pmf(scale))
    assert fit(drawn, laplace_pmf(scale * 1.005)) < LEVEL
