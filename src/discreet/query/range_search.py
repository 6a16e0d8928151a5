"""Where most of a column's values lie, found privately: noisy counts of a few bins that end at round numbers.

A bin is taken for sure if its noisy count is one that no empty bin reaches, except with a small chance for all of them
together. From the outermost such bins the range grows into its neighbours for as long as their counts are ones that an
empty bin seldom reaches: what is then at stake is one more bin, not a bound that is far beyond the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.contribution import GROUP, fresh_salt
from discreet.query.grid import DECADES, Decades, grid_for
from discreet.query.group import group_number
from discreet.query.key import Key
from discreet.query.question import Query
from discreet.query.tally import BIN, ROWS, compile_tally

__all__ = ["SURE", "RangeSearch", "moved_by_one", "round_bins"]

Noise = Laplace | Gaussian
Pair = tuple[Fraction, Fraction]

SURE = 0.999
"""The confidence, for all bins together, that no empty one is taken for full and no full one for empty."""

_LIKELY = 0.9  # two-sided: an empty neighbour is taken for full once in 20
_NARROWEST = 2**24  # a range is at least this part of its distance from zero: it must be told apart in steps
_FINEST = Fraction(1, 2**50)


@dataclass(frozen=True, slots=True)
class RangeSearch:
    """A private search for the bounds of one column, among the round numbers within the declared ones.

    Guarantee: `counts` is the histogram of rows that count, of which one unit moves what `moved_by_one` says, plus
    `noise` on every bin; it costs `loss`, and so does all that follows from it. Proof: docs/proofs/private_bounds.md.
    """

    column: str
    grid: Decades
    noise: Noise
    moved: Sensitivity

    def loss(self) -> Loss:
        """What the search costs."""
        return self.noise.loss(self.moved)

    @property
    def sure(self) -> int:
        """A noisy count above this is that of a bin with rows in it."""
        return self.noise.error(SURE, self.grid.bins)

    @property
    def likely(self) -> int:
        """A noisy count above this is likely that of a bin with rows in it."""
        return self.noise.error(_LIKELY)

    def counts(
        self, condition: Query, keys: Sequence[Key], schema: Schema, data: Connection, bits: Bits
    ) -> NDArray[np.int64]:
        """How many of the rows that count lie in each bin, over all groups, with noise."""
        salt = fresh_salt(bits)
        table, number = group_number(keys, schema, data.table)
        rows = table.filter(number.notnull())  # of the groups that are published, not of others
        found = data.integers(compile_tally(condition, schema, self.column, self.grid, rows, salt))
        exact = np.zeros(self.grid.bins, dtype=np.int64)
        if len(found[GROUP]):
            exact[found[BIN]] = found[ROWS]
        return self.noise.release(exact, bits=bits)

    def found(self, noisy: NDArray[np.int64]) -> Pair:
        """The bounds that noisy counts speak for; the declared ones where they speak for none. Never equal ones."""
        full = np.flatnonzero(noisy > self.sure)
        if not len(full):
            return self.range(0, self.grid.bins - 1)
        first, last = int(full[0]), int(full[-1])
        while first > 0 and noisy[first - 1] > self.likely:
            first -= 1
        while last < self.grid.bins - 1 and noisy[last + 1] > self.likely:
            last += 1
        return self.range(first, last)

    def range(self, first: int, last: int) -> Pair:
        """From the start of one bin to the end of another, and further where that is too narrow to be measured."""
        edges = self.grid.edges
        while _narrow(edges[first], edges[last + 1]) and (first > 0 or last < self.grid.bins - 1):
            first, last = max(first - 1, 0), min(last + 1, self.grid.bins - 1)
        return edges[first], edges[last + 1]


def _narrow(low: Fraction, high: Fraction) -> bool:
    width = high - low
    return width < _FINEST or width * _NARROWEST < max(abs(low), abs(high))


def round_bins(schema: Schema, column: str) -> Decades:
    """The bins a search goes through; refused where there is nothing to search."""
    grid: Any = grid_for(schema.numeric(column, "bounds"), DECADES)
    if grid.bins < 2:
        hint = "Leave bounds out: the declared ones are used."
        ends = f"{float(grid.edges[0]):g}..{float(grid.edges[-1]):g}"
        raise InputError("bounds", "private", f"given or declared: {column} has no round number in {ends}", hint)
    found: Decades = grid
    return found


def moved_by_one(unit: Unit) -> Sensitivity:
    """How far one unit can move the counts: its rows come into bins, or leave them; replaced, they do both."""
    return Sensitivity(each=unit.most_rows, outputs=1 if unit.neighbours is Neighbours.ADD_REMOVE else 2)
