"""Subset selection: report a set of categories that holds one's own more often than chance would have it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, settle, whole_or_none
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.local.draws import flips
from discreet.local.packed import bit_sums, read_packed, width_of
from discreet.local.protocol import Layout, Oracle, Report
from discreet.local.sets import packed_sets
from discreet.local.tally import Tally
from discreet.noise.bits import SystemBits

__all__ = ["Subset"]

_LISTED = 14


@frozen(field_transformer=named)
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
    size: int = field(default=AUTO, converter=whole_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.size is AUTO:
            near = math.floor(self.categories / (self.ratio + 1))
            settle(self, size=min({max(1, near), near + 1}, key=self._variance_with))
        if not 1 <= self.size < self.categories:
            raise InputError("size", self.size, f"a whole number from 1 to {self.categories - 1}")

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
        settle(self, size=size)
        share, hit, miss = Fraction(1, self.categories), self.hit, self.miss
        return (share * hit * (1 - hit) + (1 - share) * miss * (1 - miss)) / (hit - miss) ** 2

    def _scrambled(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.uint8]:
        source = bits if bits is not None else SystemBits()
        return packed_sets(self.categories, self.size, values, flips(self.hit, len(values), source), source)

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
            raise InputError("reports", Phrase("a set of another size"), f"sets of {self.size} categories")
        sums = bit_sums(rows, self.categories, times)
        return Tally(self.id, len(rows) if times is None else int(np.sum(times)), sums, sums)
