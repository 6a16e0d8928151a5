"""Local hashing: report the bucket one's category falls into, under a hash function of one's own.

Categories and keys are vectors of t digits below a prime g, and the hash of a category is the inner product of the two,
modulo g. For two different categories the difference of their hashes is the inner product of the key with a vector that
is not zero, so over all keys it takes each of the g values equally often: collisions have probability exactly 1/g.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, settle, whole_or_none
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.local.draws import evenly, flips
from discreet.local.estimate import Tally
from discreet.local.protocol import Oracle, Report, count_reports, read_times
from discreet.mechanisms.inputs import read_values
from discreet.noise.bits import SystemBits

__all__ = ["LARGEST", "OLH", "digits_for", "digits_of", "inner_products", "part_length", "primes", "supports"]

LARGEST = 1021  # the largest number of buckets: beyond it plain randomized response is better for any domain in use
_LISTED = 1 << 16
_TABLE = 1 << 20
_CELLS = 1 << 22


@frozen(field_transformer=named)
class OLH(Oracle):
    """Optimal local hashing: a random key, and the bucket of one's category under it, scrambled like `GRR`.

    `buckets` is the prime for which estimates vary least, near e^epsilon + 1. Hashes are inner products modulo it, so
    that two categories collide with probability exactly 1/buckets and a million reports are counted by one Fourier
    transform instead of a hash for each report and category. A report is a whole number: key * buckets + bucket.

    Guarantee
        ln(ratio)-differential privacy of every report; the key does not depend on the answer.
        Proof: docs/proofs/local.md.

    >>> many = OLH(10_000, epsilon=1)
    >>> many.buckets, many.report_bits
    (3, 16)
    """

    kind: ClassVar[str] = "olh"
    buckets: int = field(default=AUTO, converter=whole_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.buckets is AUTO:
            settle(self, buckets=_least_variance(self.ratio, self.categories))
        if self.buckets not in primes():
            raise InputError("buckets", self.buckets, f"a prime number, at most {LARGEST}")

    @property
    def digits(self) -> int:
        """How many digits a key has."""
        return digits_for(self.categories, self.buckets)

    @property
    def hit(self) -> Fraction:
        return self.ratio / (self.ratio + self.buckets - 1)

    @property
    def miss(self) -> Fraction:
        return Fraction(1, self.buckets)

    @property
    def reports(self) -> int:
        return int(self.buckets ** (self.digits + 1))

    def _randomize(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.int64]:
        source = bits if bits is not None else SystemBits()
        g, n = self.buckets, len(values)
        key, bucket = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        rest, scale = values, 1
        for length in _parts(g, self.digits):
            size = g**length
            part = evenly(size, n, source).astype(np.int64)
            rest, low = (rest, rest) if scale * size >= self.categories else np.divmod(rest, size)
            bucket += inner_products(g, length).ravel().take(part * size + low)
            key += part * scale
            scale *= size
        moved = evenly(g - 1, n, source).astype(np.int64) + 1 if g > 2 else np.ones(n, dtype=np.int64)
        bucket += moved * ~flips(self.hit, n, source)
        return key * g + bucket % g

    def law(self, value: int) -> dict[Report, Fraction]:
        if self.reports > _LISTED:
            raise InputError(
                "categories", self.categories, f"such that there are at most {_LISTED:,} different reports to list"
            )
        keys = self.buckets**self.digits
        true = self._hashes(np.arange(keys), np.array([value]))[:, 0]
        own, other = self.hit / keys, (1 - self.hit) / (self.buckets - 1) / keys
        return {
            key * self.buckets + bucket: own if bucket == true[key] else other
            for key in range(keys)
            for bucket in range(self.buckets)
        }

    def _hashes(self, keys: NDArray[np.int64], categories: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each category (columns) under each key (rows)."""
        left = digits_of(keys, self.buckets, self.digits)
        right = digits_of(categories, self.buckets, self.digits)
        hashes: NDArray[np.int64] = left @ right.T % self.buckets
        return hashes

    def scores(self, reports: Any) -> NDArray[np.int64]:
        listed = read_values(reports, "reports")
        hashes = self._hashes(listed // self.buckets, np.arange(self.categories))
        return np.asarray(hashes == (listed % self.buckets)[:, None], dtype=np.int64)

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        g, size = self.buckets, self.buckets**self.digits
        if times is None and not np.isscalar(reports) and 4 * len(reports) >= self.reports:
            times = count_reports(reports, self.reports)
            listed = np.flatnonzero(times)
            times = times[listed]
        else:
            given: Any = [reports] if np.isscalar(reports) else reports
            listed = read_values(given, "reports")
            if listed.size and (int(listed.min()) < 0 or int(listed.max()) >= self.reports):
                raise InputError("reports", Phrase("one out of range"), f"from 0 to {self.reports - 1}")
        often = np.ones(len(listed), dtype=np.int64) if times is None else read_times(times, len(listed))
        if len(listed) * self.categories <= min(_CELLS, 8 * size):
            hashes = self._hashes(listed // g, np.arange(self.categories))
            sums = often @ (hashes == (listed % g)[:, None])
        else:
            sums = supports(listed // g, listed % g, often, prime=g, digits=self.digits)[: self.categories]
        return Tally(self.id, int(often.sum()), sums, sums)


def _parts(prime: int, digits: int) -> list[int]:
    """Lengths of the parts of a key that are looked up at once."""
    length = part_length(prime)
    return [length] * (digits // length) + ([digits % length] if digits % length else [])


def _least_variance(ratio: Fraction, categories: int) -> int:
    """The prime number of buckets with the least variance of a category that one in `categories` people has."""

    def variance(buckets: int) -> Fraction:
        hit, miss, share = ratio / (ratio + buckets - 1), Fraction(1, buckets), Fraction(1, categories)
        return (share * hit * (1 - hit) + (1 - share) * miss * (1 - miss)) / (hit - miss) ** 2

    return min(primes(), key=variance)


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
    while prime ** (2 * length + 2) <= _TABLE:
        length += 1
    return length


@lru_cache(maxsize=16)
def inner_products(prime: int, length: int) -> NDArray[np.int64]:
    """The table of inner products of all pairs of vectors of `length` digits."""
    digits = digits_of(np.arange(prime**length), prime, length)
    table: NDArray[np.int64] = digits @ digits.T % prime
    table.flags.writeable = False
    return table


def supports(
    keys: NDArray[np.int64],
    buckets: NDArray[np.int64],
    times: NDArray[np.int64],
    *,
    prime: int,
    digits: int,
) -> NDArray[np.int64]:
    """For each vector x of digits, how many reports (key, bucket) have <key, x> = bucket, modulo the prime.

    With w a primitive root of unity, the indicator is the mean over u of w^(u (<key, x> - bucket)). The term u = 0 is
    1; the others are a Fourier transform, at x, of weights w^(-u bucket) put at u key. Terms u and -u are conjugates.
    The sums are whole numbers, and rounding makes them exact: the error of a transform is far below a half for fewer
    than 2^40 reports.
    """
    size = prime**digits
    weights = np.zeros(size, dtype=np.complex128)
    weight = times.astype(np.float64)
    places = digits_of(np.arange(size), prime, digits)
    powers = prime ** np.arange(digits)
    for u in range(1, max(2, (prime + 1) // 2)):
        moved = ((places * u % prime) @ powers)[keys]
        angle = 2 * np.pi * (u * np.arange(prime) % prime) / prime
        real = np.bincount(moved, weights=weight * np.cos(angle)[buckets], minlength=size)
        if prime > 2:
            real = real - 1j * np.bincount(moved, weights=weight * np.sin(angle)[buckets], minlength=size)
        weights += real
    # Axes run from the highest digit to the lowest, as C order has it.
    summed = np.fft.ifftn(weights.reshape((prime,) * digits)).real.ravel() * size
    both = 2 if prime > 2 else 1
    sums: NDArray[np.int64] = np.rint((times.sum() + both * summed) / prime).astype(np.int64)
    return sums
