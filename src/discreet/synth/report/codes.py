"""A table that somebody has in hand as codes, by the rules that the engine reads private data by.

For the owner's comparison only. Nothing is opened here: the rows are given, by a person who has them anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Timestamp
from discreet.errors import InputError, Phrase, kind_of
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.partition import Partition
from discreet.query.key import Bin
from discreet.synth.parts import MadeColumn, plain_columns, taken_apart
from discreet.synth.report.copies import Copy
from discreet.synth.report.instants import seconds_of
from discreet.synth.rows import ColumnValues

__all__ = ["encoded"]

_EPOCH = date(1970, 1, 1).toordinal()
_WHOLE = 2.0**53
_TRUE, _FALSE = ("true", "t", "1", "yes"), ("false", "f", "0", "no")


def encoded(
    table: Any, domain: Domain, declared: Mapping[str, Column], made: Sequence[MadeColumn] | None = None
) -> Copy:
    """The rows of an Arrow, pandas or Polars table that have a code in every column; others count nowhere."""
    arrow, parts = _arrow(table), plain_columns(domain) if made is None else made
    stored, wanted = list(arrow.column_names), [one.name for one in parts]
    for name in wanted:
        if name not in stored:
            raise InputError("real", Phrase(f"one without {name}"), "a table with the columns " + ", ".join(wanted))
    read = {name: _read(name, declared[name], arrow.column(name)) for name in wanted}
    read |= taken_apart(parts, declared, read)
    codes = np.stack([_codes(one, read[one.name]) for one in domain.attributes], axis=1).astype(np.int64)
    kept = np.flatnonzero((codes >= 0).all(axis=1))
    if len(kept) == 0:
        raise InputError(
            "real",
            Phrase(f"{len(codes):,} rows without one"),
            "a table with rows that have a declared value in every column",
        )
    return Copy(codes[kept], {name: one.taken(kept) for name, one in read.items()})


def _arrow(table: Any) -> Any:
    import pyarrow

    kind = type(table).__module__.split(".")[0]
    if kind == "pandas":
        return pyarrow.Table.from_pandas(table, preserve_index=False)
    if kind == "polars":
        return (table.collect() if hasattr(table, "collect") else table).to_arrow()
    if isinstance(table, pyarrow.Table):
        return table
    raise InputError("real", kind_of(table), "an Arrow, pandas or Polars table, in memory")


def _read(name: str, column: Column, values: Any) -> ColumnValues:
    """The values of a column as numbers."""
    match column:
        case Category():
            known = {word: place for place, word in enumerate(column.values)}
            found = _each(values, lambda text: known.get(text, -1))
            return ColumnValues(np.maximum(found, 0).astype(np.float64), found < 0)
        case Boolean():
            words = dict.fromkeys(_FALSE, 0) | dict.fromkeys(_TRUE, 1)
            found = _each(values, lambda text: words.get(text.lower(), -1))
            return ColumnValues(np.maximum(found, 0).astype(np.float64), found < 0)
        case Integer() | Real() | Date():
            numbers = _days(values) if isinstance(column, Date) else _numbers(values)
            numbers = np.clip(numbers, _number(column.lower), _number(column.upper))
            if isinstance(column, Integer):
                numbers = np.floor(numbers + 0.5)
        case Timestamp():
            numbers = np.clip(seconds_of(values, column), int(column.lower), int(column.upper))
        case _:
            raise InputError(f"real.{name}", Phrase("free text"), "a column whose values are declared")
    missing = np.isnan(numbers)
    return ColumnValues(np.where(missing, 0.0, numbers), missing)


def _codes(attribute: Attribute, values: ColumnValues) -> NDArray[np.int64]:
    """The code of every value; that of a missing one, or -1 where none may be."""
    numbers = np.where(values.missing, np.nan, values.values)
    if isinstance(attribute.partition, Partition):
        found = attribute.partition.codes(np.nan_to_num(numbers))
    elif not attribute.ordered:
        found = np.nan_to_num(numbers).astype(np.int64)
    else:
        found = _binned(attribute, numbers)
    return np.where(values.missing, attribute.size - 1 if attribute.missing else -1, found)


def _binned(attribute: Attribute, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The code of every number: that of a single value, where it has one, else that of its bin."""
    labels = [(code, label) for code, label in enumerate(attribute.labels) if label is not None]
    cut = [(code, _number(label.start)) for code, label in labels if isinstance(label, Bin)]
    single = sorted((_number(label), code) for code, label in labels if not isinstance(label, Bin))
    known = np.nan_to_num(numbers)
    found = np.full(len(numbers), -1, dtype=np.int64)
    if cut:
        codes, starts = np.array([code for code, _ in cut]), np.array([start for _, start in cut])
        found = codes[np.clip(np.searchsorted(starts, known, side="right") - 1, 0, len(cut) - 1)]
    if single:
        values, codes = np.array([value for value, _ in single]), np.array([code for _, code in single])
        near = np.minimum(np.searchsorted(values, known), len(values) - 1)
        found = np.where(values[near] == known, codes[near], found)
    return np.where(np.isnan(numbers), -1, found)


def _number(value: Any) -> float:
    return float(value.toordinal() - _EPOCH if isinstance(value, date) else value)


def _each(values: Any, read: Callable[[str], int]) -> NDArray[np.int64]:
    """What every value is read as, as text; different values are few, so each is read once."""
    import pyarrow

    coded = values.combine_chunks().dictionary_encode() if not _is_dictionary(values) else values.combine_chunks()
    if isinstance(coded, pyarrow.ChunkedArray):
        coded = coded.chunk(0) if coded.num_chunks else pyarrow.array([], pyarrow.null()).dictionary_encode()
    places = coded.indices.to_numpy(zero_copy_only=False)
    words = np.array(
        [-1 if (text := _text(one)) is None else read(text) for one in coded.dictionary.to_pylist()] + [-1]
    )
    return words[np.where(np.isnan(places), len(words) - 1, places).astype(np.int64)]


def _is_dictionary(values: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_dictionary(values.type))


def _text(value: Any) -> str | None:
    """As text: numbers with a fraction are none, since engines print them differently."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, str)):
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return str(int(number)) if number == np.floor(number) and abs(number) < _WHOLE else None


def _numbers(values: Any) -> NDArray[np.float64]:
    import pyarrow

    kind = values.type
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_decimal(kind):
        plain = values.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        return np.asarray(plain, dtype=np.float64)
    return np.array([_as_number(one) for one in values.to_pylist()], dtype=np.float64)


def _as_number(value: Any) -> float:
    try:
        return float("nan") if value is None else float(value)
    except (TypeError, ValueError):
        return float("nan")


def _days(values: Any) -> NDArray[np.float64]:
    """Days since 1970; of a moment in time the day in UTC."""
    import pyarrow

    kind = values.type
    if pyarrow.types.is_timestamp(kind):
        ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit] * 86_400
        whole = values.cast(pyarrow.int64())
        return np.array([float("nan") if one is None else one // ticks for one in whole.to_pylist()], dtype=np.float64)
    return np.array([_as_day(one) for one in values.to_pylist()], dtype=np.float64)


def _as_day(value: Any) -> float:
    try:
        day = value if isinstance(value, date) else date.fromisoformat(str(value).strip()[:10])
    except ValueError:
        return float("nan")
    return float(day.toordinal() - _EPOCH)
