"""What is added up where rows are not counted: a bounded column, or sampling weights, so that counts are weighted.

The engine sums whole steps of the column's lattice, and noise is added to those. What is then made of large numbers is
in `grain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.core.note import Note
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import Sum
from discreet.query.aggregate.base import Pair, read_pair, write_pair
from discreet.query.measure import Total
from discreet.query.notes import value_notes

__all__ = ["Magnitude", "magnitude_of"]


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
        if self.weight and lower < 1:
            hint = f"Give bounds=(1, {float(upper):g}): what is below one then counts as one. Other factors: measure."
            if self.bounds is not None:
                allowed = "a pair from one up: a sampling weight says how many a row stands for"
                raise InputError(
                    "bounds", [float(lower), float(upper)], allowed, "Other factors can be summed: measure."
                )
            allowed = "a column whose values are declared to be one or more: how many a row stands for"
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
                f"In each {cell}, the sum of the rows of each {unit.column} is clipped to the most that {unit.rows:,} "
                f"{'row' if unit.rows == 1 else 'rows'} can add."
            )
            found.append(Note("rows", text, ()))
        if self.weight:
            text = (
                "Intervals cover the noise alone. They do not include the sampling error, which weights alone do not "
                "determine."
            )
            found.append(Note("sampling", text, ()))
        elif found:
            text = (
                f"Intervals and quality flags are about the clipped sum of {self.column}: the sum without clipping may "
                "lie outside."
            )
            found.append(Note("bounds", text, ()))
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
