"""Discrete Gaussian noise follows its law at every sigma, on every path of the sampler."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chance import LEVEL, fit, fits, gaussian_pmf
from discreet import noise
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.noise.gaussian import GaussianBlocks
from discreet.noise.table import Table

gaussian_module = import_module("discreet.noise.gaussian")
COUNT = 1_000_000


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [0.5, 1, 2.5, 10, 128, 129, 1000])
def test_the_law_fits(sigma):
    drawn = noise.gaussian(sigma, COUNT)
    assert fits(drawn, gaussian_pmf(sigma))
    assert fit(drawn, gaussian_pmf(sigma * 1.02)) < LEVEL
    assert fit(drawn, gaussian_pmf(sigma * 0.98)) < LEVEL


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [1e5, 1e6, 1e9, 2**40])
def test_large_sigma_agrees_with_the_normal_law(sigma):
    """The gap between the two laws is far below what a million draws can see."""
    drawn = noise.gaussian(sigma, COUNT) / sigma
    assert stats.kstest(drawn, "norm").pvalue > LEVEL
    assert stats.kstest(drawn * 1.03, "norm").pvalue < LEVEL  # nine deviations from being missed
    assert stats.kstest(np.mod(drawn * sigma, 16) // 1, "uniform", args=(0, 16)).statistic < 0.1


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [129, 1000])
def test_the_exact_coin_keeps_the_law_when_it_decides_everything(monkeypatch, sigma):
    monkeypatch.setattr(gaussian_module, "_MARGIN", 2.0)
    gaussian_module._acceptance.cache_clear()
    try:
        drawn = noise.gaussian(sigma, 10_000)
    finally:
        gaussian_module._acceptance.cache_clear()
    assert fits(drawn, gaussian_pmf(sigma))


@pytest.mark.statistical
@pytest.mark.parametrize("careless", [False, True])
def test_wide_blocks_keep_the_law_and_only_because_of_the_coin(monkeypatch, careless):
    """Blocks of 64 at sigma 129 are refused often; keeping every proposal must show."""
    if careless:
        monkeypatch.setattr(
            gaussian_module._Acceptance, "kept", lambda self, start, *_: np.ones(len(start), dtype=bool)
        )
    sigma, shift = Fraction(129), 6
    out = np.empty(30_000, dtype=np.int64)
    coin = gaussian_module._Acceptance(sigma, shift)
    gaussian_module._fill(out, Table(GaussianBlocks(sigma, shift)), coin, shift, SystemBits())
    assert fits(out, gaussian_pmf(sigma)) is not careless


def test_the_sure_coin_never_exceeds_the_true_chance():
    for sigma, shift in ((Fraction(129), 1), (Fraction(10**6), 13), (Fraction(2**40), 33)):
        coin = gaussian_module._Acceptance(sigma, shift)
        for block in range(0, len(coin._sure), 37):
            start = 1 + block * 2**shift
            end = start + 2**shift - 1
            exponent = Fraction(end * end - start * start) / (2 * sigma * sigma)
            assert coin._sure[block] <= 2**16 * np.exp(-float(exponent)) * (1 + 1e-9)


def test_the_block_below_zero_mirrors_the_block_above():
    drawn = noise.gaussian(129, COUNT)
    assert abs(int((drawn > 0).sum()) - int((drawn < 0).sum())) < 8 * COUNT**0.5


@pytest.mark.parametrize("sigma", [0, -2, float("nan"), float("inf"), 2**41, "x", None, False])
def test_bad_sigmas_are_refused_by_name(sigma):
    with pytest.raises(InputError, match="sigma"):
        noise.gaussian(sigma, 10)


@settings(max_examples=60, deadline=None)
@given(st.fractions(min_value=Fraction(1, 1000), max_value=2**40))
def test_any_rational_sigma_draws(sigma):
    drawn = noise.gaussian(sigma, 50)
    assert drawn.dtype == np.int64
    assert (np.abs(drawn) <= 12 * sigma + 1).all()


@pytest.mark.large
@pytest.mark.parametrize("sigma", [1, 10, 1000])
def test_the_law_fits_ten_million_draws(sigma):
    drawn = noise.gaussian(sigma, 10_000_000)
    assert fits(drawn, gaussian_pmf(sigma))
    assert fit(drawn, gaussian_pmf(sigma * 1.005)) < LEVEL
