"""Local hashing: exact collisions, and fast sums that are those of the slow way."""

import numpy as np
import pytest

from discreet.local import OLH
from discreet.local.olh import digits_for, digits_of, inner_products, part_length, primes, supports


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
