"""From codes to rows of values: of the declared types, inside the declared bounds, missing where a code says so.

Where a code stands for a run of points or a bin, a value is drawn evenly from it. The draws follow from the published
codes: the same release gives the same rows whenever it is read, and nothing private is seen.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.instant import DAY, changes
from discreet.errors import InputError, Phrase
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.partition import Partition
from discreet.noise.replay import Replay, uniforms
from discreet.query.key import Bin
from discreet.query.measure import lattice_for
from discreet.synth.sample import Codes, chance_order

__all__ = [
    "ColumnValues",
    "draw",
    "draw_rows",
    "key_column",
    "number_of",
    "on_lattice",
    "seed_of",
    "shuffled",
    "to_arrow",
]

_EPOCH = date(1970, 1, 1).toordinal()
_AT_ONCE = 2**16  # rows that are written out in 64 bits
_FINE = 16  # points that the narrowest bin of real numbers has at least


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """A column's values as numbers: codes of categories and booleans, days since 1970; and where there is none."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]

    def taken(self, rows: NDArray[np.int64] | slice) -> ColumnValues:
        """The values of some rows."""
        return ColumnValues(self.values[rows], self.missing[rows])


def draw_rows(domain: Domain, columns: Mapping[str, Column], codes: Codes) -> dict[str, ColumnValues]:
    """Values for every column of a table of codes."""
    seed = seed_of(codes)
    return {
        attribute.name: draw(attribute, columns[attribute.name], codes[:, place], seed)
        for place, attribute in enumerate(domain.attributes)
    }


def seed_of(codes: Codes) -> bytes:
    """What all draws for these codes follow from."""
    digest = hashlib.sha256()
    for first in range(0, len(codes), _AT_ONCE):
        digest.update(np.ascontiguousarray(codes[first : first + _AT_ONCE], dtype="<i8").data)
    return digest.digest()


def shuffled(codes: Codes) -> Codes:
    """Rows in an order that says nothing of how they were made; it follows from them."""
    return codes[chance_order(len(codes), Replay(seed_of(codes) + b"order"))]


def draw(attribute: Attribute, column: Column, codes: NDArray[np.int64], seed: bytes) -> ColumnValues:
    """Values for one column's codes."""
    missing = codes == attribute.size - 1 if attribute.missing else np.zeros(len(codes), dtype=bool)
    known = np.where(missing, 0, codes)
    match column:
        case Category() | Boolean():
            return ColumnValues(known, missing)
        case Text() if attribute.missing:  # whose values were found, or are to be
            return ColumnValues(known, missing)
        case Integer() | Real() | Date() if isinstance(attribute.partition, Partition):
            return ColumnValues(_points(attribute.partition, column, known, seed + attribute.name.encode()), missing)
        case Integer() | Real() | Date():
            step = Fraction(1) if not isinstance(column, Real) else _step(column, attribute)
            low, high = _ends(attribute, column, step)
            share = uniforms(Replay(seed + attribute.name.encode()), len(codes))
            first, many = low[known], (high - low + 1)[known]
            places = first + np.minimum((share * many).astype(np.int64), many - 1)
            return ColumnValues(places * float(step) if isinstance(column, Real) else places, missing)
        case _:
            raise InputError(f"columns.{attribute.name}", Phrase("free text"), "a column whose values are declared")


def _points(partition: Partition, column: Column, codes: Codes, seed: bytes) -> NDArray[Any]:
    """A point of each code's run, evenly."""
    first, many = partition.starts[codes], (partition.ends - partition.starts + 1)[codes]
    share = uniforms(Replay(seed), len(codes))
    index = first + np.minimum((share * many).astype(np.int64), many - 1)
    if isinstance(column, Real):
        return on_lattice(index, partition.origin, partition.unit)
    return np.asarray(index * int(partition.unit) + int(partition.origin))


def on_lattice(index: NDArray[np.int64], origin: Fraction, unit: Fraction) -> NDArray[np.float64]:
    """The float nearest to each point: one division of whole numbers, so that 57 cents are 0.57.

    >>> on_lattice(np.array([57]), Fraction(0), Fraction(1, 100)).tolist()
    [0.57]
    """
    scale = math.lcm(origin.denominator, unit.denominator)
    whole = index.astype(np.float64) * float(unit * scale) + float(origin * scale)
    return np.asarray(whole / float(scale))


