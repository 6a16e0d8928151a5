"""What is added up where rows are not counted: a bounded column, or sampling weights, so that counts are weighted.

The engine sums whole steps of the column's lattice, and noise is added to those. Methods that turn noisy numbers into
consistent ones are made for counts, and read a number's size against one: so noisy sums are first rounded to a unit far
below their noise, a round number where one fits (`unit_for`), and everything published is a multiple of it. The unit
follows from declared bounds and the price alone; rounding what is noisy already costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.note import Note
from discreet.core.release import number
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.aggregate import Sum
from discreet.query.aggregate.base import Pair, read_pair, write_pair
from discreet.query.measure import Total
from discreet.query.notes import value_notes
from discreet.trees.rules import NO_BOUND, Rules

__all__ = ["Magnitude", "coarse_noise", "coarse_values", "magnitude_of", "rounding_notes", "rules_in_units", "unit_for"]

Noise = Laplace | Gaussian

_FINE = (
    32  # units that the smallest deviation of the noise has at least: rounding adds a ten-thousandth to its variance
)
_FINEST = 1 << 14  # units that it may have at most: methods tabulate the law of the noise
_DIGITS = 256  # the law of coarse noise is written to this part of a unit: samplers are quick with short fractions


@dataclass(frozen=True, slots=True)
class Magnitude:
    """A column that is summed in every region and cell, its values moved into bounds; if `weight`, rows' weights."""

    column: str
    bounds: Pair | None = None
    weight: bool = False

    def checked(self, schema: Schema) -> Magnitude:
        """The same, read against a schema."""
        field = "weight" if self.weight else "measure"
        schema.numeric(self.column, field)
        lower, upper = self._sum.limits(schema)
        if lower < 0 and self.bounds is not None:
            raise InputError("bounds", [float(lower), float(upper)], "a pair from zero up: no published sum is less")
        if lower < 0:
            hint = f"Give bounds=(0, {float(upper):g}): what is below zero then counts as zero."
            allowed = "a column whose values are declared to be zero or more: no published sum is less"
            raise InputError(field, self.column, allowed, hint)
        self.total(schema)  # which raises what a run would
        return replace(self, column=self._sum.canonical(schema).column)

    def total(self, schema: Schema) -> Total:
        """What one row adds: whole steps of a lattice, none of them negative."""
        return self._sum.total(schema)

    @property
    def aggregate(self) -> tuple[str, Sum]:
        """The output of the question that the engine answers."""
        return self.output, self._sum

    @property
    def output(self) -> str:
        """The column of published tables that holds it."""
        named = "".join(mark if mark.isalnum() else "_" for mark in self.column)
        return "count" if self.weight else f"sum_{named}"

    @property
    def words(self) -> str:
        """What is published, in words."""
        return f"weighted number of records (sum of {self.column})" if self.weight else f"sum of {self.column}"

    @property
    def heading(self) -> str:
        """What is published, in a title."""
        return f"weighted counts (by {self.column})" if self.weight else f"sum of {self.column}"

    def notes(self, schema: Schema, cell: str) -> list[Note]:
        """What bounds, gaps and limits on a person's rows do to it."""
        found = [replace(note, outputs=()) for note in value_notes([self.aggregate], schema)]
        unit = schema.unit
        if unit.column is not None and unit.rows_total is None:
            text = (
                f"In a {cell} the sum of all rows of each {unit.column} counts, cut at what {unit.rows:,} "
                f"{'row' if unit.rows == 1 else 'rows'} can add at most."
            )
            found.append(Note("rows", text, ()))
        if self.weight:
            text = (
                "Intervals are about the noise alone: how far the sample itself may be off is not in them, nor is it "
                "known from weights alone."
            )
            found.append(Note("sampling", text, ()))
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        entry: dict[str, Any] = {"column": self.column}
        if self.bounds is not None:
            entry["bounds"] = write_pair(self.bounds)
        return {**entry, "weight": True} if self.weight else entry

    @classmethod
    def from_dict(cls, entry: Any) -> Magnitude | None:
        """What `to_dict` was called of; None of records that count rows."""
        if not isinstance(entry, Mapping) or not isinstance(entry.get("column"), str):
            return None
        bounds = entry.get("bounds")
        return cls(entry["column"], None if bounds is None else read_pair(bounds, "bounds"), bool(entry.get("weight")))

    @property
    def _sum(self) -> Sum:
        return Sum(self.column, self.bounds)


