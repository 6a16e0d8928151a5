"""What is counted for real: integers per row, summed per group, with noise added once. Outputs are made from these."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.core.exact import sqrt_up
from discreet.core.lattice import Lattice
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Integer, Numeric
from discreet.data.schema import Schema
from discreet.errors import InputError

__all__ = [
    "WEIGHTED",
    "Complete",
    "Coordinate",
    "Cross",
    "Distinct",
    "Measure",
    "Moment",
    "People",
    "Rows",
    "Total",
    "lattice_for",
    "moment_lattice",
    "vector_sensitivity",
    "with_values",
]

_FINE = 20  # a real column is cut into about 2**20 steps
_FINER = 22  # for moments, whose rounding must stay below the noise of a million rows
_SQUARE = 2**24  # no square is larger, in the steps it is rounded to
_LARGEST = 2**30


@dataclass(frozen=True, slots=True)
class Rows:
    """One for every row; with a column, one for every row where it has a value."""

    column: str | None = None

    lowest = 0
    highest = 1
    per_person = False


@dataclass(frozen=True, slots=True)
class Complete:
    """One for every row in which all of these columns have a value."""

    columns: tuple[str, ...]

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
class Distinct:
    """One for every different value of a column; of a person at most the unit's `rows` values count in a group.

    Values that several persons have count once, so that a person adds at most what they would add alone.
    """

    column: str

    lowest = 0
    highest = 1
    per_person = False


@dataclass(frozen=True, slots=True)
class Total:
    """A column's value on its lattice; nothing where it is missing. A person's sum is cut at the limits.

    With `person`, it is cut to these two numbers of steps instead, however many rows it is of.
    """

    column: str
    lattice: Lattice
    person: tuple[int, int] | None = None

    per_person = False

    @property
    def raised(self) -> bool:
        """Whether its bounds on a person's sum leave out zero: who has no value must then not be moved into them."""
        return self.person is not None and not self.person[0] <= 0 <= self.person[1]

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        return self.lattice.lowest

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return self.lattice.highest


@dataclass(frozen=True, slots=True)
class Moment:
    """A power, 1 or 2, of a column's distance from the middle of its lattice; nothing where it is missing.

    Both powers are taken of the same rounded value, so that they describe one and the same distribution. Of a person
    with more values than the unit's `rows`, the mean counts, `rows` times: nothing is cut, and `weight` counts alike.
    Where it counts complete rows only, so does this.
    """

    column: str
    lattice: Lattice
    power: int
    weight: Rows | Complete

    per_person = False

    def of(self, steps: Any) -> Any:
        """What a value of so many whole steps adds: an integer, or an engine's expression of one."""
        away = steps - self.middle
        if self.power == 1:
            return away
        square = away * away
        return (((square + (1 << self.shift >> 1)) >> self.shift) if self.shift else square) - self.centre

    @property
    def middle(self) -> int:
        """The lattice point from which distances are taken."""
        return (self.lattice.lowest + self.lattice.highest) // 2

    @property
    def shift(self) -> int:
        """Squares are rounded to multiples of 2**shift steps, halves up."""
        return 0 if self.power == 1 else max(0, (self._farthest**2 - 1).bit_length() - (_SQUARE - 1).bit_length())

    @property
    def centre(self) -> int:
        """What is taken off every rounded square, so that sums lie around zero."""
        return 0 if self.power == 1 else self._largest // 2

    @property
    def _farthest(self) -> int:
        return max(self.lattice.highest - self.middle, self.middle - self.lattice.lowest)

    @property
    def _largest(self) -> int:
        return (self._farthest**2 + (1 << self.shift >> 1)) >> self.shift

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        return self.lattice.lowest - self.middle if self.power == 1 else -self.centre

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return self.lattice.highest - self.middle if self.power == 1 else self._largest - self.centre


