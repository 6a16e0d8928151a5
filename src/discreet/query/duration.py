"""Bins of timestamps: of a duration each, or of hours, days, weeks and longer by the clocks of a zone."""

from __future__ import annotations

import re
from typing import Any

from discreet.data.column import Timestamp
from discreet.data.expression.time import next_period
from discreet.data.instant import DAY, Instant
from discreet.errors import InputError

__all__ = ["EVERY", "read_duration", "regular_instants"]

EVERY = ("hour", "day", "week", "month", "quarter", "year")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}
_WORDS = {"sec": "s", "second": "s", "min": "m", "minute": "m", "hour": "h", "day": "d", "week": "w"}
_DURATION = re.compile(r"([0-9]{1,9}) *([a-z]+)", re.ASCII)


def read_duration(text: Any, field: str = "bins.width") -> int:
    """A duration in seconds.

    >>> read_duration("6 hours"), read_duration("15m")
    (21600, 900)
    """
    match = _DURATION.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    unit = "" if match is None else match[2]
    word = unit if unit in _UNITS else _WORDS.get(unit.removesuffix("s"), "")
    if match is None or not word or not int(match[1]):
        hint = "Units are seconds, minutes, hours, days and weeks; for longer ones use every='month'."
        raise InputError(field, text, "a duration, such as '6 hours' or '15 minutes'", hint)
    return int(match[1]) * _UNITS[word]


def regular_instants(column: Timestamp, how: str, size: Any, most: int) -> tuple[Instant, ...]:
    """Edges from the lower bound on, up to beyond the upper one."""
    step = 0
    if how == "width":
        step = read_duration(size)
    elif size not in EVERY:
        raise InputError("bins.every", size, among=EVERY)
    least = step or {"hour": 1800, "day": DAY - 7200}.get(size, 6 * DAY)
    if (column.upper - column.lower) // least > 2 * most:
        raise InputError(f"bins.{how}", size, f"long enough for at most {most:,} bins")
    edges = [column.lower]
    while edges[-1] <= column.upper:
        edges.append(Instant(edges[-1] + step, column.timezone) if step else next_period(edges[-1], size))
    return tuple(edges)
