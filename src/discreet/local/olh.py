"""Local hashing: report the bucket one's category falls into, under a hash function of one's own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, settle, whole_or_none
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.local.draws import evenly, flips
from discreet.local.primes import LARGEST, digits_for, digits_of, inner_products, part_length, primes
from discreet.local.protocol import Oracle, Report, count_reports, read_times
from discreet.local.tally import Tally
from discreet.local.transform import supports
from discreet.mechanisms.inputs import read_values
from discreet.noise.bits import SystemBits

__all__ = ["OLH"]

_LISTED = 1 << 16
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

    def _scrambled(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.int64]:
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
