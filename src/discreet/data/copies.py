"""Copies of files and tables that an engine would fail on: values are made readable, cell by cell, before any rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from discreet.core.deadline import passed
from discreet.data.encoding import FALLBACK, copy_as_utf8
from discreet.data.files import as_pattern
from discreet.data.pool import restart
from discreet.data.record import copy_short
from discreet.data.spill import Spill

__all__ = ["Copies", "copy_readable", "readable_cells"]


class Copies:
    """Files written again so that they can be read, in a folder nobody else can read."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._stack = ExitStack()
        self._count = 0
        self._views: dict[str, tuple[str, list[str], dict[str, Any]]] = {}
        self.frames: dict[str, Any] = {}
        """Tables in memory that were shown to the engine, by the name they have there."""
        self._arrows: dict[Any, Any] = {}

    @property
    def views(self) -> frozenset[str]:
        """The names that files were shown to the engine under."""
        return frozenset(self._views)

    @property
    def made(self) -> bool:
        """Whether anything was copied."""
        return self._folder is not None

    def arrow(self, frame: Any) -> Any:
        """A table in memory as Arrow: the same rows for all of a job, whatever becomes of the table meanwhile."""
        if frame not in self._arrows:
            self._arrows[frame] = frame.arrow(rows=True)
        return self._arrows[frame]

    def _fresh(self) -> Path:
        """A new folder for one copy."""
        if self._folder is None:
            self._folder = self._stack.enter_context(Spill()).path
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir(mode=0o700)
        return folder

    def copy(self, path: str, delimiter: str | None, header: bool) -> str:
        """Where the copy of a CSV file in UTF-8 is; without records that are too long, if a delimiter is given."""
        folder, ending = self._fresh(), Path(path).suffix
        if delimiter is not None:
            short = folder / f"short{ending}"
            copy_short(path, short, delimiter, header=header)
            path = str(short)
        copy = folder / f"copy{ending}"
        copy_as_utf8(path, copy)
        return str(copy)

    def read(self, backend: Any, kind: str, files: list[str], **options: Any) -> Any:
        """The table of some files (csv or parquet), which `reread` can read once more."""
        table = _table(backend, kind, files, **options)
        self._views[table.get_name()] = (kind, files, options)
        return table

    def reread(self, backend: Any) -> bool:
        """Put copies in the place of Parquet files with values that the engine fails on; whether there were any.

        It is for after a failure, and done once: files are nearly always as they say, and a look at each would cost
        as much as a question. What was stopped did not fail on a value.
        """
        if passed():
            return False
        old, self._views = self._views, {}
        new = {
            name: (kind, [self._readable(file) for file in files] if kind == "parquet" else files, options)
            for name, (kind, files, options) in old.items()
        }
        if new == old:
            return False
        restart(backend)
        for name, (kind, files, options) in new.items():
            _table(backend, kind, files, table_name=name, **options)
        return True

    def _readable(self, path: str) -> str:
        source, folder = Path(path), self._fresh()
        for part in source.parts[:-1]:
            if "=" in part:  # a column that is written in the path: "year=2024"
                folder = folder / part
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / source.name
        return str(copy) if copy_readable(path, copy) else path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()


def _table(backend: Any, kind: str, files: list[str], **options: Any) -> Any:
    return (backend.read_csv if kind == "csv" else backend.read_parquet)(list(map(as_pattern, files)), **options)


_BATCH = 1 << 17
_FAR = {"s": 9 * 10**12, "ms": 9 * 10**15}
"""How far from 1970 a moment may be, in its own unit: nine of the 9.2 million million seconds that fit."""


def readable_cells(table: Any) -> Any:
    """An Arrow table whose every value an engine can read; the same one where that is so already.

    Text that is not UTF-8 is read by the rule of `encoding`, as in CSV files. A moment so far away that microseconds
    cannot hold it is missing. Nothing else changes, and no cell changes another.
    """
    import pyarrow

    for place, field in enumerate(table.schema):
        stored = table.column(place).chunks
        chunks = [_readable(pyarrow, chunk) for chunk in stored]
        if any(new is not old for new, old in zip(chunks, stored, strict=True)):
            table = table.set_column(place, field, pyarrow.chunked_array(chunks, field.type))
    return table


def _readable(pyarrow: Any, values: Any) -> Any:
    types, kind = pyarrow.types, values.type
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return values if _valid(pyarrow, values) else pyarrow.array(list(_texts(pyarrow, values)), kind)
    if types.is_dictionary(kind):
        listed = values.dictionary
        new = _readable(pyarrow, listed)
        return (
            values if new is listed else pyarrow.DictionaryArray.from_arrays(values.indices, new, ordered=kind.ordered)
        )
    if types.is_timestamp(kind) and kind.unit in _FAR:
        from pyarrow import compute

        far = _FAR[kind.unit]
        numbers = values.view(pyarrow.int64())
        beyond = compute.or_kleene(compute.less(numbers, -far), compute.greater(numbers, far))
        if compute.any(beyond).as_py():
            return compute.if_else(beyond, pyarrow.scalar(None, kind), values)
    return values


def _valid(pyarrow: Any, values: Any) -> bool:
    try:
        values.validate(full=True)
    except pyarrow.ArrowInvalid:
        return False
    return True


def _texts(pyarrow: Any, values: Any) -> Iterator[str | None]:
    for cell in values.cast(pyarrow.large_binary()).to_pylist():
        yield None if cell is None else cell.decode("utf-8", FALLBACK)


def copy_readable(path: str, to: Path) -> bool:
    """Write a Parquet file again with values that can be read; whether that was needed, else nothing stays."""
    import pyarrow
    from pyarrow import parquet

    changed = False
    with (
        parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as old,
        parquet.ParquetWriter(to, old.schema_arrow) as new,
    ):
        for batch in old.iter_batches(batch_size=_BATCH):
            table = pyarrow.Table.from_batches([batch])
            readable = readable_cells(table)
            changed = changed or readable is not table
            new.write_table(readable)
    if not changed:
        to.unlink()
    return changed
