"""Columns a table does not have: looked up in public tables, or computed from its own by safe arithmetic.

A view widens each row by what follows from that row and public data alone. No row is added, dropped or repeated, so a
unit's rows stay that unit's rows and every bound on contributions holds as before: docs/proofs/query.md, "Views".
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.data.column import Column, Date, Integer, Real, column_to
from discreet.data.dialect import as_bytes, engine_of, joins, listed
from discreet.data.read import as_declared, as_text
from discreet.data.text import read_column, read_constant, read_statement
from discreet.errors import InputError

__all__ = ["Derived", "Lookup", "widened"]

Expression = Any  # ibis expressions carry no useful static types here

_HUGE = 1e150
_FORMS = "made of +, - and * of numeric columns and constants, / by a constant, YEAR(date), MONTH(date)"


@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table with one row for each value of a key: `Lookup("county", {"county": [...], "region": [...]}, ...)`.

    Everything in it is public. Keys are compared as text; a row whose key is not listed gets missing values.
    """

    key: str
    table: Mapping[str, tuple[str | None, ...]]
    columns: Mapping[str, Column]

    def __init__(self, key: str, table: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        read = {name: tuple(None if v is None else str(v) for v in values) for name, values in table.items()}
        if key not in read:
            raise InputError("lookup.key", key, "a column of the public table", among=read)
        if len({len(values) for values in read.values()}) > 1:
            raise InputError("lookup.table", key, "columns of the same length")
        if len(set(read[key])) < len(read[key]) or None in read[key]:
            raise InputError("lookup.key", key, "a column without missing or repeated values", "Each key once.")
        for name in columns:
            if name not in read or name == key:
                raise InputError("lookup.columns", name, "another column of the public table than its key")
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "table", read)
        object.__setattr__(self, "columns", dict(columns))

    @classmethod
    def from_csv(cls, path: str | Path, key: str, columns: Mapping[str, Column]) -> Lookup:
        """Read the public table from a CSV file; an empty cell is missing."""
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(file))
        except OSError as problem:
            raise InputError("lookup.file", str(path), f"a readable file ({problem.strerror})") from None
        names = list(rows[0]) if rows else []
        return cls(key, {name: [row[name] or None for row in rows] for name in names}, columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the part of the public table that is used, and how it is read."""
        names = [self.key, *self.columns]
        table = {name: list(self.table[name]) for name in names}
        return {"key": self.key, "table": table, "columns": {n: column_to(c) for n, c in self.columns.items()}}

    def joined(self, place: int, table: Expression) -> Expression:
        """The table with this one's columns beside it. No row is repeated: keys differ, and are compared as bytes."""
        import ibis

        engine, sought = engine_of(table), as_text(table[self.key])
        own = {name: table[name] for name in table.columns}
        if not joins(engine):
            nothing = ibis.null("string")
            found = {
                name: sought.cases(*zip(self.table[self.key], self.table[name], strict=True), else_=nothing)
                for name in self.columns
            }
            return table.select(**own, **found)
        names = {name: f"discreet lookup {place} {name}" for name in (self.key, *self.columns)}
        columns = {names[name]: self.table[name] for name in names}
        public = listed(columns, dict.fromkeys(columns, "string"), engine)
        match = as_bytes(sought, engine) == as_bytes(public[names[self.key]], engine)
        wide = table.left_join(public, [match])
        return wide.select(**{name: wide[name] for name in own}, **{name: wide[names[name]] for name in self.columns})


@dataclass(frozen=True, slots=True)
class Derived:
    """A column computed from others of the same row: `Derived("pay * 12 - tax", Real(0, 200_000))`.

    What the expression gives is read by the column's declaration: moved into its bounds, missing if a part is missing.
    """

    expression: str
    column: Column

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"expression": self.expression, **column_to(self.column)}

    def checked(self, name: str, columns: Mapping[str, Column]) -> Derived:
        """The same, after a look at every name and operation in it."""
        if not isinstance(self.column, (Integer, Real)):
            raise InputError(f"derived.{name}.type", type(self.column).__name__.lower(), "integer or real")
        self._walk(name, columns, lambda column: 0.0, lambda part, column: 0.0)
        return self

    def computed(self, name: str, table: Expression, columns: Mapping[str, Column]) -> Expression:
        """The value for each row, in floating point: nothing in it can fail."""

        def number(column: str) -> Expression:
            return _tame(as_declared(table[column], columns[column]).cast("float64"))

        def part(what: str, column: str) -> Expression:
            day = as_declared(table[column], columns[column])
            return (day.year() if what == "year" else day.month()).cast("float64")

        return self._walk(name, columns, number, part)

    def _walk(
        self,
        name: str,
        columns: Mapping[str, Column],
        number: Callable[[str], Any],
        part: Callable[[str, str], Any],
    ) -> Any:
        from sqlglot import exp

        field = f"derived.{name}.expression"
        tree = read_statement(f"SELECT {self.expression}", field, self.expression)
        if type(tree) is not exp.Select or {n for n, v in tree.args.items() if v} != {"expressions"}:
            raise InputError(field, self.expression, _FORMS)
        if len(tree.expressions) != 1:
            raise InputError(field, self.expression, f"one expression, {_FORMS}")

        def column(node: Any, *kinds: type) -> str:
            found = read_column(node, field)
            if found not in columns or not isinstance(columns[found], kinds):
                words = "date" if Date in kinds else "numeric"
                usable = [key for key, one in columns.items() if isinstance(one, kinds)]
                raise InputError(field, found, f"a declared {words} column", among=usable)
            return found

        def walk(node: Any) -> Any:
            match node:
                case exp.Paren():
                    return walk(node.this)
                case exp.Neg():
                    return -walk(node.this)
                case exp.Add():
                    return walk(node.left) + walk(node.right)
                case exp.Sub():
                    return walk(node.left) - walk(node.right)
                case exp.Mul():
                    return _tame(walk(node.left)) * _tame(walk(node.right))
                case exp.Div() if isinstance(node.right, exp.Literal):
                    divisor = float(_number(node.right, field))
                    if divisor == 0:
                        raise InputError(field, node.sql(), "a division by a number other than zero")
                    return _tame(walk(node.left)) * _tame(1.0 / divisor)
                case exp.Literal():
                    return _tame(float(_number(node, field)))
                case exp.Year() | exp.Month():
                    what = type(node).__name__.lower()
                    return part(what, column(_inside(node.this), Date))
                case exp.Column():
                    return number(column(node, Integer, Real))
            raise InputError(field, node.sql(), _FORMS)

        try:
            return walk(tree.expressions[0])
        except RecursionError:
            raise InputError(field, self.expression, "a shorter expression") from None


