"""What the form of a question offers: measures, columns, and words that complete what is typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.expression.node import quoted
from discreet.data.schema import Schema
from discreet.query.function import Function, listed_functions

__all__ = ["Measure", "conditions", "groupable", "measures", "summable", "words"]

_MOST = 200  # values of one column that are offered
_BOUNDED = ("count", "people", "distinct", "sum", "median", "quantile", "mode")  # errors do not depend on group sizes


@dataclass(frozen=True, slots=True)
class Measure:
    """A function as the form offers it, and which fields it needs beside it."""

    name: str
    words: str
    column: bool
    argument: str
    """What it takes beside the column: "share", "column", or nothing."""
    sized: bool
    """Whether its error depends on how many rows a group has."""


def measures() -> dict[str, Measure]:
    """What can be computed.

    >>> measures()["std"].words, measures()["quantile"].argument, measures()["count"].column
    ('standard deviation of', 'share', False)
    """
    return {name: _measure(function) for name, function in listed_functions().items()}


def _measure(function: Function) -> Measure:
    given = function.argument if function.argument is not None and function.argument.required else None
    argument = "" if given is None else "column" if given.column else "share"
    sized = function.name not in _BOUNDED
    return Measure(function.name, function.words, function.column == "required", argument, sized)


def summable(schema: Schema) -> list[str]:
    """Columns that some function takes: numbers have sums, means and quantiles; days have quantiles."""
    kinds = tuple(kind for function in listed_functions().values() for kind in function.takes)
    return [name for name, column in schema.columns.items() if isinstance(column, kinds) and name != schema.unit.column]


def groupable(schema: Schema) -> list[tuple[str, str]]:
    """Columns to group by, and how each is cut into groups; nothing for those that are groups as they are."""
    return [(name, _cut(column)) for name, column in schema.columns.items() if name != schema.unit.column]


def _cut(column: Column) -> str:
    match column:
        case Category() | Boolean():
            return ""
        case Integer() | Real():
            return "10, or 0,18,65"
        case Date():
            return "month, week, year, or days"
        case Timestamp():
            return "hour, day, 6h, month"
        case Text():
            return "? discovers its values"


def words(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """What completes a statement or a condition: a word, what it is, and the column that it is a value of."""
    for name, column in schema.columns.items():
        if name != schema.unit.column:
            yield quoted(name), type(column).__name__.lower(), ""
            for value in _values(column):
                yield value, name, quoted(name)
    for function in listed_functions().values():
        for word in function.sql_words:
            yield word if "(" in word else f"{word}(", function.words.removesuffix(" of"), "()"
    yield f"COUNT(DISTINCT {quoted(schema.unit.column)})" if schema.unit.column else "COUNT(*)", "how many people", "()"
    yield quoted(schema.name), "table", ""


def conditions(schema: Schema) -> Iterator[str]:
    """Conditions to begin with, for browsers that complete without a script."""
    for name, column in schema.columns.items():
        if name == schema.unit.column:
            continue
        values = _values(column)[:12]
        yield from (f"{quoted(name)} = {value}" for value in values)
        if isinstance(column, Integer | Real):
            yield f"{quoted(name)} >= {_plain(column.lower)}"
            yield f"{quoted(name)} <= {_plain(column.upper)}"


def _values(column: Column) -> list[str]:
    if isinstance(column, Boolean):
        return ["true", "false"]
    if not isinstance(column, Category):
        return []
    return ["'" + str(value).replace("'", "''") + "'" for value in column.values[:_MOST]]


def _plain(value: object) -> str:
    return f"{float(value):g}"  # type: ignore[arg-type]  # bounds are numbers
