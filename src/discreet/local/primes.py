"""Prime numbers of buckets, and the inner products that hash into them.

Categories and keys are vectors of t digits below a prime g, and the hash of a category is the inner product of the two,
modulo g. For two different categories the difference of their hashes is the inner product of the key with a vector that
is not zero, so over all keys it takes each of the g values equally often: collisions have probability exactly 1/g.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "digits_for", "digits_of", "inner_products", "part_length", "primes"]

LARGEST = 1021  # the largest number of buckets: beyond it plain randomized response is better for any domain in use
_CELLS = 1 << 20


@lru_cache(maxsize=1)
def primes() -> tuple[int, ...]:
    """2, 3, 5, ..., LARGEST."""
    return tuple(n for n in range(2, LARGEST + 1) if all(n % d for d in range(2, int(n**0.5) + 1)))


def digits_for(categories: int, prime: int) -> int:
    """How many digits tell the categories apart."""
    count, reach = 1, prime
    while reach < categories:
        count, reach = count + 1, reach * prime
    return count


def digits_of(numbers: NDArray[np.int64], prime: int, count: int) -> NDArray[np.int64]:
    """The digits of each number, lowest first: one column each."""
    return np.stack([numbers // prime**place % prime for place in range(count)], axis=-1)


@lru_cache(maxsize=128)
def part_length(prime: int) -> int:
    """How many digits are multiplied by one lookup in a table of a million cells."""
    length = 1
    while prime ** (2 * length + 2) <= _CELLS:
        length += 1
    return length


@lru_cache(maxsize=16)
def inner_products(prime: int, length: int) -> NDArray[np.int64]:
    """The table of inner products of all pairs of vectors of `length` digits."""
    digits = digits_of(np.arange(prime**length), prime, length)
    table: NDArray[np.int64] = digits @ digits.T % prime
    table.flags.writeable = False
    return table
