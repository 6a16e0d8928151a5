"""What is counted for real: integers per row, summed per group, with noise added once. Outputs are made from these."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.lattice import Lattice
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.errors import InputError
from discreet.query.column import Integer, Numeric

__all__ = ["Measure", "People", "Rows", "Squares", "Total", "lattice_for"]

_FINE = 20  # a real column is cut into about 2**20 steps
_COARSE = 12  # squares need a coarser grid: 2**24 at most
_LARGEST = 2**30
ROOM = 2**62  # what noise has room around: up to 2**32 rows of the largest value fit


@dataclass(frozen=True, slots=True)
class Rows:
    """One for every row; with a column, one for every row where it has a value."""

    column: str | None = None

    lowest = 0
    highest = 1
    per_person = False


@dataclass(frozen=True, slots=True)
class People:
    """One for every person who has a row."""

    lowest = 0
    highest = 1
    per_person = True


@dataclass(frozen=True, slots=True)
class Total:
    """A column's value on its lattice, less `centre`; nothing where it is missing."""

    column: str
    lattice: Lattice
    centre: int = 0

    per_person = False

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        return self.lattice.lowest - self.centre

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return self.lattice.highest - self.centre


@dataclass(frozen=True, slots=True)
class Squares:
    """The square of a column's distance from the middle of its lattice, less half the largest such square."""

    column: str
    lattice: Lattice

    per_person = False

    @property
    def middle(self) -> int:
        """The lattice point from which values are squared."""
        return (self.lattice.lowest + self.lattice.highest) // 2

    @property
    def centre(self) -> int:
        """What is taken off every square, so that sums lie around zero."""
        return self._largest // 2

    @property
    def _largest(self) -> int:
        return max(self.lattice.highest - self.middle, self.middle - self.lattice.lowest) ** 2

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        return -self.centre

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return self._largest - self.centre


Measure = Rows | People | Total | Squares


@functools.lru_cache(maxsize=4096)
def lattice_for(column: Numeric, lower: Fraction, upper: Fraction, *, coarse: bool = False) -> Lattice:
    """The grid a column is measured on: whole numbers where they fit, else steps far below the noise.

    It follows from the declared bounds alone.
    """
    width = upper - lower
    steps = 2 ** (_COARSE if coarse else _FINE)
    exponent = 0 if isinstance(column, Integer) else -60
    while width / Fraction(2) ** exponent > steps or max(abs(lower), abs(upper)) / Fraction(2) ** exponent > _LARGEST:
        if isinstance(column, Integer) and not coarse and max(abs(lower), abs(upper)) <= _LARGEST:
            break  # whole numbers stay whole as long as their sums fit
        exponent += 1
    lattice = Lattice(lower, upper, exponent)
    if lattice.width == 0:
        hint = "Subtract a constant from the column, or measure it in smaller units."
        allowed = f"further apart: at this distance from zero values are told apart in steps of {float(lattice.step):g}"
        raise InputError("bounds", [float(lower), float(upper)], allowed, hint)
    return lattice


def contribution(measure: Measure, unit: Unit) -> tuple[int, int]:
    """The least and the most one unit can add to one group, zero included: it may have no row there."""
    rows = 1 if measure.per_person or unit.column is None else unit.rows
    return min(0, rows * measure.lowest), max(0, rows * measure.highest)


def sensitivity(measure: Measure, unit: Unit, groups: int) -> Sensitivity:
    """How far one unit can move this measure over `groups` groups.

    Add/remove: at most `unit.groups` groups, each by at most the larger end of the contribution. Replace: a removal and
    an addition, so twice as many groups, each by at most the whole width. Proof: docs/proofs/query.md.
    """
    low, high = contribution(measure, unit)
    touched = 1 if unit.column is None else min(unit.groups, groups)
    if unit.neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(each=max(-low, high), outputs=touched)
    return Sensitivity(each=high - low, outputs=min(2 * touched, groups))
