"""What every aggregate is: measures that are taken with noise, and an estimate made of them.

An aggregate is one class in one file of this folder. It says how it is written (`functions`), what is measured and what
is made of it; all else follows from the register of `discreet.query.function`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.function import Argument, Function, functions, kind_of
from discreet.query.measure import Measure, Moment, Rows, moment_lattice
from discreet.query.sql_hint import only, refuse

__all__ = [
    "ENDLESS",
    "NUMERIC",
    "PRIVATE",
    "SEARCHED",
    "Additive",
    "Aggregate",
    "Bounded",
    "Derived",
    "Floats",
    "Limits",
    "Moments",
    "Pair",
    "aggregate_from",
    "aggregate_to",
    "plain_name",
    "plain_names",
    "read_limits",
    "read_pair",
    "rows_of",
    "setting",
    "settled",
    "write_pair",
]

Floats = NDArray[np.float64]


def setting(read: Callable[[Any], Any], write: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    """What a field besides the column has as `metadata`: how it is read from JSON, with an error for what is not
    allowed, and how it is written."""
    return {"read": read, "write": write}


class Aggregate(ABC):
    """A number per group, made of noisy sums."""

    __slots__ = ()
    functions: ClassVar[tuple[Function, ...]] = ()
    never_negative: ClassVar[bool] = False
    """Whether only noise can bring it below zero."""
    gaps: ClassVar[str] = "as the middle of the bounds"
    """How a missing value counts where the column is declared complete."""

    @abstractmethod
    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made. Refuses columns it cannot take."""

    @abstractmethod
    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group.

        `excess` is what noise has added to the square of the first one, on average.
        """

    def clipped(self, schema: Schema) -> str | None:
        """What becomes of values that are not declared, in words; None where `notes` has the words, or nothing does."""
        return None

    def limited(self, who: str, rows: str) -> tuple[str, str] | None:
        """What the limit of so many rows for each `who` does to it: a kind of note, and its text."""
        return None

    @property
    def label(self) -> str:
        """What it is called in SQL where it has no other name."""
        return type(self).__name__.lower()

    @classmethod
    def named(cls) -> str:
        """What it is called on the command line and in errors."""
        return cls.functions[0].name

    @classmethod
    def settings(cls) -> dict[str, Field[Any]]:
        """Its fields besides the column."""
        found: tuple[Field[Any], ...] = fields(cls) if is_dataclass(cls) else ()
        return {each.name: each for each in found if each.name != "column"}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns and expressions it is of."""
        column = getattr(self, "column", None)
        return () if column is None else (column,)

    def canonical(self, schema: Schema) -> Self:
        """The same, its columns under the one name that each has."""
        if not self.columns:
            return self
        named: Any = self
        return replace(named, column=schema.canonical(named.column, self.named()))  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; what is as usual is left out."""
        entry: dict[str, Any] = {"of": self.named()}
        if (column := getattr(self, "column", None)) is not None:
            entry["column"] = column
        for name, each in self.settings().items():
            if (value := getattr(self, name)) != each.default:
                entry[name] = each.metadata["write"](value)
        return entry

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Self:
        """From its JSON values."""
        function, settings = cls.functions[0], cls.settings()
        allowed = {"of", *settings} | ({"column"} if function.column != "none" else set())
        if set(entry) - allowed or not isinstance(entry.get("column", ""), str):
            raise InputError("outputs", entry, _forms())
        if "column" not in entry and function.column == "required":
            raise InputError("outputs", entry, "an object with a column")
        if lacking := [name for name, each in settings.items() if each.default is MISSING and name not in entry]:
            raise InputError("outputs", entry, f"an object with {lacking[0]!r}")
        given = {name: each.metadata["read"](entry[name]) for name, each in settings.items() if name in entry}
        return cls(**({"column": entry["column"]} if "column" in entry else {}), **given)

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Self | None:
        """The aggregate that NAME(column) in SQL stands for; None if the name is none of its names.

        `scope` is what it is read in, a `discreet.query.sql.Scope`.
        """
        from sqlglot import exp

        unknown = type(node) is exp.Anonymous  # to the parser
        names = [str(node.this).upper()] if unknown else node.sql_names() if isinstance(node, exp.Func) else []
        for name, fields_set in cls.functions[0].sql.items():
            if name in names:
                only(node, "this", *(["expressions"] if unknown else []))
                inner = node.expressions if unknown else [node.this]
                if len(inner) == 1 and type(inner[0]) is exp.Distinct:
                    of = inner[0].expressions[0]
                    hint = f"Leave out DISTINCT. How many different values there are is COUNT(DISTINCT {of})."
                    raise refuse(node, f"{name} of all rows", hint)
                if len(inner) != 1:
                    raise refuse(node, f"{name} of one column or expression")
                return cls(scope.column(inner[0], number=True), **fields_set)  # type: ignore[call-arg]
        return None


class Additive(Aggregate):
    """An aggregate with one measure, whose sums add up and whose error is its noise alone."""

    __slots__ = ()
    adds_up: ClassVar[bool] = True
    """Whether numbers of disjoint sets of rows add up to that of all of them."""

    @abstractmethod
    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""

    def whole(self, schema: Schema) -> bool:
        """Whether it is a whole number: steps of one, of something that is counted."""
        return True

    def extent(self, schema: Schema) -> tuple[int | None, int | None]:
        """The least and the most steps that are published; None for no end, as where groups are to add up."""
        return None, None

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        return noisy[0] * self.step(schema)


class Derived(Aggregate):
    """An aggregate that is a function of several noisy measures. The second of them is how many values it is of."""

    __slots__ = ()
    tail: ClassVar[float] = 1.0
    """How much of what an interval may miss the draws of the noise may leave out; less where they are not exact."""

    @abstractmethod
    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to a lattice may have done."""
        return lower, upper

    def limited(self, who: str, rows: str) -> tuple[str, str]:
        """What the limit on the rows of one person does to it."""
        return (
            "weighted",
            f"For each {who} with more than {rows} in a group, the mean of their values counts as {rows}.",
        )

    @property
    def fewest(self) -> int:
        """Of fewer values than these it may be anything."""
        return 1

    @property
    def stated(self) -> tuple[Derived, float]:
        """By what its error is stated beforehand, and how many times that it is at most."""
        return self, 1.0

    def corrected(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """The answer, group by group, where noise has added `excess` to the square of each measure, on average."""
        return self.estimate(schema, noisy, excess[0])

    def undefined(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> NDArray[np.bool_]:
        """Where it may be anything."""
        return noisy[1] < self.fewest

    def rounding(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats | float:
        """How far rounding to the lattice can have moved it, where that depends on the measures."""
        return 0.0


def plain_name(name: str) -> str:
    """A name for an output of a column that has any name.

    >>> plain_name("pay, in €")
    'pay_in'
    """
    return re.sub(r"\W+", "_", name).strip("_")


def plain_names(columns: Sequence[str]) -> dict[str, str]:
    """Columns, or expressions, each with a plain name to call an output by; no two have the same.

    >>> plain_names(["cost", "hours + 1"])
    {'cost': 'cost', 'hours + 1': 'hours_1'}
    """
    if len(set(columns)) < 2 or len(set(columns)) != len(columns):
        raise InputError("columns", list(columns), "two or more different columns")
    found = {each: plain_name(str(each)) for each in columns}
    for column, name in found.items():
        if other := [each for each, same in found.items() if same == name and each != column]:
            hint = f"Name the outputs yourself: agg(first=..({column!r}), second=..({other[0]!r}))."
            allowed = f"different in letters and digits: both are {name!r}"
            raise InputError("columns", [column, other[0]], allowed, hint)
    return found


def rows_of(schema: Schema, column: str | None) -> Rows:
    """How many values a column has. One declared complete has a value in every row: one count serves all."""
    return Rows(column if column is not None and schema.columns[column].nullable else None)


def aggregate_to(aggregate: Aggregate) -> dict[str, Any]:
    """An aggregate as plain JSON values."""
    return aggregate.to_dict()


def aggregate_from(entry: Any) -> Any:
    """An aggregate, or another output, from its JSON values."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("of"), str):
        raise InputError("outputs", entry, _forms())
    return kind_of(entry["of"]).from_dict(entry)


def _forms() -> str:
    named = ", ".join(function.name for function in functions())
    return "{'of': ..., 'column': ..., 'bounds': [low, high] or 'private'} with of = " + named


Pair = tuple[Fraction, Fraction]
Bounds = Pair | Literal["private"] | None
Limits = Sequence[Number] | Literal["private"] | None

PRIVATE: Final = "private"
"""Bounds nobody knows: searched for, at a price, by the plan of `discreet.query.private_bounds`."""
ENDLESS = 2.0**900
"""An end of what an aggregate can be that has none."""
NUMERIC = (Integer, Real)
SEARCHED = Argument("bounds", PRIVATE)


def read_limits(bounds: Limits) -> Bounds:
    """Bounds as people give them."""
    if bounds is None:
        return None
    if isinstance(bounds, str) and bounds == PRIVATE:
        return PRIVATE
    hint = "Private bounds are searched for, with a part of the price."
    return read_pair(bounds, "bounds", f", or {PRIVATE!r}", hint)


def read_pair(bounds: Any, name: str, other: str = "", hint: str = "") -> Pair:
    """A pair of bounds, the lower one first."""
    if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != 2:
        raise InputError(name, bounds, f"a pair (lower, upper){other}", hint)
    low, high = (as_written(bound, name) for bound in bounds)
    if low >= high:
        raise InputError(name, list(bounds), "a pair with lower below upper")
    return low, high


def write_pair(bounds: Any) -> list[str]:
    """A pair of bounds as JSON, exactly."""
    return [str(bound) for bound in bounds]


def _write_limits(bounds: Any) -> Any:
    return bounds if bounds == PRIVATE else write_pair(bounds)


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


_Any = TypeVar("_Any", bound=Aggregate)


def settled(aggregate: _Any, bounds: Pair | None) -> _Any:
    """The same with these bounds (the declared ones for None) where its own are private."""
    if not isinstance(aggregate, Bounded) or not aggregate.private:
        return aggregate
    return replace(aggregate, bounds=bounds)
