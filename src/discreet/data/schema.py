"""The custodian's declaration: what the table holds, who is protected, what is public about it."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from discreet.core.digest import digest_of
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Column, Integer, Real, Text, column_from, column_to
from discreet.data.columns import Columns
from discreet.data.expression import Domain, Expression
from discreet.data.instant import check_timezone
from discreet.data.join import Join
from discreet.data.layout import LAYOUT, Layout
from discreet.data.view import Derived, Lookup, widened
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["Schema", "read_tables"]

_LIMITS = (
    "State groups, in how many groups of a question one person counts, and rows, as how many rows in each: 1 and 1 if "
    "everybody has one row, more if people come back. What is beyond is left out of the answers."
)


class PersonRows(Protocol):
    """The rows that a table of persons is computed of: see `discreet.query.person_table`."""

    @property
    def table(self) -> Any:
        """What is computed of each person's rows."""

    @property
    def rows(self) -> Schema:
        """What is declared about the rows."""

    @property
    def names(self) -> list[str]:
        """The columns of the rows that are read."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A dataset's name, its columns and its unit of protection. Made by a person, never from the data.

    >>> schema = Schema("visits", {"age": Integer(0, 120)}, unit=Unit("patient", groups=3, rows=10))
    >>> print(schema.unit)
    everything of one patient, added or removed
    """

    subject: ClassVar[str] = "table"
    """What is described: asks are for tables, or for something else."""

    name: str
    columns: Mapping[str, Column]
    unit: Unit = field(default_factory=Unit)
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    derived: Mapping[str, Derived] = field(default_factory=dict)
    joins: Mapping[str, Join] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    """How the CSV file of the table is written."""
    persons: PersonRows | None = None
    """What the table is computed of, where it is one of persons."""
    row_count: int | None = None
    """How many rows there are, where that is public: neighbours have other rows, and as many of them."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError("dataset.name", self.name, "a name, such as 'visits'")
        if not isinstance(self.columns, Mapping):
            raise InputError(
                "columns", self.columns, "a dictionary of columns by name, such as {'age': Integer(0, 120)}"
            )
        if not isinstance(self.unit, Unit):
            raise InputError("unit", self.unit, "a Unit, such as Unit() or Unit('person', groups=1, rows=1)")
        if not isinstance(self.layout, Layout):
            raise InputError("layout", kind_of(self.layout), "a Layout, such as Layout(delimiter=';', decimal=',')")
        self._check_row_count()
        if missing := self.unit.unstated:
            raise InputError(f"unit.{missing[0]}", MISSING, "given where the unit is a person", _LIMITS)
        columns = dict(self.columns)
        if not columns:
            raise InputError("columns", {}, "at least one column")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise InputError("columns", name, "named by text")
            if not isinstance(column, Column):
                raise InputError(f"columns.{name}", column, "Integer, Real, Category, Boolean, Date, Timestamp or Text")
        person = self.unit.column
        if person is not None and person in columns and not isinstance(columns[person], (Integer, Text)):
            raise InputError(
                f"columns.{person}.type", Phrase("another type"), "text or integer: it identifies a person"
            )
        if person is not None and person not in columns:
            columns[person] = Text()
        for name, join in self.joins.items():
            if person is None:
                hint = "Declare [unit] column = ..., the person both tables are about."
                raise InputError(
                    f"joins.{name}", Phrase("one where it is a row"), "in a schema whose unit is a person", hint
                )
            _add(columns, join.columns, f"joins.{name}.columns")
        for name, lookup in self.lookups.items():
            if lookup.key not in columns:
                raise InputError(f"lookups.{name}.key", lookup.key, "a declared column", among=sorted(columns))
            _add(columns, lookup.columns, f"lookups.{name}.columns")
        for name, one in self.derived.items():
            _add(columns, {name: one.checked(name, columns).column}, "derived")
        object.__setattr__(self, "columns", Columns(columns))

    def _check_row_count(self) -> None:
        rows = self.row_count
        if rows is None:
            return
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows < 2**53:
            raise InputError("dataset.row_count", rows, "a whole number from 1 up")
        if self.unit.neighbours is not Neighbours.REPLACE or self.unit.column is not None:
            hint = 'Declare [unit] neighbours = "replace", without a column.'
            raise InputError(
                "dataset.row_count", rows, "left out unless rows are replaced: how many there are is private", hint
            )

    @property
    def view(self) -> Callable[[Any, Mapping[str, Any]], Any] | None:
        """What widens the stored table by joined, looked-up and derived columns; None if there are none.

        It takes the table and the private ones to be joined to it, by name.
        """
        return self.view_with(())

    def view_with(self, names: Iterable[str]) -> Callable[[Any, Mapping[str, Any]], Any] | None:
        """The same view, which also has the expressions among these names, each under its `slot`."""
        computed = [name for name in dict.fromkeys(names) if name not in self.columns]
        if not self.lookups and not self.derived and not self.joins and not computed:
            return None

        def wide(table: Any, others: Mapping[str, Any]) -> Any:
            for place, (name, join) in enumerate(self.joins.items()):
                table = join.joined(name, place, table, others[name], str(self.unit.column))
            table = widened(table, self.lookups, self.derived, self.columns)
            return self._known.computed(table, computed)

        return wide

    @property
    def stored(self) -> dict[str, Column]:
        """The columns of the table itself: without those that are joined, looked up or derived."""
        made = {*self.derived}
        made |= {name for lookup in self.lookups.values() for name in lookup.columns}
        made |= {name for join in self.joins.values() for name in join.columns}
        return {name: column for name, column in self.columns.items() if name not in made}

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a `discreet.toml`."""
        return cls.from_dict(read_tables(path), Path(path).parent)

    @classmethod
    def from_dict(cls, declared: Mapping[str, Any], folder: Path = Path()) -> Schema:
        """A schema from the tables of its file; public tables are looked for in `folder`."""
        for table in ("dataset", "unit", "columns", "joins", "lookups", "derived"):
            if not isinstance(declared.get(table, {}), Mapping):
                raise InputError(table, declared[table], f"a table: [{table}]")
        known = ("dataset", "unit", "columns", "joins", "lookups", "derived", "budget", "ledger")
        if unknown := set(declared) - set(known):
            raise InputError.unknown(min(unknown), known)
        dataset = declared.get("dataset", {})
        named = ("name", "version", "names", "timezone", "row_count", *LAYOUT)
        if unknown := set(dataset) - set(named):
            raise InputError.unknown(f"dataset.{min(unknown)}", named)
        declared = _with_timezone(declared, dataset)
        unit = dict(declared.get("unit", {}))
        limits = ("column", "neighbours", "groups", "rows", "rows_total")
        if strange := set(unit) - set(limits):
            raise InputError.unknown(f"unit.{min(strange)}", limits)
        if "column" in unit and (missing := [limit for limit in ("groups", "rows") if limit not in unit]):
            # Version 0.1 let a file leave them out, and what it released must be the same question today.
            text = (
                f"The schema states no {' and no '.join(f'unit.{limit}' for limit in missing)}: 1 is taken. {_LIMITS}"
            )
            warnings.warn(text, UserWarning, stacklevel=3)
            unit |= dict.fromkeys(missing, 1)
        columns = {name: column_from(name, entry, folder) for name, entry in declared.get("columns", {}).items()}
        lookups = {name: _lookup(name, entry, folder) for name, entry in declared.get("lookups", {}).items()}
        derived = {name: _derived(name, entry, folder) for name, entry in declared.get("derived", {}).items()}
        joins = {name: _join(name, entry, folder) for name, entry in declared.get("joins", {}).items()}
        layout = Layout(**{field: dataset[field] for field in LAYOUT if field in dataset})
        known = dataset.get("row_count")
        return cls(dataset.get("name", ""), columns, Unit(**unit), lookups, derived, joins, layout, row_count=known)

    def to_dict(self) -> dict[str, Any]:
        """The tables of its file, plain values only."""
        unit: dict[str, Any] = {"neighbours": str(self.unit.neighbours)}
        if self.unit.column is not None:
            unit = {"column": self.unit.column, **unit, "groups": self.unit.groups, "rows": self.unit.rows}
        elif self.unit.promised:
            unit["rows"] = self.unit.rows
        if self.unit.rows_total is not None:
            unit["rows_total"] = self.unit.rows_total
        columns = {name: column_to(column) for name, column in self.stored.items()}
        about: dict[str, Any] = {"name": self.name, **self.layout.given}
        about |= {} if self.row_count is None else {"row_count": self.row_count}
        whole: dict[str, Any] = {"dataset": about, "unit": unit, "columns": columns}
        if self.joins:
            whole["joins"] = {name: join.to_dict() for name, join in self.joins.items()}
        if self.lookups:
            whole["lookups"] = {name: lookup.to_dict() for name, lookup in self.lookups.items()}
        if self.derived:
            whole["derived"] = {name: one.to_dict() for name, one in self.derived.items()}
        if self.persons is not None:
            whole["persons"] = self.persons.to_dict()
        return whole

    @property
    def digest(self) -> str:
        """A fingerprint of everything declared."""
        return digest_of(self.to_dict())

    def column(self, name: Any, use: str = "column") -> Column:
        """The declaration of a column or of an expression, or an error that lists the columns there are."""
        return self._known.column(self.canonical(name, use), use)

    def canonical(self, name: Any, use: str = "column") -> str:
        """The one name of a column or an expression: as it is declared, or as every way of writing it has it.

        >>> Schema("visits", {"age": Integer(0, 120)}).canonical("AGE*2")
        'age * 2'
        """
        if isinstance(name, Expression):
            name = str(name)
        if not isinstance(name, str):
            hint = f"Such as {min(self.columns)!r}, or an expression: col('age') * 2."
            raise InputError(use, kind_of(name), "the name of a column, as text", hint)
        return self._known.canonical(name, use)

    def domain(self, name: str, use: str = "column") -> Domain:
        """What a column or an expression can be."""
        return self._known.domain(name, use)

    def expression(self, name: str, use: str = "column") -> Expression:
        """A column or an expression, as an expression."""
        return self._known.expression(name, use)

    def slot(self, name: str) -> str:
        """The name under which the engine has a column or an expression."""
        return self._known.slot(name)

    def computed(self, table: Any, names: Iterable[str]) -> Any:
        """A table with the expressions among these names beside its columns, each under its `slot`."""
        return self._known.computed(table, [name for name in dict.fromkeys(names) if name not in self.columns])

    def read_by(self, names: Iterable[str]) -> list[str]:
        """The declared columns that columns and expressions of these names read."""
        return [column for name in names for column in self._known.read_by(name)]

    @property
    def _known(self) -> Columns:
        return self.columns  # type: ignore[return-value]  # since __post_init__

    def numeric(self, name: str, use: str) -> Integer | Real:
        """A column that can be summed."""
        column = self.column(name, use)
        if not isinstance(column, (Integer, Real)):
            numbers = [key for key, kind in self.columns.items() if isinstance(kind, (Integer, Real))]
            hint = f"The part of rows where it is true: share({name})." if isinstance(column, Boolean) else ""
            raise InputError(use, name, "a numeric column", hint, among=sorted(numbers))
        return column


