"""Tables in memory, as Arrow: what type a column gets depends on how it is stored, never on what it holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from numbers import Integral, Real
from typing import Any

from discreet.data.copies import readable_cells
from discreet.errors import InputError, Phrase

__all__ = ["Frame"]

_DIGITS = 1_000  # beyond them a decimal is not written out


class Frame:
    """An Arrow, pandas or Polars table that has not been looked at yet."""

    __slots__ = ("_kind", "_table")

    def __init__(self, table: Any, kind: str) -> None:
        self._table = table
        self._kind = kind

    def __repr__(self) -> str:
        return f"<private {self._kind} table>"

    @property
    def kind(self) -> str:
        """The library it comes from."""
        return self._kind

    def holds(self, table: object) -> bool:
        """Whether it is of this very object; of what is in it nothing is looked at."""
        return table is self._table

    @classmethod
    def of(cls, table: Any) -> Frame | None:
        """The table, if it is one."""
        kind = type(table).__module__.split(".")[0]
        if kind == "pandas" and hasattr(table, "columns"):
            return cls(table, kind)
        if kind == "polars" and hasattr(table, "collect_schema"):
            return cls(table, kind)
        if kind == "pyarrow" and hasattr(table, "schema"):
            # A stream can be read once only.
            return cls(table.read_all() if hasattr(table, "read_all") else table, kind)
        return None

    def mark(self) -> Hashable:
        """The names and types of its columns. What is in them may change, and is looked at each time."""
        return tuple((field.name, str(field.type)) for field in self.arrow(rows=False).schema)

    def arrow(self, *, rows: bool) -> Any:
        """The table as Arrow; without rows, only its names and types."""
        import pyarrow

        if self._kind == "pandas":
            return _plain(_from_pandas(self._table if rows else self._table.iloc[:0]))
        if self._kind == "polars":
            empty = self._table.collect_schema().to_frame()
            for name, kind in empty.schema.items():
                _stored(name, kind, empty[name].to_arrow)
            if not rows:
                return _plain(empty.to_arrow())
            return _plain((self._table.collect() if hasattr(self._table, "collect") else self._table).to_arrow())
        table = self._table
        if isinstance(table, pyarrow.RecordBatch):
            table = pyarrow.Table.from_batches([table])
        return _plain(table if rows else table.schema.empty_table())


def _from_pandas(frame: Any) -> Any:
    import pyarrow

    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError("columns", repeated, "named differently")
    columns = {}
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        if series.dtype == object:  # cells of any type: each is written as text, by a rule of its own
            columns[name] = pyarrow.array([_cell(value) for value in series], pyarrow.string())
        elif series.dtype.name == "category":  # what its categories are stored as may follow from what they are
            words = [*map(_cell, series.cat.categories), None]
            columns[name] = pyarrow.array([words[code] for code in series.cat.codes], pyarrow.string())
        else:
            columns[name] = _stored(name, series.dtype, partial(pyarrow.Array.from_pandas, series))
    return pyarrow.table(columns)


def _stored(name: str, dtype: Any, convert: Callable[[], Any]) -> Any:
    """A column as Arrow, or an error that names it and how it is stored: both are public."""
    import pyarrow

    column = None
    with suppress(pyarrow.ArrowException, TypeError, ValueError, NotImplementedError):
        column = convert()
    if column is None or isinstance(column.type, pyarrow.BaseExtensionType):
        hint = "Convert the column, or leave it out of the table. Nothing was spent."
        raise InputError(f"columns.{name}", Phrase(dtype), "stored as numbers, text, days or moments", hint)
    return column


def _cell(value: Any) -> str | None:
    """A value as text; what cannot be written is missing, and no reason to fail."""
    try:
        return _written(value)
    except Exception:
        return None


def _written(value: Any) -> str | None:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return None if number != number else str(int(number)) if number.is_integer() else str(number)
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < _DIGITS:
        return f"{value.normalize():f}"  # 1.50 is 1.5, as where it is stored as a decimal
    if isinstance(value, datetime) and value.tzinfo is not None:  # its day is the one in UTC, as it is anywhere else
        with suppress(OverflowError, ValueError):  # so near to where dates end that it has none there
            value = value.astimezone(UTC)
    return str(value)


def _plain(table: Any) -> Any:
    """The same table without the encodings that engines read differently, and values that they fail on."""
    import pyarrow

    seen: dict[str, str] = {}
    for name in table.column_names:
        if seen.setdefault(name.lower(), name) != name:
            hint = "Upper and lower case count as the same. Rename one of them."
            raise InputError("columns", name, f"named otherwise than {seen[name.lower()]!r}", hint)
    for place, field in enumerate(table.schema):
        if (kind := _readable(pyarrow, field.type)) is not None:
            table = table.set_column(place, field.name, table.column(place).cast(kind))
    return readable_cells(table)


def _readable(pyarrow: Any, kind: Any) -> Any:
    """The type that the engine reads values of a type as; None where it reads the type itself.

    No cast fails on a value: the run would, after its charge.
    """
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _readable(pyarrow, kind.value_type) or kind.value_type
    if types.is_null(kind):
        return pyarrow.string()
    if types.is_float16(kind):
        return pyarrow.float32()
    if types.is_decimal256(kind):
        return pyarrow.float64()  # as it is read from Parquet
    return pyarrow.binary() if types.is_fixed_size_binary(kind) else None
