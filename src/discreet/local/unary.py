"""Unary encoding: one scrambled bit for each category, one's own more likely set than the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, plain, settle
from discreet.core.exact import sqrt_down
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.local.draws import flips, packed_flips
from discreet.local.estimate import Tally
from discreet.local.packed import bit_sums, place_of, read_packed, width_of
from discreet.local.protocol import Layout, Oracle, Report
from discreet.local.ratio import root_below
from discreet.noise.bits import SystemBits

__all__ = ["OUE", "SUE"]

_LISTED = 12  # categories up to which all reports can be listed


class _Unary(Oracle):
    """Bits of their own: set with probability `hit` for one's category, `miss` for each other one."""

    __slots__ = ()
    layout: ClassVar[Layout] = "packed"

    @property
    def reports(self) -> int:
        return 1 << self.categories

    def _randomize(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.uint8]:
        source = bits if bits is not None else SystemBits()
        width = width_of(self.categories)
        rows = packed_flips(self.miss, len(values) * width, source).reshape(-1, width)
        rows[:, -1] &= np.uint8(256 - (1 << (8 * width - self.categories)))
        own = np.arange(len(values))
        place, mask = place_of(values)
        cleared = rows[own, place] & ~mask
        rows[own, place] = cleared | mask * flips(self.hit, len(values), source)
        return rows

    def law(self, value: int) -> dict[Report, Fraction]:
        if self.categories > _LISTED:
            raise InputError("categories", self.categories, f"at most {_LISTED} to list every report")
        width = width_of(self.categories)
        out: dict[Report, Fraction] = {}
        for number in range(self.reports):
            chance = Fraction(1)
            for place in range(self.categories):
                heads = self.hit if place == value else self.miss
                chance *= heads if number >> place & 1 else 1 - heads
            packed = sum(1 << (8 * width - 1 - place) for place in range(self.categories) if number >> place & 1)
            out[packed.to_bytes(width, "big")] = chance
        return out

    def scores(self, reports: Any) -> NDArray[np.int64]:
        rows = read_packed(reports, self.categories)
        return np.unpackbits(rows, axis=1)[:, : self.categories].astype(np.int64)

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        rows = read_packed(reports, self.categories)
        sums = bit_sums(rows, self.categories, times)
        return Tally(self.id, len(rows) if times is None else int(np.sum(times)), sums, sums)


@frozen(field_transformer=named)
class OUE(_Unary):
    """Optimised unary encoding: one's own bit is a fair coin, every other is set with odds 1 : ratio.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.

    >>> OUE(100, epsilon=1).report_bits
    100
    """

    kind: ClassVar[str] = "oue"

    @property
    def hit(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def miss(self) -> Fraction:
        return 1 / (self.ratio + 1)


@frozen(field_transformer=named)
class SUE(_Unary):
    """Symmetric unary encoding: every bit is kept with odds root : 1, root^2 = ratio. The basic form of RAPPOR.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.
    """

    kind: ClassVar[str] = "sue"

    def __attrs_post_init__(self) -> None:
        free = self.ratio is AUTO
        super().__attrs_post_init__()
        if free:
            settle(self, ratio=root_below(self.epsilon) ** 2)
        elif self._root**2 != self.ratio:
            raise InputError("ratio", plain(self.ratio), "the square of a fraction")

    @property
    def _root(self) -> Fraction:
        return sqrt_down(self.ratio)

    @property
    def hit(self) -> Fraction:
        return self._root / (self._root + 1)

    @property
    def miss(self) -> Fraction:
        return 1 / (self._root + 1)