def _tame(value: Any) -> Any:
    """A number so far from where floats end that no product of two can make an engine fail; what is tinier is zero."""
    import ibis

    if isinstance(value, float):
        return 0.0 if abs(value) < 1 / _HUGE else max(-_HUGE, min(_HUGE, value))
    tiny, low, high = value.abs() < 1 / _HUGE, value < -_HUGE, value > _HUGE
    return ibis.cases((tiny, 0.0), (low, -_HUGE), (high, _HUGE), else_=value)


def _number(node: Any, field: str) -> Any:
    value = read_constant(node, field)
    if isinstance(value, (str, bool)):
        raise InputError(field, node.sql(), "a number")
    return value


def _inside(node: Any) -> Any:
    """The column inside the cast that some dialects put around the argument of YEAR and MONTH."""
    from sqlglot import exp

    return node.this if isinstance(node, (exp.TsOrDsToDate, exp.Cast)) else node


def widened(
    table: Expression,
    lookups: Mapping[str, Lookup],
    derived: Mapping[str, Derived],
    columns: Mapping[str, Column],
) -> Expression:
    """The table with its looked-up and derived columns, in the order they are declared."""
    present = set(table.columns)
    for place, (name, lookup) in enumerate(lookups.items()):
        if lookup.key not in present:
            raise InputError(f"lookups.{name}.key", lookup.key, "a column the data has")
        clash = present & set(lookup.columns)
        if clash:
            raise InputError(f"lookups.{name}.columns", min(clash), "names the data does not have itself")
        table = lookup.joined(place, table)
        present |= set(lookup.columns)
    for name, one in derived.items():
        if name in present:
            raise InputError(f"derived.{name}", name, "a name the data does not have itself")
        missing = [c for c in _columns_in(one, columns) if c not in present]
        if missing:
            raise InputError(f"derived.{name}.expression", missing[0], "made of columns the data has")
        table = table.mutate(**{name: one.computed(name, table, columns)})
        present.add(name)
    return table


def _columns_in(derived: Derived, columns: Mapping[str, Column]) -> list[str]:
    seen: list[str] = []

    def note(column: str) -> float:
        seen.append(column)
        return 0.0

    derived._walk("view", columns, note, lambda part, column: note(column))
    return seen
