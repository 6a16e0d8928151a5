"""Where the list of regions comes from: a public table, the codes themselves, or what the schema declares.

Never from the data: which regions have people in them is what is to be protected.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.core.filename import file_name
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.trees.tree import Hierarchy

__all__ = ["check_file_names", "hierarchy_from", "public_table"]

_PARTS = ("totals", "at-least", "replicates")


def hierarchy_from(
    levels: Sequence[str] | Mapping[str, int], column: str | None, geography: Any, schema: Schema
) -> tuple[Hierarchy, str]:
    """The regions, and the column of the data that names a row's leaf region.

    `levels` names the levels, the widest first, or gives the length of each level's codes: {"state": 2, "county": 5}.
    `geography` is a public table with a row for each leaf region and a column for each level, or a list of leaf codes.
    """
    if isinstance(levels, str):
        raise InputError("levels", levels, "a list of levels, the widest first, or {level: length of its codes}")
    names = list(levels)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError("levels", names, "at least one level")
    if len(set(names)) != len(names):
        raise InputError("levels", names, "a list with each level once")
    check_file_names("levels", names)
    leaf = names[-1] if column is None else schema.canonical(column, "column")
    if column is None and leaf not in schema.columns:
        hint = "It puts rows into regions. If the data have another name for it, give that: column= (--column)."
        raise InputError("levels", leaf, "a declared column at the last level", hint, among=sorted(schema.columns))
    schema.column(leaf, "column")
    if isinstance(levels, Mapping):
        codes = _declared(leaf, schema, leaf) if geography is None else _leaf_codes(geography, leaf, names[-1])
        return Hierarchy.from_prefixes(codes, levels), leaf
    if geography is None:
        return Hierarchy.from_levels(
            {name: _declared(name, schema) for name in names[:-1]} | {names[-1]: _declared(leaf, schema, leaf)}
        ), leaf
    table = public_table(geography)
    if missing := [name for name in names if name not in table]:
        raise InputError(
            "geography",
            Phrase("one with " + (", ".join(table) or "no columns")),
            f"a table with the column {missing[0]!r}",
        )
    return Hierarchy.from_columns({name: _texts(table[name], name) for name in names}), leaf


def check_file_names(field: str, names: Sequence[str], others: Sequence[str] = ()) -> None:
    """Refuse names of levels or targets that files of their tables cannot have, or would have twice."""
    for name in names:
        if file_name(name) != name:
            raise InputError(field, name, 'a name that a file can have: no / \\ : * ? " < > |, and no dot at its start')
    seen: dict[str, str] = {}
    for name in (*others, *names):
        for file in (name, *(f"{name}-{part}" for part in _PARTS)):
            if (other := seen.setdefault(file.casefold(), name)) != name:
                raise InputError(field, name, f"a name whose files are not those of {other!r} too")


def _declared(name: str, schema: Schema, leaf: str = "") -> tuple[str, ...]:
    column = schema.columns[name] if name in schema.columns or name == leaf else None
    if not isinstance(column, Category):
        hint = "Give a public table of regions: geography='regions.csv' (--geography in a shell)."
        raise InputError("levels", name, "a declared category, where there is no geography", hint)
    return column.values


def _leaf_codes(geography: Any, leaf: str, last: str) -> list[str]:
    """Leaf codes from a list, or from the column of that name in a public table."""
    if isinstance(geography, (list, tuple, set, frozenset)):
        return _texts(list(geography), leaf)
    table = public_table(geography)
    for name in (last, leaf):
        if name in table:
            return _texts(table[name], name)
    raise InputError(
        "geography", Phrase("one with " + (", ".join(table) or "no columns")), f"a table with the column {last!r}"
    )


def public_table(geography: Any, field: str = "geography") -> dict[str, list[Any]]:
    """A public table as columns, from a CSV or Parquet file, a mapping, or an Arrow, pandas or Polars table."""
    if isinstance(geography, (str, os.PathLike)):
        path = Path(geography)
        if not path.is_file():
            raise InputError(field, str(path), "a CSV or Parquet file that exists")
        if path.suffix == ".parquet":
            import pyarrow.parquet

            found: dict[str, list[Any]] = pyarrow.parquet.read_table(path).to_pydict()
            return found
        return _csv(path, field)
    if isinstance(geography, Mapping):
        return {name: list(values) for name, values in geography.items()}
    for method, options in (("to_pydict", {}), ("to_dict", {"as_series": False}), ("to_dict", {"orient": "list"})):
        if hasattr(geography, method):
            try:
                table: dict[str, list[Any]] = getattr(geography, method)(**options)
            except TypeError:
                continue
            return table
    raise InputError(field, kind_of(geography), "a file, a mapping of columns, or a table")


def _csv(path: Path, field: str) -> dict[str, list[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        head = next(rows, [])
        body = list(rows)
    for place, row in enumerate(islice(body, None), start=2):
        if len(row) != len(head):
            raise InputError(
                field,
                Phrase(f"line {place} of {path.name}: {len(row)} fields"),
                f"a table with {len(head)} fields in each line",
            )
    return {name: [row[place] for row in body] for place, name in enumerate(head)}


def _texts(values: Iterable[Any], name: str) -> list[str]:
    found = list(values)
    if set(map(type, found)) <= {str}:
        return found
    for value in found:
        if not isinstance(value, str):
            hint = "Read the column as text: a code read as a number has lost its leading zeros."
            raise InputError(f"geography.{name}", value, "codes as text", hint)
    return found
