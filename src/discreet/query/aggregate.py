"""What a question computes per group, and how it is made from noisy measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.measure import Measure, Moment, People, Rows, Total, lattice_for, moment_lattice

__all__ = [
    "PRIVATE",
    "Aggregate",
    "Count",
    "Mean",
    "Persons",
    "Std",
    "Sum",
    "Variance",
    "aggregate_from",
    "aggregate_to",
    "count",
    "mean",
    "people",
    "settled",
    "std",
    "total",
    "variance",
]

Floats = NDArray[np.float64]
Pair = tuple[Fraction, Fraction]
Bounds = Pair | Literal["private"] | None

PRIVATE: Final = "private"
"""Bounds nobody knows: searched for, at a price, by the plan of `discreet.query.private_bounds`."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows; with a column, how many where it has a value."""

    column: str | None = None

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        if self.column is not None:
            schema.column(self.column, "count")
        return (_rows(schema, self.column),)

    def estimate(self, schema: Schema, noisy: Sequence[Floats]) -> Floats:
        """The answer from noisy measures, group by group."""
        return noisy[0]


@dataclass(frozen=True, slots=True)
class Persons:
    """How many different persons."""

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        if schema.unit.column is None:
            hint = "Declare [unit] column = ..., or use count()."
            raise InputError(
                "people", Phrase("a schema whose unit is a row"), "asked of a schema whose unit is a person", hint
            )
        return (People(),)

    def estimate(self, schema: Schema, noisy: Sequence[Floats]) -> Floats:
        """The answer from noisy measures, group by group."""
        return noisy[0]


@dataclass(frozen=True, slots=True)
class _OfColumn:
    """A statistic of one numeric column, its values moved into `bounds` (the declared ones unless given)."""

    column: str
    bounds: Bounds = None

    @property
    def private(self) -> bool:
        """Whether its bounds are still to be found."""
        return self.bounds == PRIVATE

    def limits(self, schema: Schema) -> Pair:
        """The bounds in force."""
        declared = schema.numeric(self.column, type(self).__name__.lower())
        if self.bounds is None:
            return declared.lower, declared.upper
        if isinstance(self.bounds, str):  # never the declared ones in silence
            hint = f"Buy bounds once with table().suggest_bounds({self.column!r}), and give them as a pair."
            allowed = "declared, or a pair (lower, upper): only questions with public groups search for private ones"
            raise InputError("bounds", self.bounds, allowed, hint)
        low, high = self.bounds
        if low < declared.lower or high > declared.upper:
            allowed = f"within the declared {float(declared.lower):g}..{float(declared.upper):g} of {self.column}"
            raise InputError("bounds", [float(low), float(high)], allowed)
        return low, high


@dataclass(frozen=True, slots=True)
class Sum(_OfColumn):
    """The sum of a column."""

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        return (self.total(schema),)

    def total(self, schema: Schema) -> Total:
        """Its one measure."""
        column = schema.numeric(self.column, "sum")
        return Total(self.column, lattice_for(column, *self.limits(schema)))

    def estimate(self, schema: Schema, noisy: Sequence[Floats]) -> Floats:
        """The answer from noisy measures, group by group."""
        return noisy[0] * float(self.total(schema).lattice.step)


@dataclass(frozen=True, slots=True)
class _Moments(_OfColumn):
    """A statistic made of moments of one column, over the number of its values."""

    def moment(self, schema: Schema, power: int) -> Moment:
        """The sum of a power of the distance from the middle of the bounds."""
        column = schema.numeric(self.column, type(self).__name__.lower())
        lattice = moment_lattice(column, *self.limits(schema), whole=schema.unit.column is None)
        return Moment(self.column, lattice, power, _rows(schema, self.column))

    def rounded(self, schema: Schema) -> tuple[float, float]:
        """How far rounding to the lattice moves a value at most, and how far it moves the mean of a person's values."""
        step = float(self.moment(schema, 1).lattice.step)
        exact = isinstance(schema.columns[self.column], Integer) and step <= 1
        return 0.0 if exact else step / 2, 0.0 if schema.unit.column is None else step / 2


@dataclass(frozen=True, slots=True)
class Mean(_Moments):
    """The mean of a column: its noisy sum around the middle of the bounds, over the noisy count."""

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        first = self.moment(schema, 1)
        return first, first.weight

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        first, (lower, upper) = self.moment(schema, 1), self.extent(schema)
        found = (noisy[0] / np.maximum(noisy[1], 1.0) + first.middle) * float(first.lattice.step)
        return np.clip(found, lower, upper)

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        lower, upper = self.limits(schema)
        return float(lower), float(upper)

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to the lattice may have done."""
        off = sum(self.rounded(schema))
        return lower - off, upper + off


@dataclass(frozen=True, slots=True)
class Variance(_Moments):
    """The variance of a column: the mean squared distance from the mean, or, of a `sample`, over n - 1."""

    sample: bool = False

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        first = self.moment(schema, 1)
        return first, first.weight, self.moment(schema, 2)

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The variance; `excess` is what noise has added to the square of the sum, on average."""
        squares, rows = self.moment(schema, 2), np.maximum(noisy[1], 1.0)
        second = (noisy[2] / rows + squares.centre) * 2.0**squares.shift
        found = (second - (noisy[0] / rows) ** 2 + excess / rows**2) * float(squares.lattice.step) ** 2
        if self.sample:
            found = found * (np.maximum(rows, 2.0) / (np.maximum(rows, 2.0) - 1))
        return np.clip(found, *self.extent(schema))

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be: half the values at each end; of a sample, one of two."""
        lower, upper = self.limits(schema)
        return 0.0, float(upper - lower) ** 2 / (2 if self.sample else 4)

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to the lattice may have done.

        A value moved by at most q moves a standard deviation by at most q. What rounding does to squares, and to sums
        of one person, is added as it is.
        """
        squares, (value, person) = self.moment(schema, 2), self.rounded(schema)
        square = 2.0**squares.shift / 2 * float(squares.lattice.step) ** 2
        once = (square if squares.shift else 0.0) + (0.0 if person == 0 else square)
        low, high = self.limits(schema)
        off = 2 * value * np.sqrt(np.maximum(upper, 0.0)) + value**2 + once + float(high - low) * person
        return lower - off, upper + off


