"""Columns in words: what is declared, what can be asked of each, and what is missing for the rest, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.release import number
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.data.toml import toml_table
from discreet.show import Markup, Table, element

__all__ = [
    "DescribedColumn",
    "Missing",
    "columns_table",
    "described",
    "limits",
    "missing",
    "neighbours",
    "protects",
]

_MANY = 200  # values that are still a handful of groups
_LISTED = 24  # values that a table names


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """A column as a row of a table."""

    name: str
    kind: str
    bounds: str
    values: tuple[str, ...]
    nullable: bool
    origin: str
    asked: str


@dataclass(frozen=True, slots=True)
class Missing:
    """What cannot be asked, because of what is not declared, and the line that would change it."""

    column: str
    problem: str
    cannot: str
    line: str


def protects(unit: Unit) -> str:
    """Whom the dataset protects, in a sentence. How well is what the epsilon says: no more is claimed here."""
    whole = unit.neighbours is Neighbours.ADD_REMOVE
    if unit.column is None:
        if unit.promised:
            told = f"whether any {unit.rows:,} rows are in the table" if whole else f"what any {unit.rows:,} rows hold"
            return f"Any {unit.rows:,} rows are protected: what is released tells little about {told}."
        told = "whether any one row is in the table" if whole else "what any one row holds"
        return f"One row is protected: what is released tells little about {told}."
    told = (
        f"whether any one {unit.column} is in the table at all" if whole else f"what any one {unit.column}'s rows hold"
    )
    return f"Everything of one {unit.column} is protected: what is released tells little about {told}."


def neighbours(unit: Unit) -> str:
    """What two tables that must look alike differ in."""
    what = "row" if unit.column is None else unit.column
    if unit.promised:
        how = "added or removed" if unit.neighbours is Neighbours.ADD_REMOVE else "replaced by others"
        return f"Up to {unit.rows:,} rows {how}: the custodian promises that nobody has more."
    if unit.neighbours is Neighbours.ADD_REMOVE:
        return f"One {what} added or removed. How many there are is private too."
    return f"One {what} replaced by another. How many there are is public."


def limits(unit: Unit) -> str:
    """How much of one person counts."""
    if unit.column is None:
        if unit.promised:
            return f"Every row counts. That nobody has more than {unit.rows:,} is the custodian's promise."
        return "Every row counts once. If a person may have several rows, name the column that identifies a person."
    groups = "1 group" if unit.groups == 1 else f"{unit.groups:,} groups"
    rows = "1 row" if unit.rows == 1 else f"{unit.rows:,} rows"
    each = ", with at most" if unit.groups == 1 else ", and in each with at most"
    return f"Each {unit.column} counts in at most {groups}{each} {rows}."


def described(schema: Schema) -> list[DescribedColumn]:
    """Every declared column."""
    return [_row(name, column, schema) for name, column in schema.columns.items()]


def columns_table(schema: Schema, stacked: bool = False) -> Table:
    """Every declared column, as a table of a page."""
    head = ("Column", "Type", "Bounds or values", "May be missing", "What can be asked about it")
    rows = [
        (_named(one), one.kind, _known(one), "yes" if one.nullable else "no", one.asked) for one in described(schema)
    ]
    return Table(head, tuple(rows), numbers=frozenset(), label="Columns", stacked=stacked)


def _named(column: DescribedColumn) -> Markup | str:
    if not column.origin:
        return column.name
    return element("span", None, column.name, Markup("<br>"), element("small", {"class": "muted"}, column.origin))


def _known(column: DescribedColumn) -> Markup | str:
    """Bounds, or the first values."""
    if column.bounds or not column.values:
        return column.bounds or element("span", {"class": "muted"}, "none declared")
    chips = [element("span", {"class": "chip"}, value) for value in column.values[:_LISTED]]
    rest = len(column.values) - _LISTED
    more = [element("span", {"class": "muted"}, f"and {rest} more")] if rest > 0 else []
    return element("span", {"class": "chips"}, *chips, *more)


def _row(name: str, column: Column, schema: Schema) -> DescribedColumn:
    values: tuple[str, ...] = ()
    bounds, asked = "", ""
    match column:
        case Integer() | Real():
            kind = "whole number" if isinstance(column, Integer) else "number"
            bounds = f"{number(_plain(column.lower))} to {number(_plain(column.upper))}"
            few = isinstance(column, Integer) and column.upper - column.lower < _MANY
            asked = "sums, means, spreads, quantiles; groups " + ("by value or in bins" if few else "in bins")
        case Date():
            kind, bounds = "day", f"{column.lower} to {column.upper}"
            asked = "quantiles; groups by week, month, year or bins"
        case Timestamp():
            kind, bounds = f"time in {column.timezone}", f"{column.lower} to {column.upper}"
            asked = "quantiles; groups by hour, day, week, month, year or bins"
        case Category():
            kind, values = "category", column.values
            asked = f"groups: {len(values):,} known values"
        case Boolean():
            kind, values, asked = "yes or no", ("true", "false"), "groups"
        case Text():
            kind, asked = "text", "groups whose values are discovered, for a delta"
    if name == schema.unit.column:
        asked = "how many there are, and nothing else: it identifies them"
    return DescribedColumn(name, kind, bounds, values, column.nullable, _origin(name, schema), asked)


def _origin(name: str, schema: Schema) -> str:
    for label, join in schema.joins.items():
        if name in join.columns:
            return f"joined from {label}"
    for label, lookup in schema.lookups.items():
        if name in lookup.columns:
            return f"looked up by {lookup.key} in {label}, which is public"
    if name in schema.derived:
        return f"= {schema.derived[name].expression}"
    return ""


def missing(schema: Schema, stored: Mapping[str, str]) -> list[Missing]:
    """Which declarations are missing for which questions. `stored` are names and types of what the data has."""
    found = []
    for name, column in schema.columns.items():
        if not isinstance(column, Text) or name == schema.unit.column:
            continue
        kind, table = _numeric(stored.get(name, "")), toml_table("columns", name)
        if kind:
            found.append(
                Missing(
                    name,
                    f"{name} is declared as text, so it has no lower and no upper bound",
                    "sums, means and quantiles of it cannot be asked",
                    f'set type = "{kind}", lower = ... and upper = ... under {table} in the schema file',
                )
            )
        else:
            found.append(
                Missing(
                    name,
                    f"{name} has no list of values",
                    "its groups can be discovered for a delta, not asked for by name",
                    f'set type = "category" and values = [...] under {table} in the schema file',
                )
            )
    for name, type_ in stored.items():
        if name in schema.columns:
            continue
        kind, table = _numeric(type_), toml_table("columns", name)
        if kind:
            problem = f"{name} has no lower and no upper bound"
            cannot = "sums, means and quantiles of it cannot be asked"
            line = f'add {table} with type = "{kind}", lower = ... and upper = ... to the schema file'
        else:
            problem = f"{name} has no type, no bounds and no values declared"
            cannot = "nothing can be asked of it"
            line = f"add {table} to the schema file: a type, and lower and upper, or values"
        found.append(Missing(name, problem, cannot, line))
    return found


def _numeric(type_: str) -> str:
    """What a stored number would be declared as; "" for what is no number."""
    name = type_.removeprefix("!").lower()
    if name.startswith(("int", "uint")):
        return "integer"
    return "real" if name.startswith(("float", "decimal")) else ""


def _plain(value: Fraction) -> Any:
    return int(value) if value.denominator == 1 else float(value)
