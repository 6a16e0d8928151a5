"""Fast draws and fast sums: the same laws and the same numbers as the slow way."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix

import discreet.local.draws as draws
from chance import fits, frequency_fits
from discreet.local import OLH, packed
from discreet.local.packed import bit_sums
from discreet.local.primes import digits_for, digits_of, inner_products, part_length, primes
from discreet.local.transform import supports, walsh
from discreet.noise.bits import SystemBits


@pytest.mark.statistical
@pytest.mark.parametrize("bound", [1, 2, 3, 99, 4095, 4097, 10_000])
def test_integers_are_even(bound):
    drawn = draws.evenly(bound, 200_000, SystemBits()).astype(np.int64)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert fits(drawn, lambda x: np.where((x >= 0) & (x < bound), 1 / bound, 0))
    if bound > 2:
        tilted = lambda x: np.where((x >= 0) & (x < bound), (1.1 - 0.2 * (x >= bound / 2)) / bound, 0)  # noqa: E731
        assert not fits(drawn, tilted)


class Scripted:
    """Bits that are all ones or all zeros first, then real ones."""

    def __init__(self, first):
        self.first = list(first)

    def read(self, count):
        if self.first:
            return np.full(count, self.first.pop(0), dtype=np.uint8)
        return SystemBits().read(count)


@pytest.mark.statistical
@pytest.mark.parametrize("bound", [3, 1000, 5000, 3 << 30])
def test_words_that_would_bias_are_drawn_again(bound):
    """All-zero words leave a remainder of zero, which is too small wherever the bound does not divide the words."""
    seen = [int(draws.evenly(bound, 1, Scripted([0]))[0]) for _ in range(300)]
    if bound < 1 << 24:
        assert len(set(seen)) > 2  # drawn again, not always the same
    for large in (1 << 40, (1 << 62) + 3):
        drawn = draws.evenly(large, 20_000, SystemBits())
        assert int(drawn.max()) < large
        assert frequency_fits(int((drawn < np.uint64(large // 2)).sum()), 20_000, 0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("rounds", [1, 3, 11])
@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(7, 32), Fraction(1, 2), Fraction(999, 1000)])
def test_packed_coins_are_exact(rounds, probability, monkeypatch):
    monkeypatch.setattr(draws, "_ROUNDS", rounds)  # few rounds leave many coins to the exact path
    coins = np.unpackbits(draws.packed_flips(probability, 40_000, SystemBits()))
    for place in range(8):
        heads = int(coins[place::8].sum())
        assert frequency_fits(heads, 40_000, float(probability))
        assert not frequency_fits(heads, 40_000, float(probability) * 0.75)
    pairs = coins[::2] + 2 * coins[1::2]
    p = float(probability)
    law = np.array([(1 - p) ** 2, p * (1 - p), p * (1 - p), p * p, 0])
    assert fits(pairs, lambda x: law[np.clip(x, -1, 4)])


def test_certain_coins_are_certain():
    assert (draws.packed_flips(Fraction(0), 5, SystemBits()) == 0).all()
    assert (draws.packed_flips(Fraction(1), 5, SystemBits()) == 255).all()
    assert draws.flips(Fraction(1), 3, SystemBits()).all()


@pytest.mark.parametrize("categories", [1, 7, 100, 505, 600, 2000])
@pytest.mark.parametrize("n", [0, 1, 9, 1000, 5000])
def test_bit_sums_are_sums_of_bits(categories, n):
    chance = np.random.default_rng(1)
    rows = np.packbits(chance.random((n, categories)) < 0.3, axis=1)
    expected = np.unpackbits(rows, axis=1).sum(axis=0)[:categories]
    assert (bit_sums(rows, categories) == expected).all()
    times = chance.integers(0, 5, n)
    weighted = (np.unpackbits(rows, axis=1) * times[:, None]).sum(axis=0)[:categories]
    assert (bit_sums(rows, categories, times) == weighted).all()


@pytest.mark.parametrize("categories", [3, 100, 2000])
@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 6, 7, 8, 40, 63, 64])
def test_bit_sums_are_the_same_however_many_blocks_are_carried(categories, blocks, monkeypatch):
    width = packed.width_of(categories)
    monkeypatch.setattr(packed, "_BLOCK", 3 * width)  # three reports a block: carries go up many levels
    rows = np.random.default_rng(blocks).integers(0, 256, (3 * blocks + 2, 2 * width), dtype=np.uint8)[:, ::2]
    before = rows.copy()
    expected = np.unpackbits(rows, axis=1).sum(axis=0)[:categories]
    assert (bit_sums(rows, categories) == expected).all()
    assert (rows == before).all()  # what is added up is not written over
    assert (bit_sums(np.full((3 * blocks, width), 255, dtype=np.uint8), categories) == 3 * blocks).all()


def test_an_adder_that_loses_carries_is_caught(monkeypatch):
    class Forgetful(packed._Adder):
        def left(self):
            return (one for one in super().left() if one[0] < 8)

    rows = np.full((90, 250), 255, dtype=np.uint8)
    monkeypatch.setattr(packed, "_BLOCK", 250)
    assert (bit_sums(rows, 2000) == 90).all()
    monkeypatch.setattr(packed, "_Adder", Forgetful)
    assert not (bit_sums(rows, 2000) == 90).all()


@pytest.mark.parametrize(("prime", "digits"), [(2, 5), (3, 3), (5, 2), (7, 1), (53, 1)])
def test_the_transform_counts_supports(prime, digits):
    chance = np.random.default_rng(2)
    size = prime**digits
    keys, buckets = chance.integers(0, size, 500), chance.integers(0, prime, 500)
    times = chance.integers(0, 9, 500)
    every = digits_of(np.arange(size), prime, digits)
    hashes = digits_of(keys, prime, digits) @ every.T % prime
    expected = times @ (hashes == buckets[:, None])
    assert (supports(keys, buckets, times, prime=prime, digits=digits) == expected).all()


@pytest.mark.parametrize("prime", [2, 3, 7])
def test_two_categories_collide_exactly_one_time_in_prime(prime):
    digits = digits_for(20, prime)
    every = digits_of(np.arange(prime**digits), prime, digits)
    hashes = every @ every[:20].T % prime
    for other in range(1, 20):
        assert (hashes[:, 0] == hashes[:, other]).sum() * prime == len(every)
    assert (inner_products(prime, 1) == np.outer(np.arange(prime), np.arange(prime)) % prime).all()
    assert prime ** (2 * part_length(prime)) <= 1 << 20


def test_both_ways_of_counting_agree():
    oracle = OLH(1000, 4)
    values = np.arange(30_000) % 1000
    reports = oracle.privatize(values)
    whole = oracle.tally(reports)
    few = oracle.tally(reports[:50])  # a look at each hash
    rest = oracle.tally(reports[50:])
    assert few + rest == whole
    assert len(primes()) == 172


def test_walsh_is_the_hadamard_matrix():
    rows = np.random.default_rng(3).integers(-5, 6, (3, 32))
    assert (walsh(rows) == rows @ hadamard_matrix(32)).all()
