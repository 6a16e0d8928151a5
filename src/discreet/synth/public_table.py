"""A public table that rows start from: columns of text as a file has them, read by the rules of the schema."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.digest import digest_of
from discreet.data.frame import Frame
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import DiscreetError, InputError, Phrase, kind_of
from discreet.marginals.domain import Domain
from discreet.marginals.engine import encode
from discreet.synth.prior import PriorCodes

__all__ = ["MOST", "PublicTable", "columns_of_csv", "public_columns"]

MOST = 200_000
"""How many rows of a public table are used: of more, some are taken, evenly from first to last."""
_KINDS = "a file that ends in .csv or .parquet, or an Arrow, pandas or Polars table"
_SALT = (0,) * 8  # nothing is picked at random: every row of a public table counts

TextColumns = Mapping[str, Sequence[str | None]]


def public_columns(table: Any, field: str) -> dict[str, list[str | None]]:
    """The columns of a public table as text, None where a value is missing."""
    if isinstance(table, Mapping):
        if any(isinstance(values, str) or not hasattr(values, "__iter__") for values in table.values()):
            raise InputError(field, Phrase("a column that is no list"), "a table of columns: lists of values by name")
        return {str(name): [_text(value) for value in values] for name, values in table.items()}
    if isinstance(table, str | os.PathLike):
        return _read(Path(table), field)
    frame = Frame.of(table)
    if frame is None:
        raise InputError(field, kind_of(table), _KINDS)
    return _listed(frame.arrow(rows=True))


def _text(value: Any) -> str | None:
    missing = value is None or value != value  # what is no number is not equal to itself
    return None if missing else str(value).lower() if isinstance(value, bool) else str(value)


def _listed(arrow: Any) -> dict[str, list[str | None]]:
    return {name: [_text(value) for value in arrow.column(name).to_pylist()] for name in arrow.column_names}


def _read(path: Path, field: str) -> dict[str, list[str | None]]:
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(field, str(path), _KINDS)
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet

            return _listed(pyarrow.parquet.read_table(path))
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return columns_of_csv(lines, field)
    except (OSError, UnicodeError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(field, str(path), "a table that can be read") from None


def columns_of_csv(lines: Iterable[str], field: str) -> dict[str, list[str | None]]:
    """The columns of a CSV file, by its lines."""
    try:
        head, *body = [row for row in csv.reader(lines) if row] or [[]]
    except csv.Error:
        raise InputError(field, Phrase("another text"), "a table in CSV") from None
    if not head or len(set(head)) != len(head) or any(len(row) != len(head) for row in body):
        allowed = "a table: a line of different names, and as many values on every other line"
        raise InputError(field, Phrase("another text"), allowed)
    return {name: [row[place] or None for row in body] for place, name in enumerate(head)}


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Columns of text that anybody may see."""

    columns: TextColumns

    @classmethod
    def checked(cls, columns: TextColumns, domain: Domain, schema: Schema) -> PublicTable:
        """The table, if it has rows and columns that can be used."""
        many = {len(values) for values in columns.values()}
        if len(many) != 1:
            raise InputError("prior", Phrase("columns of different lengths"), "a table with as many values in each")
        known = {name: values for name, values in columns.items() if name in schema.columns}
        table = cls(known)
        if not table.used(domain, schema):
            named = Phrase(", ".join(columns) if columns else "no column")
            raise InputError("prior", named, "a table with columns that are made", among=list(schema.columns))
        if len(table.encoded(domain, schema).codes) == 0:
            allowed = "a table with rows that have declared values in the columns that it shares"
            raise InputError("prior", Phrase(f"{many.pop():,} rows without any"), allowed)
        return table

    @cached_property
    def digest(self) -> str:
        """A fingerprint of what it holds."""
        return digest_of({name: list(values) for name, values in self.columns.items()})

    def used(self, domain: Domain, schema: Schema) -> list[str]:
        """The attributes that can be worked out from its columns."""
        names = [one.name for one in domain.attributes]
        return [name for name in names if all(column in self.columns for column in schema.read_by([name]))]

    def encoded(self, domain: Domain, schema: Schema) -> PriorCodes:
        """Its rows in the codes of a domain, by the rules that private rows are read by, in the order of their codes.

        A row without a declared value in one of the columns it shares, where none may be missing, is left out.
        """
        import pyarrow

        names = self.used(domain, schema)
        small = Domain(tuple(domain.attributes[domain.place(name)] for name in names))
        own = Schema(schema.name, {name: schema.columns[name] for name in self.columns})
        rows = len(next(iter(self.columns.values())))
        taken = np.unique(np.linspace(0, max(rows - 1, 0), min(rows, MOST)).round().astype(np.int64))
        columns = {name: [values[place] for place in taken] for name, values in self.columns.items()}
        arrow = pyarrow.table({name: pyarrow.array(values, pyarrow.string()) for name, values in columns.items()})
        source = replace(source_of(arrow), view=own.view_with(names))
        try:
            with source.open() as connection:
                found = connection.integers(encode(small, own, connection.table, _SALT))
        except DiscreetError:
            raise
        except Exception:
            raise InputError("prior", Phrase("another table"), "a table whose values can be read") from None
        codes = np.stack([found[f"c{place}"] for place in range(len(names))], axis=1).astype(np.int64)
        order = np.lexsort(codes.T[::-1])  # an engine may hand over rows in any order
        return PriorCodes(tuple(names), codes[order])

    def explain(self, domain: Domain, schema: Schema) -> str:
        """What there is to know of it beforehand."""
        names, rows = self.used(domain, schema), len(next(iter(self.columns.values())))
        part = "all columns" if len(names) == len(domain) else f"{len(names)} of {len(domain)} columns"
        return (
            f"Starts from a public table of {rows:,} rows, with {part}: its dependence is used where noise hides that "
            "of the data; what is measured clearly is preserved. This costs nothing."
        )