def read_tables(path: str | Path) -> dict[str, Any]:
    """The tables of a `discreet.toml`, as they stand there."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as problem:
        hint = "Write one with: discreet init DATA."
        raise InputError("schema", str(path), f"a readable file ({problem.strerror})", hint) from None
    try:
        return tomllib.loads(text)
    except ValueError as problem:  # of TOML; or of Python, which reads no number of thousands of digits
        raise InputError("schema", str(path), f"valid TOML ({problem})") from None


def _add(columns: dict[str, Column], more: Mapping[str, Column], field: str) -> None:
    for name, column in more.items():
        if name in columns:
            raise InputError(field, name, "a name that is not declared yet")
        columns[name] = column


def _with_timezone(declared: Mapping[str, Any], dataset: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same tables, where every timestamp that names no zone has that of the dataset."""
    if "timezone" not in dataset:
        return declared
    zone = check_timezone(dataset["timezone"], "dataset.timezone")

    def zoned(entry: Any) -> Any:
        if not isinstance(entry, Mapping):
            return entry
        if entry.get("type") == "timestamp":
            return {"timezone": zone, **entry}
        inner = entry.get("columns")
        return {**entry, "columns": _each(inner, zoned)} if isinstance(inner, Mapping) else entry

    tables = ("columns", "joins", "lookups", "derived")
    return {name: _each(table, zoned) if name in tables else table for name, table in declared.items()}


