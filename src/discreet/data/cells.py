"""Values that an engine would fail on while it reads them, before any rule of ours: made readable, cell by cell.

Text that is not UTF-8 is read by the rule of `encoding`, as in CSV files. A moment so far away that microseconds cannot
hold it is missing. Nothing else changes, and no cell changes another.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.data.encoding import FALLBACK

__all__ = ["copy_readable", "readable_cells"]

_BATCH = 1 << 17
_FAR = {"s": 9 * 10**12, "ms": 9 * 10**15}
"""How far from 1970 a moment may be, in its own unit: nine of the 9.2 million million seconds that fit."""


def readable_cells(table: Any) -> Any:
    """An Arrow table whose every value an engine can read; the same one where that is so already."""
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
