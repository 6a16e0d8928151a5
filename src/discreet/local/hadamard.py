"""Hadamard response: short reports whose counts are unmixed by a fast Walsh transform."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, settle, whole_or_none
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.local.draws import evenly, flips
from discreet.local.estimate import Tally
from discreet.local.protocol import Oracle, Report, count_reports
from discreet.mechanisms.inputs import read_values
from discreet.noise.bits import SystemBits

__all__ = ["Hadamard", "walsh"]


@frozen(field_transformer=named)
class Hadamard(Oracle):
    """Report a place in one's block where one's row of a Hadamard matrix is +1, with odds ratio : 1 against any other.

    Categories share blocks of `length` places, length - 1 categories to a block; a block's first row is left out. One
    block is best for small epsilon, where a report is a row of signs and one bit; more blocks for large epsilon.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.

    >>> Hadamard(100, epsilon=1).report_bits
    7
    """

    kind: ClassVar[str] = "hadamard"
    length: int = field(default=AUTO, converter=whole_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        longest = 1 << self.categories.bit_length()
        allowed = [1 << power for power in range(1, longest.bit_length())]
        if self.length is AUTO:
            settle(self, length=min(allowed, key=self._variance_with))
        if self.length not in allowed:
            raise InputError("length", self.length, f"a power of two from 2 to {longest}")

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.categories // (self.length - 1))

    @property
    def reports(self) -> int:
        return self.blocks * self.length

    @property
    def _weight(self) -> Fraction:
        """The probability of a place where one's own row is not +1."""
        half = self.length // 2
        return 1 / (half * self.ratio + self.reports - half)

    @property
    def hit(self) -> Fraction:
        return self.length // 2 * (self.ratio - 1) * self._weight

    @property
    def miss(self) -> Fraction:
        return Fraction(0)

    @property
    def squares(self) -> tuple[Fraction, Fraction]:
        """The chance that a report falls into one's own block, and into any other."""
        half = self.length // 2
        own = self._weight * half * (self.ratio + 1)
        return own, own if self.blocks == 1 else self._weight * half * 2

    def _second(self, share: Fraction) -> Fraction:
        """The chance that a report falls into the category's block; the other people are spread evenly."""
        half, mates = self.length // 2, min(self.length - 1, self.categories) - 1
        near = share + (1 - share) * Fraction(mates, self.categories - 1)
        return self._weight * half * (near * (self.ratio + 1) + (1 - near) * 2)

    def _variance_with(self, length: int) -> Fraction:
        settle(self, length=length)
        share = Fraction(1, self.categories)
        return self._second(share) / self.hit**2

    def _randomize(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.int64]:
        source = bits if bits is not None else SystemBits()
        n, half = len(values), self.length // 2
        block, row = np.divmod(values, self.length - 1)
        row += 1
        plus = flips(half * self.ratio * self._weight, n, source)
        # Where it is not +1: so many places in one's own block, and all those of the others.
        place = evenly(self.length, n, source).astype(np.int64)
        if self.blocks > 1:
            elsewhere = ~plus & (evenly(self.reports - half, n, source) >= half)
            other = evenly(self.blocks - 1, n, source).astype(np.int64)
            other += other >= block
        wrong = (np.bitwise_count(row & place) & 1).astype(np.bool_) == plus
        right = np.where(wrong, place ^ (row & -row), place)  # the other half, one to one
        if self.blocks == 1:
            return right
        return np.where(elsewhere, other * self.length + place, block * self.length + right)

    def law(self, value: int) -> dict[Report, Fraction]:
        block, row = divmod(value, self.length - 1)
        out: dict[Report, Fraction] = {}
        for report in range(self.reports):
            own = report // self.length == block and (report % self.length & (row + 1)).bit_count() % 2 == 0
            out[report] = self.ratio * self._weight if own else self._weight
        return out

    def scores(self, reports: Any) -> NDArray[np.int64]:
        mine, place = np.divmod(read_values(reports, "reports")[:, None], self.length)
        block, row = np.divmod(np.arange(self.categories), self.length - 1)
        signs = 1 - 2 * (np.bitwise_count(place & (row + 1)) & 1).astype(np.int64)
        return np.where(mine == block, signs, 0)

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        counts = count_reports(reports, self.reports, times).reshape(self.blocks, self.length)
        block, row = np.divmod(np.arange(self.categories), self.length - 1)
        return Tally(self.id, int(counts.sum()), walsh(counts)[block, row + 1], counts.sum(axis=1)[block])


def walsh(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Walsh-Hadamard transform of each row, whose length is a power of two: exact."""
    out = rows.copy()
    length, step = rows.shape[1], 1
    while step < length:
        halves = out.reshape(len(out), -1, 2, step)
        low, high = halves[:, :, 0].copy(), halves[:, :, 1]
        halves[:, :, 0] += high
        halves[:, :, 1] = low - high
        step *= 2
    return out