def _each(table: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: change(entry) for name, entry in table.items()}


def _join(name: str, entry: Any, folder: Path) -> Join:
    given = set(entry) if isinstance(entry, Mapping) else set()
    if not {"columns"} <= given <= {"columns", "rows"}:
        raise InputError(f"joins.{name}", sorted(given), "a table with columns, and rows if not 1")
    columns = {column: column_from(column, declared, folder) for column, declared in entry["columns"].items()}
    return Join(columns, entry.get("rows", 1))


def _lookup(name: str, entry: Any, folder: Path) -> Lookup:
    where = f"lookups.{name}"
    if not isinstance(entry, Mapping) or not {"key", "columns"} <= set(entry) <= {"key", "columns", "file", "table"}:
        raise InputError(
            where,
            sorted(entry) if isinstance(entry, Mapping) else entry,
            "a table with key, columns, and file or table",
        )
    columns = {column: column_from(column, declared, folder) for column, declared in entry["columns"].items()}
    if "file" in entry:
        return Lookup.from_csv(folder / entry["file"], entry["key"], columns)
    return Lookup(entry["key"], entry.get("table", {}), columns)


def _derived(name: str, entry: Any, folder: Path) -> Derived:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("expression"), str):
        raise InputError(f"derived.{name}.expression", MISSING, 'an expression, such as "pay * 12"')
    rest = {field: value for field, value in entry.items() if field != "expression"}
    return Derived(entry["expression"], column_from(name, rest, folder))
