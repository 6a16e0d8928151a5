"""Subset selection: report a set of categories that holds one's own more often than chance would have it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number
from discreet.core.mechanism import Bits, Integers
from discreet.core.wire import Json
from discreet.errors import InputError
from discreet.local.draws import evenly, flips, packed_flips
from discreet.local.packed import bit_sums, read_packed, width_of
from discreet.local.protocol import Layout, Oracle, Report
from discreet.local.tally import Tally
from discreet.noise.bits import SystemBits

__all__ = ["Subset"]

_LISTED = 14
_ROWS, _CELLS = 1 << 14, 1 << 25  # respondents, and their cells, handled at a time


@dataclass(frozen=True, slots=True)
class Subset(Oracle):
    """Report `size` categories: sets with one's own among them are `ratio` times as likely as others.

    Errs least of all: with the best size, near categories/(e^epsilon + 1), no mechanism has a smaller error when there
    are many respondents. The report is long: one bit for each category.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.

    >>> Subset(100, epsilon=1).size
    27
    """

    kind: ClassVar[str] = "subset"
    layout: ClassVar[Layout] = "packed"
    categories: int
    epsilon: Fraction
    ratio: Fraction
    size: int

    def __init__(
        self,
        categories: int,
        epsilon: Number | None = None,
        *,
        ratio: Number | None = None,
        size: int | None = None,
    ) -> None:
        self._read(categories, epsilon, ratio)
        if size is None:
            near = math.floor(self.categories / (self.ratio + 1))
            size = min({max(1, near), near + 1}, key=self._variance_with)
        elif isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < self.categories:
            raise InputError("size", size, f"a whole number from 1 to {self.categories - 1}")
        object.__setattr__(self, "size", size)

    @property
    def hit(self) -> Fraction:
        return self.size * self.ratio / (self.size * self.ratio + self.categories - self.size)

    @property
    def miss(self) -> Fraction:
        return (self.size - self.hit) / (self.categories - 1)

    @property
    def reports(self) -> int:
        return math.comb(self.categories, self.size)

    @property
    def report_bits(self) -> int:
        return self.categories

    def _variance_with(self, size: int) -> Fraction:
        object.__setattr__(self, "size", size)
        share, hit, miss = Fraction(1, self.categories), self.hit, self.miss
        return (share * hit * (1 - hit) + (1 - share) * miss * (1 - miss)) / (hit - miss) ** 2

    def to_dict(self) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "categories": self.categories,
            "epsilon": str(self.epsilon),
            "ratio": str(self.ratio),
            "size": self.size,
        }

    def _scrambled(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.uint8]:
        source = bits if bits is not None else SystemBits()
        out = np.empty((len(values), width_of(self.categories)), dtype=np.uint8)
        step = min(_ROWS, max(1, _CELLS // self.categories))
        for start in range(0, len(values), step):
            part = values[start : start + step]
            out[start : start + step] = self._sets(part, flips(self.hit, len(part), source), source)
        return out

    def _sets(self, values: NDArray[np.int64], own: NDArray[np.bool_], bits: Bits) -> NDArray[np.uint8]:
        """Sets of the right size, evenly drawn among those that hold `values`, or not, as `own` says.

        Coins make a set of some size, each of that size equally likely; members are then added or taken away, each
        candidate equally likely, until the size is right. So every set of the right size is equally likely.
        """
        k, width, n = self.categories, width_of(self.categories), len(values)
        wanted = self.size - own
        # A little too few: adding is quicker than taking away, as most candidates are not in the set.
        low = self.size - 1 - 0.7 * math.sqrt(self.size * (k - self.size) / k)
        digits = 2048 if k > 512 else 32 if low * 8 > k else 256
        start = Fraction(max(0, math.floor(digits * low / k)), digits)
        cells = np.unpackbits(packed_flips(start, n * width, bits))
        rows, mine = cells.reshape(n, 8 * width), np.arange(n) * (8 * width) + values
        rows[:, k:] = 0
        cells[mine] = 0
        missing = wanted - rows.sum(axis=1, dtype=np.int32)
        self._turn(cells, np.flatnonzero(missing < 0), -missing, 1, bits)
        cells[mine] = 1  # not to be added
        self._turn(cells, np.flatnonzero(missing > 0), missing, 0, bits)
        cells[mine] = own
        return np.packbits(cells).reshape(n, width)

    def _turn(
        self, cells: NDArray[np.uint8], rows: NDArray[np.int64], times: NDArray[Any], old: int, bits: Bits
    ) -> None:
        """Turn as many cells of each row that are `old`, each equally likely."""
        left, base = times[rows], rows * (8 * width_of(self.categories))
        while len(base):
            where = base + evenly(self.categories, len(base), bits)
            good = cells[where] == old
            cells[where[good]] = 1 - old
            left -= good
            going = left > 0
            if not going.all():
                base, left = base[going], left[going]

    def law(self, value: int) -> dict[Report, Fraction]:
        if self.categories > _LISTED:
            raise InputError("categories", self.categories, f"at most {_LISTED} to list every report")
        width = width_of(self.categories)
        out: dict[Report, Fraction] = {}
        total = math.comb(self.categories - 1, self.size - 1) * self.ratio + math.comb(self.categories - 1, self.size)
        for chosen in itertools.combinations(range(self.categories), self.size):
            packed = sum(1 << (8 * width - 1 - place) for place in chosen)
            out[packed.to_bytes(width, "big")] = (self.ratio if value in chosen else 1) / total
        return out

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        rows = read_packed(reports, self.categories)
        if len(rows) and (np.bitwise_count(rows).sum(axis=1, dtype=np.int64) != self.size).any():
            raise InputError("reports", "a set of another size", f"sets of {self.size} categories")
        sums = bit_sums(rows, self.categories, times)
        return Tally(self.id, len(rows) if times is None else int(np.sum(times)), sums, sums)
