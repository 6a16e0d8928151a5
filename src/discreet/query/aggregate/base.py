"""What every aggregate is: measures that are taken with noise, and an estimate made of them.

An aggregate is one class in one file of this folder. It says how it is written (`functions`), what is measured and what
is made of it; all else follows from the register of `discreet.query.function`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.function import Function, functions, kind_of
from discreet.query.measure import Measure, Rows
from discreet.query.sql_hint import column_in, only

__all__ = ["Additive", "Aggregate", "Derived", "Floats", "aggregate_from", "aggregate_to", "rows_of", "setting"]

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
    def read_sql(cls, node: Any, person: str | None) -> Self | None:
        """The aggregate that NAME(column) in SQL stands for; None if the name is none of its names.

        `person` is the column that tells people apart, None where every row is its own.
        """
        from sqlglot import exp

        unknown = type(node) is exp.Anonymous  # to the parser
        names = [str(node.this).upper()] if unknown else node.sql_names() if isinstance(node, exp.Func) else []
        for name, fields_set in cls.functions[0].sql.items():
            if name in names:
                only(node, "this", *(["expressions"] if unknown else []))
                inner = node.expressions if unknown else [node.this]
                return cls(column_in(inner[0] if len(inner) == 1 else node), **fields_set)  # type: ignore[call-arg]
        return None


class Additive(Aggregate):
    """An aggregate with one measure, whose sums add up and whose error is its noise alone."""

    __slots__ = ()

    @abstractmethod
    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""

    def whole(self, schema: Schema) -> bool:
        """Whether it is a whole number: steps of one, of something that is counted."""
        return True

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        return noisy[0] * self.step(schema)


class Derived(Aggregate):
    """An aggregate that is a function of several noisy measures. The second of them is how many values it is of."""

    __slots__ = ()

    @abstractmethod
    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to a lattice may have done."""
        return lower, upper

    @property
    def fewest(self) -> int:
        """Of fewer values than these it may be anything."""
        return 1


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
