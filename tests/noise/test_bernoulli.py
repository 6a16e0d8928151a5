"""Coins show heads with exactly the probability asked for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from chance import frequency_fits
from discreet import noise
from discreet.errors import InputError
from discreet.noise.bernoulli import Coin, below, below_exp
from discreet.noise.bits import SystemBits

COUNT = 200_000


@pytest.mark.parametrize("p", [Fraction(1, 3), 0.5, 0.001, Fraction(999, 1000), 1e-5])
def test_rational_coins(p):
    heads = int(noise.bernoulli(p, COUNT).sum())
    assert frequency_fits(heads, COUNT, float(p))
    assert not frequency_fits(heads, COUNT, min(1.0, float(p) * 1.02 + 0.02))


@pytest.mark.parametrize("x", [Fraction(1, 1000), 0.5, 1, 7])
def test_exponential_coins(x):
    heads = int(noise.bernoulli_exp(x, COUNT).sum())
    assert frequency_fits(heads, COUNT, math.exp(-float(x)))
    assert not frequency_fits(heads, COUNT, min(1.0, math.exp(-float(x)) * 1.02 + 0.02))


def test_coins_flipped_one_by_one_follow_the_same_law():
    heads = sum(noise.bernoulli_exp(1) for _ in range(20_000))
    assert frequency_fits(heads, 20_000, math.exp(-1))
    heads = sum(noise.bernoulli(Fraction(1, 3)) for _ in range(20_000))
    assert frequency_fits(heads, 20_000, 1 / 3)


def test_response_coin_has_the_odds_it_claims():
    coin = Coin(tails=Fraction(9), exponent=Fraction(1))
    truth = math.e / (math.e + 9)
    assert frequency_fits(int(coin.flips(COUNT, SystemBits()).sum()), COUNT, truth)


def test_certain_coins_are_certain():
    assert noise.bernoulli(1, 1000).all()
    assert not noise.bernoulli(0, 1000).any()
    assert noise.bernoulli_exp(0, 1000).all()
    assert not noise.bernoulli_exp(10**30, 1000).any()


def test_lazy_comparison_decides_at_every_depth():
    """Bounds that say nothing for the first 200 bits are asked again, deeper, until they do."""

    def vague(n):
        return (0, 1 << n) if n < 200 else ((1 << n) // 3, (1 << n) // 3 + 1)

    heads = sum(below(vague, 0, 0, SystemBits()) for _ in range(20_000))
    assert frequency_fits(heads, 20_000, 1 / 3)


def test_a_prefix_on_the_boundary_asks_for_more_bits():
    x = Fraction(1)
    boundary = math.floor(math.exp(-1) * 2**16)
    outcomes = {below_exp(x, boundary, 16, SystemBits()) for _ in range(200)}
    assert outcomes == {True, False}
    assert below_exp(x, boundary - 1, 16, SystemBits())
    assert not below_exp(x, boundary + 1, 16, SystemBits())


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), "half", None])
def test_bad_probabilities_are_refused(p):
    with pytest.raises(InputError, match=r"^`p` (must be|is missing)"):
        noise.bernoulli(p, 3)


def test_a_negative_exponent_is_refused():
    with pytest.raises(InputError, match=r"`x` must be .* got -1"):
        noise.bernoulli_exp(-1)


def test_types():
    assert type(noise.bernoulli(0.5)) is bool
    assert noise.bernoulli(0.5, 100).dtype == np.bool_