def magnitude_of(measure: str | None, weight: str | None, bounds: Pair | None) -> Magnitude | None:
    """What is added up, as it is asked for; None where rows are counted."""
    if measure is not None and weight is not None:
        hint = "Derive a column that is the product of both, with bounds of its own, and give it as measure."
        raise InputError("weight", weight, "left out where measure is given", hint)
    column = weight if measure is None else measure
    if column is not None:
        return Magnitude(column, bounds, weight is not None)
    if bounds is not None:
        raise InputError("bounds", [float(end) for end in bounds], "left out unless measure or weight is given")
    return None


def unit_for(step: Fraction, deviation: float, rules: Rules) -> Fraction:
    """The unit of published numbers, for a lattice of such steps and noise of at least such a deviation, in steps.

    The largest power of ten of which the deviation holds 32 or more; below one, a power of two. Public totals must be
    multiples of it.

    >>> [str(unit_for(Fraction(1, 4), deviation, Rules())) for deviation in (3, 200, 1e6)]
    ['1/4', '1', '1000']
    >>> str(unit_for(Fraction(1, 4), 1e6, Rules(totals={"all": [52_300]})))
    '100'
    """
    most = Fraction(deviation) * step / _FINE
    tens = [Fraction(10) ** k for k in range(19)]
    twos = [step * 2**k for k in range(61) if k == 0 or step * 2**k <= max(1, step)]
    found = step
    for unit in sorted((*tens, *twos), reverse=True):
        fits = unit <= most and (unit / step).denominator == 1
        if fits and (deviation * step / unit >= _FINEST or _meets(rules, unit)):
            found = unit
            break
    rules_in_units(rules, found)
    return found


def _meets(rules: Rules, unit: Fraction) -> bool:
    try:
        rules_in_units(rules, unit)
    except InputError:
        return False
    return True


def rules_in_units(rules: Rules, unit: Fraction) -> Rules:
    """Rules about published numbers as rules about multiples of a unit: bounds of those that lie within."""
    if unit == 1:
        return rules
    below = {name: _units(values, unit, math.ceil) for name, values in rules.lower.items()}
    above = {name: _units(values, unit, math.floor) for name, values in rules.upper.items()}
    totals: dict[str, Any] = {}
    for name, values in rules.totals.items():
        for value in np.ravel(np.asarray(values)).tolist():
            if value >= 0 and (Fraction(value) / unit).denominator != 1:
                hint = "A higher price makes it smaller; or leave the total out, or round it."
                allowed = f"a multiple of {number(float(unit))}, the unit of what noise leaves of these sums"
                raise InputError(f"rules.totals.{name}", value, allowed, hint)
        totals[name] = _units(values, unit, int)
    return replace(rules, lower=below, upper=above, totals=totals)


def _units(values: Any, unit: Fraction, round_: Any) -> Any:
    """Whole numbers of units; what stands for no number and for no bound stays."""
    given = np.asarray(values)
    if given.dtype.kind not in "iuf" or not np.isfinite(given).all():
        return values  # which is said where rules are read
    flat = [
        int(one) if one < 0 or one >= NO_BOUND else min(round_(Fraction(one) / unit), NO_BOUND)
        for one in given.ravel().tolist()
    ]
    return np.array(flat, np.int64).reshape(given.shape)


def rounding_notes(unit: Fraction, grain: int) -> list[Note]:
    """What is to be said of sums that were rounded after noise was added."""
    if grain == 1:
        return []
    return [Note("rounding", f"Sums are published as multiples of {number(float(unit))}, far below their noise.", ())]


def coarse_values(noisy: Any, grain: int) -> Any:
    """Noisy whole numbers of steps as whole numbers of units of `grain` steps, the nearest."""
    return noisy if grain == 1 else (noisy + grain // 2) // grain


def coarse_noise(noise: Noise, grain: int) -> Noise:
    """The law of the noise in units of `grain` steps: as wide, in few digits."""
    if grain == 1:
        return noise
    match noise:
        case Laplace(scale=scale):
            return Laplace(_short(scale / grain))
        case Gaussian(sigma=sigma):
            return Gaussian(_short(sigma / grain))


def _short(scale: Fraction) -> Fraction:
    return max(Fraction(round(scale * _DIGITS), _DIGITS), Fraction(1, _DIGITS))
