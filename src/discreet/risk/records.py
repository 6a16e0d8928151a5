"""A table as its owner has it: columns of values told apart by codes, and classes of rows that look alike.

Every measure of anonymity rests on the classes. Nothing here is private from the owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.files import as_pattern
from discreet.errors import InputError, Phrase

__all__ = ["Classes", "CodedColumn", "Records", "classes_of", "once_each"]

Codes = NDArray[np.int64]

_DIRECT = 4  # with up to so many possible keys for each row, counting is quicker than sorting
_ROOM = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """One column: `values` in order, each row's place among them. A missing value is a value, `None`, the last."""

    codes: Codes
    values: tuple[Any, ...]
    ordered: bool

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def taken(self, rows: NDArray[Any]) -> CodedColumn:
        """Some of the rows, under the same codes."""
        return CodedColumn(self.codes[rows], self.values, self.ordered)

    @classmethod
    def of(cls, values: Any, name: str) -> CodedColumn:
        """Tell the values of an Arrow array, or of anything that can be made one, apart."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise InputError(name, Phrase("several types"), "a column of values of one type") from None
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if pa.types.is_floating(array.type):
            array = pc.if_else(pc.is_nan(array), None, array)
        coded = pc.dictionary_encode(array, null_encoding="mask")
        found = coded.dictionary.to_pylist()
        codes = np.asarray(coded.indices.fill_null(len(found)), dtype=np.int64)
        numbers = _as_numbers(found)
        order = sorted(range(len(found)), key=lambda place: (numbers or found)[place])
        rank = np.empty(len(found) + 1, dtype=np.int64)
        rank[[*order, len(found)]] = np.arange(len(found) + 1)
        named = tuple((numbers or found)[place] for place in order)
        missing = (None,) if coded.indices.null_count else ()
        text = bool(named) and isinstance(named[0], str | bool)
        return cls(rank[codes], named + missing, not text)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Columns of one length, by name."""

    columns: Mapping[str, CodedColumn]
    rows: int

    @classmethod
    def read(cls, source: Any, names: Iterable[str] | None = None) -> Records:
        """From a CSV or Parquet file, an Arrow table, a data frame, or a mapping of names to columns.

        Text of digits is read as numbers unless one begins with a needless 0, as codes of places do.
        """
        import pyarrow as pa

        if isinstance(source, Records):
            return source if names is None else source.only(names)
        if isinstance(source, str | Path):
            found = _from_file(Path(source), names)
        elif isinstance(source, Mapping):
            found = {str(name): source[name] for name in _known(names, list(source))}
        else:
            to_arrow = getattr(source, "to_arrow", None)  # Polars and DuckDB
            if not isinstance(source, pa.Table):
                source = to_arrow() if callable(to_arrow) else pa.table(source)
            found = {name: source[name] for name in _known(names, source.column_names)}
        columns = {name: CodedColumn.of(values, name) for name, values in found.items()}
        lengths = {len(column.codes) for column in columns.values()}
        if len(lengths) != 1:
            raise InputError("columns", sorted(columns), "at least one column, all of one length")
        (rows,) = lengths
        if rows == 0:
            raise InputError("data", Phrase("a table without rows"), "at least one row")
        return cls(columns, rows)

    def only(self, names: Iterable[str]) -> Records:
        """Some of the columns."""
        return Records({name: self.columns[name] for name in _known(names, list(self.columns))}, self.rows)

    def taken(self, rows: NDArray[Any]) -> Records:
        """Some of the rows."""
        columns = {name: column.taken(rows) for name, column in self.columns.items()}
        return Records(columns, len(next(iter(columns.values())).codes))

    def __getitem__(self, name: str) -> CodedColumn:
        return self.columns[next(iter(_known([name], list(self.columns))))]


def _known(names: Iterable[str] | None, there: list[str]) -> list[str]:
    if names is None:
        return there
    asked = list(dict.fromkeys(names))
    if strange := [name for name in asked if name not in there]:
        raise InputError("columns", strange[0], among=there)
    return asked