@dataclass(frozen=True, slots=True)
class Cross:
    """The product of the distances of two first moments, of the same rows, whose values it rounds as they do."""

    first: Moment
    second: Moment

    per_person = False

    def of(self, away: Any, other: Any) -> Any:
        """What two distances add, in whole steps: an integer, or an engine's expression of one."""
        product = away * other
        if not self.shift:
            return product
        half, above = 1 << self.shift >> 1, self._largest + 1  # nothing negative is shifted: engines may differ there
        return ((product + (half + (above << self.shift))) >> self.shift) - above

    @property
    def weight(self) -> Rows | Complete:
        """How many rows it is of."""
        return self.first.weight

    @property
    def shift(self) -> int:
        """Products are rounded to multiples of 2**shift, halves up."""
        return max(0, (self._farthest - 1).bit_length() - (_SQUARE - 1).bit_length())

    @property
    def _farthest(self) -> int:
        return max(-self.first.lowest, self.first.highest) * max(-self.second.lowest, self.second.highest)

    @property
    def _largest(self) -> int:
        return (self._farthest + (1 << self.shift >> 1)) >> self.shift

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        return -self._largest

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return self._largest


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One coordinate of a vector of columns, whose length is cut to `radius` steps; nothing where one is missing.

    All coordinates of a vector have lattices of one step. A vector that is longer is made shorter, towards zero, in
    whole numbers: so no row adds a vector longer than `radius`, and every engine adds the same. Of a person with more
    rows than the unit's `rows`, the mean counts, `rows` times, made shorter too where it is no whole number.
    """

    columns: tuple[str, ...]
    lattices: tuple[Lattice, ...]
    radius: int
    place: int
    weight: Rows | Complete

    per_person = False

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        return max(min(0, self.lattices[self.place].lowest), -self.radius)

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return min(max(0, self.lattices[self.place].highest), self.radius)

    @property
    def vector(self) -> tuple[Coordinate, ...]:
        """All coordinates of its vector."""
        return tuple(replace(self, place=place) for place in range(len(self.columns)))


WEIGHTED = (Moment, Cross, Coordinate)
"""What is scaled down with the number of rows it is of, where a person has more than count."""

Measure = Rows | Complete | People | Distinct | Total | Moment | Cross | Coordinate


@functools.lru_cache(maxsize=4096)
def lattice_for(column: Numeric, lower: Fraction, upper: Fraction) -> Lattice:
    """The grid a column is summed on: whole numbers where they fit, else steps far below the noise.

    It follows from the declared bounds alone.
    """
    exponent = 0 if isinstance(column, Integer) else -60
    while (upper - lower) / Fraction(2) ** exponent > 2**_FINE or _far(lower, upper, exponent):
        if isinstance(column, Integer) and not _far(lower, upper, 0):
            break  # whole numbers stay whole as long as their sums fit
        exponent += 1
    return _wide_enough(Lattice(lower, upper, exponent), lower, upper)


@functools.lru_cache(maxsize=4096)
def moment_lattice(column: Numeric, lower: Fraction, upper: Fraction, *, whole: bool) -> Lattice:
    """The one grid of a column's mean and variance.

    With `whole`, whole numbers keep steps of one where they fit. Without, they get finer ones: a person's mean is a
    fraction.
    """
    exponent = 0 if isinstance(column, Integer) and whole else -60
    if isinstance(column, Integer):  # values are whole numbers, so bounds between two of them mean the nearer one
        lower, upper = (Fraction(math.floor(bound + Fraction(1, 2))) for bound in (lower, upper))
    while (upper - lower) / Fraction(2) ** exponent > 2**_FINER or _far(lower, upper, exponent):
        exponent += 1
    return _wide_enough(Lattice(lower, upper, exponent), lower, upper)


def _far(lower: Fraction, upper: Fraction, exponent: int) -> bool:
    return max(abs(lower), abs(upper)) / Fraction(2) ** exponent > _LARGEST


def _wide_enough(lattice: Lattice, lower: Fraction, upper: Fraction) -> Lattice:
    if lattice.width == 0:
        hint = "Subtract a constant from the column, or measure it in smaller units."
        allowed = f"further apart: so far from zero, values are read in steps of {float(lattice.step):g}"
        raise InputError("bounds", [float(lower), float(upper)], allowed, hint)
    return lattice


def with_values(measures: Sequence[Measure], schema: Schema) -> list[Measure]:
    """Measures, and after them how many values those sums are of that count only for persons who have one."""
    columns = [each.column for each in measures if isinstance(each, Total) and each.raised]
    needed = [Rows(column) for column in dict.fromkeys(columns) if schema.columns[column].nullable]
    return [*measures, *(each for each in needed if each not in measures)]


def contribution(measure: Measure, unit: Unit) -> tuple[int, int]:
    """The least and the most one unit can add to one group, zero included: it may have no row there."""
    if isinstance(measure, Total) and measure.person is not None:
        return min(0, measure.person[0]), max(0, measure.person[1])
    rows = 1 if measure.per_person else unit.most_rows
    return min(0, rows * measure.lowest), max(0, rows * measure.highest)


def _total(measure: Measure, unit: Unit) -> int | None:
    """What the rows of one unit add over all groups at most, where those rows are limited; None where it is not known.

    Bounds on a person's sum that leave out zero may raise it: then a few rows add more than their values.
    """
    if not unit.shares or measure.per_person or (isinstance(measure, Total) and measure.raised):
        return None
    return unit.most_total * max(-measure.lowest, measure.highest)


def sensitivity(measure: Measure, unit: Unit, groups: int) -> Sensitivity:
    """How far one unit can move this measure over `groups` groups.

    Add/remove: at most `unit.most_groups` groups, each by at most the larger end of the contribution, all of them by at
    most what `unit.most_total` rows add. Replace: a removal and an addition, so twice as many groups, each by at most
    the whole width, all by at most twice as much. Proof: docs/proofs/query.md.
    """
    low, high = contribution(measure, unit)
    touched = min(unit.most_groups, groups)
    total = _total(measure, unit)
    if unit.neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(each=max(-low, high), outputs=touched, total=total)
    return Sensitivity(each=high - low, outputs=min(2 * touched, groups), total=None if total is None else 2 * total)


def vector_sensitivity(measure: Coordinate, unit: Unit, groups: int) -> tuple[int, int]:
    """How far one unit moves all coordinates of a vector in `groups` groups together: its L2 norm, and its L1 norm.

    A unit of so many rows adds as many vectors, none longer than the radius, perhaps all in one group. A person adds
    one in each of at most `unit.most_groups` groups, none longer than `unit.most_rows` times the radius, and all
    together at most `unit.most_total` times it. Replaced, a unit takes away as much. A vector of m coordinates has an
    L1 norm of at most sqrt(m) times its length, also where it is a sum over groups. Proof: docs/proofs/query.md.
    """
    ends = 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2
    together = unit.most_total * measure.radius
    length = together
    if unit.column is not None:
        touched = min(unit.most_groups, groups)
        corner = Sensitivity(each=unit.most_rows * measure.radius, outputs=touched, total=together)
        together, length = corner.l1, math.ceil(sqrt_up(Fraction(corner.l2_squared)))
    return ends * length, math.ceil(ends * together * sqrt_up(Fraction(len(measure.columns))))