def _step(column: Real, attribute: Attribute) -> Fraction:
    """The lattice that sums of the column are taken on, or a finer one where bins are narrow."""
    narrow = min(label.end - label.start for label in attribute.labels if label is not None)
    try:
        step = lattice_for(column, column.lower, column.upper).step
    except InputError:  # bounds closer together than sums so far from zero can tell apart
        step = Fraction(1)
    while step * _FINE > narrow:
        step /= 2
    return step


def _ends(attribute: Attribute, column: Integer | Real | Date, step: Fraction) -> tuple[Codes, Codes]:
    """The first and the last point of the grid in every code's bin, within the declared bounds."""
    labels = [label for label in attribute.labels if label is not None]
    lower, upper = _number(column.lower), _number(column.upper)
    ends = []
    for place, label in enumerate(labels):
        if not isinstance(label, Bin):
            ends.append((_number(label), _number(label)))
            continue
        start, end = max(_number(label.start), lower), min(_number(label.end), upper)
        low, high = math.ceil(start / step), math.floor(end / step)
        # Up to and without its end, unless it is the last one, or cut short by the bound.
        if place < len(labels) - 1 and high * step == _number(label.end):
            high -= 1
        ends.append((low, high))
    return np.array([one for one, _ in ends], np.int64), np.array([two for _, two in ends], np.int64)


def _number(value: Any) -> Fraction | int:
    if isinstance(value, date):
        return value.toordinal() - _EPOCH
    return value if isinstance(value, Fraction) else int(value)


def number_of(attribute: Attribute | None, value: Any) -> Any:
    """A constant of a condition as the number that stands for it here."""
    if isinstance(value, str) and attribute is not None:
        return attribute.labels.index(value)
    return _number(value) if isinstance(value, date) else float(value) if isinstance(value, Fraction) else int(value)


def to_arrow(column: Column, drawn: ColumnValues) -> Any:
    """A column of an Arrow table."""
    import pyarrow

    values, missing = drawn.values, drawn.missing
    match column:
        case Category():
            places = _numbers(pyarrow.int32(), values, missing)
            return pyarrow.DictionaryArray.from_arrays(places, _words(column.values)).cast(pyarrow.string())
        case Boolean():
            return _numbers(pyarrow.int8(), values, missing).cast(pyarrow.bool_())
        case Date():
            return _numbers(pyarrow.int32(), values, missing).cast(pyarrow.date32())
        case Real():
            return _numbers(pyarrow.float64(), values, missing)
        case Timestamp():
            local = shown_times(values, column, column.naive)  # as times without a zone are read
            return _numbers(pyarrow.int64(), local, missing).cast(pyarrow.timestamp("s"))
        case _:
            return _numbers(pyarrow.int64(), values, missing)


def _numbers(kind: Any, values: NDArray[Any], missing: NDArray[np.bool_]) -> Any:
    """An Arrow array on the memory of numpy's. `pyarrow.array` would copy it, and load pandas."""
    import pyarrow

    held = np.ascontiguousarray(values, dtype=kind.to_pandas_dtype())
    valid = pyarrow.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    return pyarrow.Array.from_buffers(kind, len(held), [valid, pyarrow.py_buffer(held)])


def _words(words: Sequence[str]) -> Any:
    """An Arrow array of words."""
    import pyarrow

    written = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, written)], dtype=np.int32)
    data = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(written))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(written), data)


def shown_times(instants: NDArray[np.int64], column: Timestamp, timezone: str) -> NDArray[np.int64]:
    """What clocks of a zone show at the instants of a column, as seconds since they showed 1970."""
    moves = changes(timezone, int(column.lower) - 2 * DAY, int(column.upper) + 2 * DAY)
    offsets = np.array(moves.offsets, dtype=np.int64)
    starts = np.array(moves.instants, dtype=np.int64)
    return np.asarray(instants + offsets[np.searchsorted(starts, instants, side="right")], dtype=np.int64)


def key_column(form: str | int, rows: int) -> Any:
    """Names for rows, made anew: a text with a place for a number, from 1 on, or numbers from a first one on.

    >>> key_column("P{:03d}", 2).to_pylist(), key_column(7, 2).to_pylist()
    (['P001', 'P002'], [7, 8])
    """
    import pyarrow

    if isinstance(form, int):
        return _numbers(pyarrow.int64(), np.arange(form, form + rows), np.zeros(rows, dtype=bool))
    return _words([form.format(number) for number in range(1, rows + 1)])
