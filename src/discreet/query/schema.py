"""The custodian's declaration: what the table holds, who is protected, what is public about it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.unit import Unit
from discreet.errors import InputError
from discreet.query.column import Column, Integer, Real, Text, column_from, column_to

__all__ = ["Schema"]


@dataclass(frozen=True, slots=True)
class Schema:
    """A dataset's name, its columns and its unit of protection. Made by a person, never from the data.

    >>> schema = Schema("visits", {"age": Integer(0, 120)}, unit=Unit("patient", groups=3, rows=10))
    >>> print(schema.unit)
    everything of one patient, added or removed
    """

    name: str
    columns: Mapping[str, Column]
    unit: Unit = field(default_factory=Unit)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError("dataset.name", self.name, "a name, such as 'visits'")
        columns = dict(self.columns)
        if not columns:
            raise InputError("columns", {}, "at least one column")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise InputError("columns", name, "names that are text")
            if not isinstance(column, Column):
                raise InputError(f"columns.{name}", column, "Integer, Real, Category, Boolean, Date or Text")
        person = self.unit.column
        if person is not None and person in columns and not isinstance(columns[person], (Integer, Text)):
            raise InputError(f"columns.{person}.type", "other", "text or integer: it identifies a person")
        if person is not None and person not in columns:
            columns[person] = Text()
        object.__setattr__(self, "columns", columns)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a `discreet.toml`."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as problem:
            hint = "Write one with: discreet init DATA"
            raise InputError("schema", str(path), f"a readable file ({problem.strerror})", hint) from None
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as problem:
            raise InputError("schema", str(path), f"valid TOML ({problem})") from None

    @classmethod
    def from_dict(cls, declared: Mapping[str, Any]) -> Schema:
        """A schema from the tables of its file: [dataset], [unit], [columns.*]."""
        for table in ("dataset", "unit", "columns"):
            if not isinstance(declared.get(table, {}), Mapping):
                raise InputError(table, declared[table], f"a table: [{table}]")
        unknown = set(declared) - {"dataset", "unit", "columns", "budget", "ledger"}
        if unknown:
            raise InputError(min(unknown), "present", "only [dataset], [unit], [columns.NAME], [budget] and [ledger]")
        unit = dict(declared.get("unit", {}))
        strange = set(unit) - {"column", "neighbours", "groups", "rows"}
        if strange:
            raise InputError(f"unit.{min(strange)}", "present", "only column, neighbours, groups and rows")
        columns = {name: column_from(name, entry) for name, entry in declared.get("columns", {}).items()}
        return cls(declared.get("dataset", {}).get("name", ""), columns, Unit(**unit))

    def to_dict(self) -> dict[str, Any]:
        """The tables of its file, plain values only."""
        unit: dict[str, Any] = {"neighbours": str(self.unit.neighbours)}
        if self.unit.column is not None:
            unit = {"column": self.unit.column, **unit, "groups": self.unit.groups, "rows": self.unit.rows}
        columns = {name: column_to(column) for name, column in self.columns.items()}
        return {"dataset": {"name": self.name}, "unit": unit, "columns": columns}

    @property
    def digest(self) -> str:
        """A fingerprint of everything declared."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def column(self, name: str, use: str = "column") -> Column:
        """The declaration of a column, or an error that lists the ones there are."""
        if not isinstance(name, str) or name not in self.columns:
            raise InputError(use, name, "a declared column: " + ", ".join(sorted(self.columns)))
        return self.columns[name]

    def numeric(self, name: str, use: str) -> Integer | Real:
        """A column that can be summed."""
        column = self.column(name, use)
        if not isinstance(column, (Integer, Real)):
            numbers = [key for key, kind in self.columns.items() if isinstance(kind, (Integer, Real))]
            raise InputError(use, name, "a numeric column: " + (", ".join(sorted(numbers)) or "none is declared"))
        return column
