"""A table with one row for each person, computed of that person's rows: what a question may be about instead.

`PersonTable` says what is computed. What can come out follows from the schema: a person's rows are counted up to the
limit of the schema, unless another is stated, and sums are cut at as many rows within the declared bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.core.exact import as_written
from discreet.core.note import Note
from discreet.core.release import plural
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError
from discreet.query.measure import lattice_for
from discreet.query.predicate import Predicate, checked, columns_of, predicate_from, predicate_to

__all__ = ["FUNCTIONS", "Each", "PersonTable", "Persons", "checked_keys", "person_notes"]

FUNCTIONS = ("count", "distinct", "sum", "mean", "min", "max")
"""What is computed of a person's rows."""
_MOST = 2**20
_COUNTS = ("count", "distinct")


@dataclass(frozen=True, slots=True)
class Each:
    """One column of a table of persons: a function of a person's rows, cut at `lower` and `upper`.

    >>> Each("count", upper=50).to_dict()
    {'of': 'count', 'upper': '50'}
    """

    of: str
    column: str | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None

    def __post_init__(self) -> None:
        if self.of not in FUNCTIONS:
            raise InputError("per_person", self.of, among=FUNCTIONS)
        if self.column is None and self.of != "count":
            raise InputError("per_person", self.of, f"{self.of} of a column, such as {self.of}(cost)")
        for end in ("lower", "upper"):
            if (value := getattr(self, end)) is not None:
                object.__setattr__(self, end, as_written(value, f"per_person.{end}"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        entry: dict[str, Any] = {"of": self.of} | ({} if self.column is None else {"column": self.column})
        return entry | {e: str(value) for e in ("lower", "upper") if (value := getattr(self, e)) is not None}

    @classmethod
    def from_dict(cls, entry: Any) -> Each:
        """From plain values."""
        known = {"of", "column", "lower", "upper"}
        if not isinstance(entry, Mapping) or "of" not in entry or set(entry) - known:
            raise InputError("per_person", entry, "{'of': 'count', 'upper': 50}, {'of': 'sum', 'column': 'cost'}")
        return cls(**entry)

    def checked(self, schema: Schema) -> Each:
        """The same, its column under the one name it has."""
        if self.column is None:
            return self
        name = schema.canonical(self.column, "per_person")
        column = schema.column(name, "per_person")
        if self.of in ("sum", "mean"):
            schema.numeric(name, "per_person")
        if self.of in ("min", "max") and isinstance(column, Text | Timestamp):
            hint = f"Take its day: {self.of.upper()}(CAST({name} AS DATE))." if isinstance(column, Timestamp) else ""
            raise InputError("per_person", name, f"numbers, days or declared values in {self.of.upper()}", hint)
        return replace(self, column=name)

    def declared(self, schema: Schema) -> Column:
        """What it can be: the declaration of the new column."""
        rows, gaps = schema.unit.most_rows, True
        if self.of in _COUNTS:
            most = rows
            if self.of == "distinct" and (values := schema.domain(str(self.column)).listed(_MOST)) is not None:
                most = min(most, len(values))
            low, high = self._ends(Fraction(1 if self.column is None else 0), Fraction(most))
            if low.denominator != 1 or high.denominator != 1 or not 0 <= low <= high <= _MOST:
                raise InputError("per_person", float(high), f"a limit from 1 to {_MOST:,}, a whole number")
            low = low if low < high else max(low - 1, Fraction(0))  # a declaration has an inside
            return Integer(low, max(high, Fraction(1)), nullable=False)
        column = schema.column(str(self.column), "per_person")
        gaps = column.nullable
        if self.of in ("min", "max"):
            match column:
                case Boolean():
                    return Boolean(gaps)
                case Category():
                    return Category(column.values, gaps)
                case Date():
                    return Date(column.lower, column.upper, gaps)
        numeric = schema.numeric(str(self.column), "per_person")
        if self.of != "sum":
            kind = type(numeric) if self.of in ("min", "max") else Real
            return kind(numeric.lower, numeric.upper, nullable=gaps)
        lattice = lattice_for(numeric, numeric.lower, numeric.upper)
        low, high = self._ends(min(numeric.lower, numeric.lower * rows), max(numeric.upper, numeric.upper * rows))
        if low >= high:
            raise InputError("per_person", float(high), f"a limit above {float(low):g}")
        whole = isinstance(numeric, Integer) and lattice.step == 1 and low.denominator == high.denominator == 1
        return (Integer if whole else Real)(low, high, nullable=gaps)

    def _ends(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        return low if self.lower is None else self.lower, high if self.upper is None else self.upper

    def __str__(self) -> str:
        return f"{self.of}({self.column or '*'})"


@dataclass(frozen=True, slots=True)
class PersonTable:
    """What is computed of the rows of each person that meet a condition; with `keys`, of each of their groups."""

    columns: tuple[tuple[str, Each], ...] = ()
    condition: Predicate | None = None
    keys: tuple[tuple[str, str], ...] = ()
    """Names of new columns, and what of a row each is: a person then has a row for each combination."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        entry: dict[str, Any] = {"columns": {name: each.to_dict() for name, each in self.columns}}
        if self.condition is not None:
            entry["where"] = predicate_to(self.condition)
        return entry | ({"keys": dict(self.keys)} if self.keys else {})

    @classmethod
    def from_dict(cls, entry: Any) -> PersonTable:
        """From plain values."""
        columns = entry.get("columns", {}) if isinstance(entry, Mapping) else None
        keys = entry.get("keys", {}) if isinstance(entry, Mapping) else None
        if (
            not isinstance(columns, Mapping)
            or not isinstance(keys, Mapping)
            or set(entry) - {"columns", "where", "keys"}
        ):
            raise InputError("per_person", entry, "{'columns': {'visits': {'of': 'count'}}}")
        where = entry.get("where")
        made = tuple((name, Each.from_dict(each)) for name, each in columns.items())
        return cls(made, None if where is None else predicate_from(where), tuple(keys.items()))

    def checked(self, schema: Schema) -> PersonTable:
        """The same, read against the schema of the rows."""
        if schema.unit.column is None:
            hint = "Declare [unit] column = ..., the column that tells people apart."
            raise InputError("per_person", MISSING, "used where the unit of the schema is a person", hint)
        names = [name for name, _ in (*self.keys, *self.columns)]
        alike = [str(name).lower() for name in (schema.unit.column, *names)]  # to an engine one name
        taken = [name for name in names if alike.count(str(name).lower()) > 1]
        if strange := [name for name in names if not isinstance(name, str) or not name] + taken:
            raise InputError("per_person", strange[0], "columns with names of their own")
        keys = tuple((name, schema.canonical(column, "per_person")) for name, column in self.keys)
        for _, column in keys:
            if isinstance(schema.column(column, "per_person"), Real | Timestamp):
                hint = "Round it: FLOOR(x), or DATE_TRUNC('day', t)."
                raise InputError("per_person", column, "grouped by something else than a real number or a time", hint)
        condition = None if self.condition is None else checked(self.condition, schema)
        return PersonTable(tuple((name, each.checked(schema)) for name, each in self.columns), condition, keys)

    def names(self, schema: Schema) -> list[str]:
        """The columns of the rows that it reads."""
        read = [str(schema.unit.column), *(column for _, column in self.keys)]
        read += [each.column for _, each in self.columns if each.column is not None]
        return read + ([] if self.condition is None else columns_of(self.condition))

    def schema(self, schema: Schema, keys: Sequence[str] = ()) -> Schema:
        """What is declared about the table of persons, by what is declared about their rows.

        A person has one row, or one for each combination of keys: of these, as many count as the schema has groups.
        `keys` are those of the question; where all of the combination are among them, a group has one row of a person.

        Guarantee: two tables that differ in one unit become tables that differ in that unit alone. Proof:
        docs/proofs/query.md, "One row for each person".
        """
        made = self.checked(schema)
        person, unit = str(schema.unit.column), schema.unit
        columns: dict[str, Column] = {person: schema.columns[person]}
        columns |= {name: schema.column(column, "per_person") for name, column in made.keys}
        columns |= {name: each.declared(schema) for name, each in made.columns}
        groups, rows = 1, 1
        if made.keys:
            most = unit.most_groups
            groups, rows = most, 1 if {name for name, _ in made.keys} <= set(keys) else most
        fewer = Unit(person, unit.neighbours, groups=groups, rows=rows)
        return Schema(schema.name, columns, fewer, persons=Persons(made, schema))


@dataclass(frozen=True, slots=True)
class Persons:
    """A table of persons, and what is declared about the rows it is computed of."""

    table: PersonTable
    rows: Schema

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.table.to_dict(), "of": self.rows.to_dict()}

    @property
    def names(self) -> list[str]:
        """The columns of the rows that are read."""
        return self.table.names(self.rows)


def checked_keys(keys: Sequence[Any]) -> tuple[str, ...]:
    """The columns that a question groups by as they are."""
    return tuple(key.column for key in keys if key.edges is None)


def person_notes(schema: Schema, names: Sequence[str]) -> list[Note]:
    """What is cut where a table of persons is made of their rows."""
    persons = schema.persons
    if persons is None:
        return []
    who, notes = persons.rows.unit.column, []
    for name, each in persons.table.columns:
        column = schema.columns[name]
        if each.of in _COUNTS and isinstance(column, Integer):
            most, counted = int(column.upper), "rows" if each.of == "count" else "values"
            text = (
                f"{name} is one number for each {who}, at most {most:,}: what is beyond {plural(most, counted[:-1])} "
            )
            notes.append(Note("rows", f"{text}is left out.", tuple(names)))
        elif each.of == "sum" and isinstance(column, Integer | Real):
            ends = f"{float(column.lower):.15g}..{float(column.upper):.15g}"
            text = f"{name} is one sum for each {who}: a sum outside {ends} is clipped to the nearer bound."
            notes.append(Note("bounds", text, tuple(names)))
    return notes
