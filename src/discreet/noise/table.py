"""Exact sampling by lazy inversion: the one algorithm behind every sampler here.

Think of a uniform real number U in [0, 1), written in binary without end. The outcome is the first index i with
U < CDF(i). We never need all of U: bits are drawn until the bounds on the CDF decide. The probabilities are therefore
exactly those of the law, not an approximation of it, although every number handled is a finite integer.

Level 1: 16 bits of U and one lookup settle all but about one draw in a hundred.
Level 2: 64 bits of U and a binary search settle all but about one draw in 2**50.
Level 3: more bits of U, tighter bounds on the CDF, until settled.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.bits import words

__all__ = ["CHUNK", "Law", "Table", "settle", "table", "zigzag"]

CHUNK = 1 << 15  # draws handled at a time: what they touch stays in cache
_OPEN = np.int16(-(1 << 15))  # marks a cell that a lookup does not settle


class Law(Protocol):
    """A distribution on the indices 0, 1, 2, ... whose CDF can be bounded as tightly as one likes."""

    def cdf(self, bits: int) -> tuple[Sequence[int], Sequence[int]]:
        """Integers low[i] <= 2**bits * P(index <= i) <= high[i], both non-decreasing.

        A finite law lists every index and ends at exactly 2**bits. An infinite one lists rows until the mass beyond
        is below 2**-bits.
        """
        ...

    def decode(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outcomes the indices stand for; they fit 16 bits for every index `cdf(192)` lists."""
        ...

    def __hash__(self) -> int: ...


@lru_cache(maxsize=64)
def _cdf(law: Law, bits: int) -> tuple[Sequence[int], Sequence[int]]:
    return law.cdf(bits)


def settle(law: Law, prefix: int, depth: int, bits: Bits) -> int:
    """The index chosen by a uniform real whose first `depth` bits are `prefix`: level 3."""
    while True:
        prefix = prefix << 64 | int(words(bits, 1)[0])
        depth += 64
        low, high = _cdf(law, depth)
        index = bisect_left(low, prefix + 1)  # the first CDF certainly above U
        if index < len(low) and (index == 0 or high[index - 1] <= prefix):
            return index


class Table:
    """A law prepared for drawing many values.

    `quick` and `depth` are the bits of levels 1 and 2; tests make them tiny so that every level is reached often.
    """

    __slots__ = ("_cells", "_cuts", "_depth", "_law", "_quick", "_values")

    def __init__(self, law: Law, quick: int = 16, depth: int = 64) -> None:
        cuts = _cuts(law, depth)
        values = law.decode(np.arange(len(cuts) + 1, dtype=np.int64)).astype(np.int16)
        shift = np.uint64(depth - quick)
        first = np.arange(1 << quick, dtype=np.uint64) << shift
        last = first + np.uint64((1 << (depth - quick)) - 1)
        index = np.searchsorted(cuts, first, side="left")
        settled = index == np.searchsorted(cuts, last, side="right")  # no cut inside the cell
        self._law = law
        self._quick, self._depth = quick, depth
        self._cuts: NDArray[np.uint64] = cuts
        self._values: NDArray[np.int16] = values
        self._cells: NDArray[np.int16] = np.where(settled, values[index], _OPEN).astype(np.int16)

    def draw(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """`count` independent outcomes."""
        out = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            self.fill(out[start : start + CHUNK], bits)
        return out

    def fill(self, out: NDArray[np.int64], bits: Bits) -> None:
        """Write independent outcomes into `out`, at most `CHUNK` of them."""
        cell = bits.read(2 * len(out)).view(np.uint16)
        if self._quick < 16:
            cell = cell >> np.uint16(16 - self._quick)
        found = self._cells.take(cell, mode="clip")
        out[:] = found
        for_search = np.flatnonzero(found == _OPEN)
        if len(for_search):
            out[for_search] = self._search(cell[for_search], bits)

    def _search(self, cell: NDArray[np.uint16], bits: Bits) -> NDArray[np.int64]:
        rest = self._depth - self._quick
        prefix = cell.astype(np.uint64) << np.uint64(rest) | words(bits, len(cell)) >> np.uint64(64 - rest)
        index = np.searchsorted(self._cuts, prefix, side="left")
        found = self._values.take(index).astype(np.int64)
        touching = self._cuts.take(index, mode="clip") == prefix
        for i in np.flatnonzero(touching):
            settled = settle(self._law, int(prefix[i]), self._depth, bits)
            found[i] = self._law.decode(np.asarray([settled], dtype=np.int64))[0]
        return found

    @property
    def cuts(self) -> NDArray[np.uint64]:
        """floor(2**depth * CDF(i)) for every index but a finite law's last."""
        return self._cuts


@lru_cache(maxsize=256)
def table(law: Law) -> Table:
    """The table of `law`, built once."""
    return Table(law)


def _cuts(law: Law, depth: int) -> NDArray[np.uint64]:
    """The exact floors of 2**depth * CDF; U is below CDF(i) if its prefix is below cut i, above if above."""
    top = (1 << depth) - 1
    for guard in (64, 128, 512):
        low, high = law.cdf(depth + guard)
        if low[-1] == 1 << (depth + guard):  # a finite law: its last outcome takes what is left
            low, high = low[:-1], high[:-1]
        floors = [value >> guard for value in low]
        if floors == [min(value >> guard, top) for value in high]:  # a CDF short of its end is below one
            return np.array(floors, dtype=np.uint64)
    raise ArithmeticError(f"the CDF of {law!r} cannot be distinguished from a multiple of 2**-{depth}")


def zigzag(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2, 3, 4... as 0, -1, 1, -2, 2...: the order in which two-sided laws list their outcomes."""
    outcome: NDArray[np.int64] = (index >> 1) ^ -(index & 1)
    return outcome
