"""Times of a table in hand as seconds since 1970, by the rules that the engine reads private times by.

What has an offset or a zone is an instant. What has none is what the clocks of the declared zone showed.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Timestamp
from discreet.data.instant import DAY, TEXT, changes

__all__ = ["seconds_of"]

_EPOCH = datetime(1970, 1, 1)
_TEXT = re.compile(TEXT)
_PART = re.compile(r"[.,][0-9]*")  # of a second
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
Floats = NDArray[np.float64]


def seconds_of(values: Any, column: Timestamp) -> Floats:
    """The second that every time of an Arrow column lies in; NaN where there is none."""
    import pyarrow

    kind = values.type
    if pyarrow.types.is_timestamp(kind):
        whole = values.cast(pyarrow.int64())
        there = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
        ticks = np.asarray(whole.fill_null(0).to_numpy(), dtype=np.int64)
        shown = np.where(there, (ticks // _TICKS[kind.unit]).astype(np.float64), np.nan)
        return shown if kind.tz is not None else _instants(shown, column)
    read = [_read(one) for one in values.to_pylist()]
    shown = np.array([second for second, _ in read], dtype=np.float64)
    fixed = np.array([known for _, known in read], dtype=bool)
    return np.where(fixed, shown, _instants(shown, column))


def _instants(shown: Floats, column: Timestamp) -> Floats:
    """When clocks showed a time: the first of two that a change repeats, and as much later as one was put forward."""
    moves = changes(column.naive, int(column.lower) - DAY, int(column.upper) + DAY)
    places = np.searchsorted(np.array(moves.local, dtype=np.float64), shown, side="right")
    offsets = np.array(moves.offsets, dtype=np.float64)
    return shown - offsets[np.minimum(places, len(offsets) - 1)]


def _read(value: Any) -> tuple[float, bool]:
    """A time as seconds, and whether it is an instant already or what clocks showed."""
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return float((value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)), True
        return float((value - _EPOCH) // timedelta(seconds=1)), False
    if isinstance(value, date):
        return float((datetime(value.year, value.month, value.day) - _EPOCH) // timedelta(seconds=1)), False
    return float("nan"), False


def _parsed(text: str) -> date | None:
    """A day or a time as it is written; None if it is neither."""
    written = text.strip(" ")
    if not _TEXT.fullmatch(written):
        return None
    try:
        if len(written) == 10:
            return date.fromisoformat(written)
        day, time = written[:10], _PART.sub("", written[11:]).upper().replace("UTC", "Z").replace(" ", "")
        return datetime.fromisoformat(f"{day}T{time}")
    except ValueError:
        return None
