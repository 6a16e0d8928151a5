"""Noise drawn on the device: the law and the tail that are claimed, and room for rounding."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special, stats
from train_steps import SECRET

from chance import LEVEL, frequency_fits
from discreet.errors import InputError
from discreet.learn.noise import device_key
from discreet.learn.sampler import (
    REACH,
    VARIANCE,
    draw_integers,
    integers_of,
    lattice_length,
    thresholds,
)

SIGMA = math.sqrt(VARIANCE)


def whole(column):
    return sum(int(word) << (32 * (3 - place)) for place, word in enumerate(column))


def forced(*words):
    """The three parts of one entry, each from the same words."""
    return jnp.asarray(np.tile(np.array(words, dtype=np.uint32)[None, :, None], (3, 1, 1)))


def single_precision(bits):
    """The noise of 0.1, as `jax.random.normal` makes it of 32 random bits: 23 of them count."""
    uniform = (bits >> np.uint32(9) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)
    lowest = np.nextafter(np.float32(-1), np.float32(0))
    return np.sqrt(np.float32(2)) * special.erfinv(np.maximum(lowest, uniform * (1 - lowest) + lowest))


def test_the_tail_reaches_13_deviations_and_that_of_single_precision_ends_at_5_42():
    most, least = (2**32 - 1,) * 4, (0,) * 4
    assert int(integers_of(forced(*most))[0][0]) == REACH
    assert REACH / SIGMA > 13
    assert int(integers_of(forced(*least))[0][0]) / SIGMA < -13
    ends = single_precision(np.array([0, 2**32 - 1], dtype=np.uint32))
    assert 5.3 < np.abs(ends).max() < 5.43


@pytest.mark.parametrize("deviations", [6, 8.5, 10])
def test_beyond_any_point_of_the_tail_lies_the_mass_that_should(deviations):
    """One part: words that stand at a tail of the true law come out at that place, to a step."""
    tail = stats.norm.sf(deviations)
    word = int(Fraction(tail) * 2**128)
    words = [(word >> (32 * (3 - place))) & 0xFFFFFFFF for place in range(4)]
    found = int(integers_of(forced(*words))[0][0]) / (1 + 128 + 128**2)
    assert found == pytest.approx(-512 * deviations, abs=1)


def test_every_threshold_is_the_chance_of_less():
    table = thresholds()
    chances = [whole(column) for column in table.T]
    assert chances == sorted(chances)
    assert chances[0] == 0
    assert chances[-1] < 2**128
    masses = np.diff(np.array([*chances, 2**128], dtype=object)) / 2**128
    x = np.arange(-6656, 6657)
    law = np.exp(-(x**2) / (2 * 512**2))
    assert np.abs(masses.astype(float) - law / law.sum()).max() < 1e-18
    assert all(abs(low + high - 2**128) <= 1 for low, high in zip(chances[1:], reversed(chances[1:]), strict=True))
    # 1e-34 an entry: three parts, half a unit for each of their values, and the tails left out.
    short = Fraction(len(x), 2**129) + Fraction(2 * stats.norm.sf(13))
    assert 3 * short < Fraction(1, 10**34)


def test_two_words_are_enough_where_they_say_so():
    chance = np.random.default_rng(0)
    words = chance.integers(0, 2**32, size=(3, 4, 2000), dtype=np.uint32)
    short, doubt = integers_of(jnp.asarray(words[:, :2]))
    assert not bool(doubt)
    assert np.array_equal(short, integers_of(jnp.asarray(words))[0])
    tied = thresholds()[:, 5000]
    assert bool(integers_of(forced(*tied[:2]))[1])
    above, below = [int(integers_of(forced(*tied[:2], *rest))[0][0]) for rest in ((2**32 - 1,) * 2, (0, 0))]
    assert above > below


def test_words_in_doubt_are_settled_by_more_of_them(monkeypatch):
    tied = thresholds()[:2, 5000]
    drawn = []

    def bits(key, shape, kind):
        drawn.append(shape)
        return jnp.asarray(np.tile(tied[None, :, None], (3, 1, shape[2])))

    monkeypatch.setattr(jax.random, "bits", bits)
    found = draw_integers(device_key(SECRET, 0), 3)
    assert drawn == [(3, 2, 3), (3, 2, 3)]
    assert np.array_equal(found, integers_of(jnp.tile(jnp.asarray(np.tile(tied, 2))[None, :, None], (3, 1, 3)))[0])


@pytest.mark.statistical
def test_numbers_have_the_law_and_the_tail_that_is_claimed():
    drawn = np.asarray(jax.jit(draw_integers, static_argnums=1)(device_key(SECRET, 7), 400_000)) / SIGMA
    assert stats.kstest(drawn, "norm").pvalue > LEVEL
    assert stats.kstest(drawn * 1.04, "norm").pvalue < LEVEL
    beyond = int((np.abs(drawn) > 3.5).sum())
    assert frequency_fits(beyond, len(drawn), 2 * stats.norm.sf(3.5))
    cut = np.clip(drawn, -3.4, 3.4)  # must fail: a tail that ends
    assert not frequency_fits(int((np.abs(cut) > 3.5).sum()), len(drawn), 2 * stats.norm.sf(3.5))


@pytest.mark.statistical
def test_given_a_rare_first_word_the_tail_goes_on_and_that_of_0_1_does_not():
    """Among draws below 2^-28 of the mass, half are below the median of that tail; single precision has none there."""
    chance = np.random.default_rng(1)
    words = chance.integers(0, 2**32, size=(3, 4, 4000), dtype=np.uint32)
    words[2, 0] = chance.integers(0, 2**4, size=4000)  # the highest part decides
    found = np.asarray(integers_of(jnp.asarray(words))[0]) / SIGMA
    middle = stats.norm.isf(2.0**-29)
    assert frequency_fits(int((found < -middle).sum()), 4000, 0.5)
    old = single_precision(words[2, 0])  # must fail: nothing is left beyond where it ends
    assert not frequency_fits(int((old < -middle).sum()), 4000, 0.5)


def sum_law(sigma, stride, reach=400):
    axis = np.arange(-reach, reach + 1)
    one = np.exp(-(axis**2) / (2 * sigma**2))
    spread = np.zeros(stride * 2 * reach + 1)
    spread[::stride] = one
    law = np.convolve(one, spread)
    return law / law.sum()


def test_a_sum_of_parts_has_the_law_of_one_number_if_strides_are_short():
    for stride, within in ((4, True), (16, False)):  # deviation 16: four steps of a stride, and one
        law = sum_law(16, stride)
        axis = np.arange(len(law)) - len(law) // 2
        variance = 16**2 * (1 + stride**2)
        ideal = np.exp(-(axis**2) / (2 * variance))
        ideal /= ideal.sum()
        middle = np.abs(axis) < 3 * math.sqrt(variance)
        ratio = law[middle] / ideal[middle]
        assert (np.abs(ratio - 1).max() < 1e-11) == within


@pytest.mark.parametrize("multiplier", [Fraction(1, 2), Fraction(1), Fraction(37, 10), Fraction(90)])
@pytest.mark.parametrize("size", [1, 1000, 2_750_000])
def test_the_bound_on_the_lattice_makes_room_for_rounding(multiplier, size):
    length = lattice_length(multiplier, size)
    farthest = length * (1 + Fraction(1, 1024)) + math.isqrt(size) + 1
    assert (multiplier * farthest) ** 2 <= VARIANCE - 16
    assert (multiplier * farthest * Fraction(101, 100)) ** 2 > VARIANCE


def test_noise_too_large_for_the_lattice_is_refused_early():
    with pytest.raises(InputError, match="exact"):
        lattice_length(Fraction(10_000), 10**6)