@dataclass(frozen=True, slots=True)
class Std(_Moments):
    """The standard deviation of a column, the root of its variance."""

    sample: bool = False

    @property
    def squared(self) -> Variance:
        """What this is the root of."""
        return Variance(self.column, self.bounds, self.sample)

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        schema.numeric(self.column, "std")
        return self.squared.measures(schema)

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        return np.sqrt(self.squared.estimate(schema, noisy, excess))

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        return 0.0, self.squared.extent(schema)[1] ** 0.5

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to the lattice may have done."""
        low, high = self.squared.widened(schema, lower**2, upper**2)
        return np.sqrt(np.maximum(low, 0.0)), np.sqrt(high)


Aggregate = Count | Persons | Sum | Mean | Variance | Std


def _rows(schema: Schema, column: str | None) -> Rows:
    """A column declared complete has a value in every row: one count serves all."""
    return Rows(column if column is not None and schema.columns[column].nullable else None)


def settled(aggregate: Aggregate, bounds: Pair | None) -> Aggregate:
    """The same with these bounds (the declared ones for None) where its own are private."""
    if not isinstance(aggregate, _OfColumn) or not aggregate.private:
        return aggregate
    return replace(aggregate, bounds=bounds)


def _limits(bounds: Sequence[Number] | Literal["private"] | None) -> Bounds:
    if bounds is None:
        return None
    if isinstance(bounds, str) and bounds == PRIVATE:
        return PRIVATE
    if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        hint = "Private bounds are searched for, with a part of the price."
        raise InputError("bounds", bounds, f"a pair (lower, upper), or {PRIVATE!r}", hint)
    low, high = as_written(bounds[0], "bounds"), as_written(bounds[1], "bounds")
    if low >= high:
        raise InputError("bounds", list(bounds), "a pair with lower below upper")
    return low, high


def count(column: str | None = None) -> Count:
    """How many rows (with a column: how many have a value there)."""
    return Count(column)


def people() -> Persons:
    """How many different persons."""
    return Persons()


def total(column: str, bounds: Sequence[Number] | Literal["private"] | None = None) -> Sum:
    """The sum of a column; `bounds` tighter than the declared ones mean less noise and more clipping.

    With `bounds="private"` a part of the price pays for a search for them.
    """
    return Sum(column, _limits(bounds))


def mean(column: str, bounds: Sequence[Number] | Literal["private"] | None = None) -> Mean:
    """The mean of a column."""
    return Mean(column, _limits(bounds))


def variance(
    column: str, bounds: Sequence[Number] | Literal["private"] | None = None, *, sample: bool = False
) -> Variance:
    """The variance of a column; with `sample`, the estimate from a sample, over n - 1."""
    return Variance(column, _limits(bounds), sample)


def std(column: str, bounds: Sequence[Number] | Literal["private"] | None = None, *, sample: bool = False) -> Std:
    """The standard deviation of a column; with `sample`, the estimate from a sample, over n - 1."""
    return Std(column, _limits(bounds), sample)


_NAMES: dict[str, type[Any]] = {
    "count": Count,
    "people": Persons,
    "sum": Sum,
    "mean": Mean,
    "variance": Variance,
    "std": Std,
}


def aggregate_to(aggregate: Aggregate) -> dict[str, Any]:
    """An aggregate as plain JSON values."""
    entry: dict[str, Any] = {"of": next(name for name, kind in _NAMES.items() if type(aggregate) is kind)}
    if (column := getattr(aggregate, "column", None)) is not None:
        entry["column"] = column
    if (bounds := getattr(aggregate, "bounds", None)) is not None:
        entry["bounds"] = bounds if bounds == PRIVATE else [str(bound) for bound in bounds]
    if getattr(aggregate, "sample", False):
        entry["sample"] = True
    return entry


def aggregate_from(entry: Any) -> Aggregate:
    """An aggregate from its JSON values."""
    forms = "{'of': ..., 'column': ..., 'bounds': [low, high] or 'private'} with of = " + ", ".join(_NAMES)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("of"), str):
        raise InputError("outputs", entry, forms)
    if entry["of"] not in _NAMES:
        raise InputError("outputs", entry["of"], "a function", among=_NAMES)
    kind = _NAMES[entry["of"]]
    fields = {"of"} if kind is Persons else {"of", "column"} if kind is Count else {"of", "column", "bounds"}
    if kind in (Variance, Std):
        fields = {*fields, "sample"}
    sampled = isinstance(entry.get("sample", False), bool)
    if set(entry) - fields or not isinstance(entry.get("column", ""), str) or not sampled:
        raise InputError("outputs", entry, forms)
    if kind is Persons:
        return Persons()
    if kind is Count:
        return Count(entry.get("column"))
    if "column" not in entry:
        raise InputError("outputs", entry, "an object with a column")
    limits = _limits(entry.get("bounds"))
    made: Aggregate = kind(entry["column"], limits, *([bool(entry["sample"])] if "sample" in entry else []))
    return made
