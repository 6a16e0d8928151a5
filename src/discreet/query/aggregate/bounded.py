"""Aggregates of a numeric column whose values are moved into bounds, which may be private."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Literal, TypeVar

from discreet.core.exact import Number, as_written
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import Aggregate, Derived, rows_of, setting
from discreet.query.function import Argument
from discreet.query.measure import Moment, moment_lattice

__all__ = ["NUMERIC", "PRIVATE", "SEARCHED", "Bounded", "Limits", "Moments", "Pair", "read_limits", "settled"]

Pair = tuple[Fraction, Fraction]
Bounds = Pair | Literal["private"] | None
Limits = Sequence[Number] | Literal["private"] | None

PRIVATE: Final = "private"
"""Bounds nobody knows: searched for, at a price, by the plan of `discreet.query.private_bounds`."""
NUMERIC = (Integer, Real)
SEARCHED = Argument("bounds", PRIVATE)


def read_limits(bounds: Limits) -> Bounds:
    """Bounds as people give them."""
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


def _write_limits(bounds: Any) -> Any:
    return bounds if bounds == PRIVATE else [str(bound) for bound in bounds]


@dataclass(frozen=True, slots=True)
class Bounded(Aggregate):
    """A statistic of one numeric column, its values moved into `bounds` (the declared ones unless given)."""

    column: str
    bounds: Bounds = field(default=None, metadata=setting(read_limits, _write_limits))

    @property
    def private(self) -> bool:
        """Whether its bounds are still to be found."""
        return self.bounds == PRIVATE

    def limits(self, schema: Schema) -> Pair:
        """The bounds in force."""
        declared = schema.numeric(self.column, self.named())
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

    def stretched(self, low: Fraction, high: Fraction, schema: Schema) -> Pair:
        """The bounds that it takes where a search found these."""
        return low, high

    @abstractmethod
    def unit(self, schema: Schema) -> tuple[float, str]:
        """What its error is a multiple of where bounds are private: how large that is for the declared ones, and
        in words that name COLUMN_low and COLUMN_high."""

    def declared(self, schema: Schema) -> tuple[float, float, str, str]:
        """The declared bounds, and the names of those that a search finds."""
        ends = schema.numeric(self.column, "bounds")
        return float(ends.lower), float(ends.upper), f"{self.column}_low", f"{self.column}_high"


@dataclass(frozen=True, slots=True)
class Moments(Bounded, Derived):
    """A statistic made of moments of one column, over the number of its values."""

    def moment(self, schema: Schema, power: int) -> Moment:
        """The sum of a power of the distance from the middle of the bounds."""
        column = schema.numeric(self.column, self.named())
        lattice = moment_lattice(column, *self.limits(schema), whole=schema.unit.column is None)
        return Moment(self.column, lattice, power, rows_of(schema, self.column))

    def rounded(self, schema: Schema) -> tuple[float, float]:
        """How far rounding to the lattice moves a value at most, and how far it moves the mean of a person's values."""
        step = float(self.moment(schema, 1).lattice.step)
        exact = isinstance(schema.columns[self.column], Integer) and step <= 1
        return 0.0 if exact else step / 2, 0.0 if schema.unit.column is None else step / 2

    def unit(self, schema: Schema) -> tuple[float, str]:
        """What its error is a multiple of where bounds are private, and how large that is for the declared ones."""
        low, high, lower, upper = self.declared(schema)
        return high - low, f"times ({upper} - {lower})"

    def limited(self, who: str, rows: str) -> tuple[str, str]:
        """What the limit on the rows of one person does to it."""
        return "weighted", f"Of each {who} with more than {rows} in a group the mean counts, as {rows}."


_Any = TypeVar("_Any", bound=Aggregate)


def settled(aggregate: _Any, bounds: Pair | None) -> _Any:
    """The same with these bounds (the declared ones for None) where its own are private."""
    if not isinstance(aggregate, Bounded) or not aggregate.private:
        return aggregate
    return replace(aggregate, bounds=bounds)