def _from_file(path: Path, names: Iterable[str] | None) -> dict[str, Any]:
    import duckdb

    if not path.exists():
        raise InputError("data", path.name, "a file that exists")
    if path.is_file() and not path.stat().st_size:
        raise InputError("data", path.name, "a CSV file with a header, or a Parquet file", "This file is empty.")
    place = as_pattern(str(path)).replace("'", "''")
    text = ", hive_partitioning=false" + (
        "" if path.suffix.lower() == ".parquet" else ", all_varchar=true, header=true"
    )
    reader = "read_parquet" if path.suffix.lower() == ".parquet" else "read_csv"
    with duckdb.connect() as connection:
        try:
            view = connection.sql(f"FROM {reader}('{place}'{text})")
            wanted = _known(names, view.columns)
            quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in wanted)
            table = view.project(quoted).to_arrow_table()
        except duckdb.Error as problem:
            raise InputError("data", path.name, "a CSV file with a header, or a Parquet file") from problem
    return {name: table[name] for name in wanted}


def _as_numbers(found: list[Any]) -> list[Any] | None:
    """The numbers that texts stand for; None if one stands for none, or is a code such as 02139."""
    if not found or not all(isinstance(value, str) for value in found):
        return None
    numbers: list[Any] = []
    for text in found:
        digits = text.lstrip("-")
        if len(digits) > 1 and digits[0] == "0" and digits[1] != ".":
            return None
        try:
            numbers.append(int(text) if digits.isdecimal() else float(text))
        except ValueError:
            return None
    return numbers if all(number == number for number in numbers) and len(set(numbers)) == len(numbers) else None


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """`of` says in which class each row is; `sizes` how many rows a class has."""

    of: Codes
    sizes: Codes

    @property
    def smallest(self) -> int:
        """k: every row looks like at least k - 1 others."""
        return int(self.sizes.min())

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which rows look like no other."""
        return np.asarray(self.sizes[self.of] == 1)

    def count_distinct(self, column: CodedColumn) -> Codes:
        """How many different values of a column each class holds, such as people."""
        pairs = np.unique(self.of * column.size + column.codes)
        return np.bincount(pairs // column.size, minlength=len(self.sizes))


def classes_of(columns: Sequence[CodedColumn]) -> Classes:
    """The classes of rows with equal values on all of `columns`, of which there is at least one.

    >>> from discreet.risk.records import CodedColumn
    >>> found = classes_of([CodedColumn.of(["a", "b", "a"], "x"), CodedColumn.of([1, 1, 1], "y")])
    >>> found.sizes.tolist(), found.smallest
    ([2, 1], 1)
    """
    key, room = np.zeros(len(columns[0].codes), dtype=np.int64), 1
    for column in columns:
        if column.size == 1:  # the same for all, as the coarsest groups are
            continue
        if room * column.size >= _ROOM:
            key, room = _rank(key, room)
        key, room = key * column.size + column.codes, room * column.size
    of, many = _rank(key, room)
    return Classes(of, np.bincount(of, minlength=many))


def once_each(records: Records, names: Sequence[str]) -> Records:
    """One row for every combination of values on these columns: the first there is."""
    classes = classes_of([records[name] for name in names])
    first = np.full(len(classes.sizes), records.rows, dtype=np.int64)
    np.minimum.at(first, classes.of, np.arange(records.rows))
    return records.taken(np.sort(first))


def _rank(key: Codes, room: int) -> tuple[Codes, int]:
    """The same classes numbered 0, 1, ... without gaps, and how many there are."""
    if room <= _DIRECT * len(key):
        there = np.zeros(room, dtype=np.int64)
        there[key] = 1
        rank = np.cumsum(there)
        return np.asarray(rank[key] - 1), int(rank[-1])
    values, found = np.unique(key, return_inverse=True)
    return found.astype(np.int64), len(values)
