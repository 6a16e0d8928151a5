"""Instants in an engine: whole seconds in UTC. Local time follows from them by a list of changes, not by an engine.

What is stored with an offset or a zone is an instant. What is stored without is what the clocks of a zone showed. Parts
of a second are left out. No stored value can make an engine fail: infinite and far-away times are beyond every bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from discreet.data.dialect import engine_of, in_micros
from discreet.data.instant import DAY, FIRST, LAST, TEXT, changes

__all__ = [
    "Shown",
    "as_seconds",
    "bounded_seconds",
    "floored",
    "instant_of",
    "instant_within",
    "local_of",
    "stepwise",
]

Expression = Any  # ibis expressions carry no useful static types here

_EPOCH = datetime(1970, 1, 1)
_MICRO = 6  # digits of a second


class Shown(NamedTuple):
    """A stored time without a zone: what clocks showed, as seconds since they showed 1970, and how far ahead of UTC
    these clocks were, NULL where nothing says so; None if nothing does in any row."""

    local: Expression
    ahead: Expression | None = None

    @classmethod
    def of(cls, raw: Expression) -> Shown | None:
        """What a stored column shows; None if it holds instants: a whole number is one, only expressions have them."""
        kind = raw.type()
        if kind.is_string():
            return _from_text(raw)
        if kind.is_integer() or (kind.is_timestamp() and kind.timezone is not None):
            return None
        return cls(_of_day(raw) if kind.is_date() else _epoch(raw))

    def seconds(self, naive: str, low: int, high: int) -> Expression:
        """The second it is, from `low` to `high`; `naive` is the zone of what has no offset."""
        found = instant_within(self.local, naive, low, high)
        if self.ahead is None:
            return found
        return self.ahead.isnull().ifelse(found, bounded_seconds(self.local - self.ahead, low, high))


def as_seconds(raw: Expression, naive: str, low: int, high: int) -> Expression:
    """A stored value as the second it lies in, from `low` to `high`; NULL where there is none.

    `naive` is the zone of what has no offset.
    """
    if (shown := Shown.of(raw)) is not None:
        return shown.seconds(naive, low, high)
    return bounded_seconds(raw.cast("int64") if raw.type().is_integer() else _epoch(raw), low, high)


def bounded_seconds(seconds: Expression, low: int, high: int) -> Expression:
    """Moved into bounds; missing stays missing."""
    import ibis

    first, last = ibis.literal(low, "int64"), ibis.literal(high, "int64")
    return ibis.cases((seconds < low, first), (seconds > high, last), else_=seconds)


def local_of(seconds: Expression, timezone: str, low: int, high: int) -> Expression:
    """What clocks show at an instant between `low` and `high`, as seconds since they showed 1970."""
    moves = changes(timezone, low, high)
    return seconds + stepwise(seconds, moves.instants, moves.offsets)


def instant_of(local: Expression, timezone: str, low: int, high: int) -> Expression:
    """The instant at which clocks show a time, if it is between `low` and `high`; else one beyond that end."""
    moves = changes(timezone, low - DAY, high + DAY)
    return local - stepwise(local, moves.local, moves.offsets)


def instant_within(local: Expression, timezone: str, low: int, high: int) -> Expression:
    """The same moved into the bounds, with what clocks show compared instead: so the changes are written once."""
    import ibis

    moves = changes(timezone, low - DAY, high + DAY)
    starts, ends = (None, *moves.local), (*moves.local, None)
    branches: list[_Branch] = []
    for start, end, offset in zip(starts, ends, moves.offsets, strict=True):
        first, last = low + offset, high + offset + 1  # the local times of this step that are within
        if start is None or start < first:
            stop = first if end is None else min(first, end)
            branches.append((start, stop, low))
        if end is None or last < end:
            branches.append((last if start is None else max(last, start), end, high))
    conditions = [
        (_between(local, start, end), ibis.literal(value, "int64")) for start, end, value in _joined(branches)
    ]
    return ibis.cases(*conditions, else_=local - stepwise(local, moves.local, moves.offsets))


_Branch = tuple[int | None, int | None, int]


def _joined(branches: Sequence[_Branch]) -> list[_Branch]:
    """Neighbouring intervals of the same value as one."""
    found: list[_Branch] = []
    for start, end, value in sorted(branches, key=lambda each: (each[2], each[0] is not None, each[0] or 0)):
        if found and found[-1][2] == value and found[-1][1] == start:
            found[-1] = (found[-1][0], end, value)
        else:
            found.append((start, end, value))
    return found


def _between(number: Expression, start: int | None, end: int | None) -> Expression:
    if start is None:
        return number < end
    return number >= start if end is None else (number >= start) & (number < end)


def stepwise(number: Expression, edges: Sequence[int], values: Sequence[int]) -> Expression:
    """The value of the step that a number is on: `values[i + 1]` from `edges[i]` on."""
    import ibis

    if not edges:
        return ibis.literal(values[0], "int64")
    middle = len(edges) // 2
    below = stepwise(number, edges[:middle], values[: middle + 1])
    above = stepwise(number, edges[middle + 1 :], values[middle + 1 :])
    return (number < edges[middle]).ifelse(below, above)


def floored(number: Expression, by: int) -> Expression:
    """How often a whole number holds another one, rounded down."""
    return (number.cast("float64") / float(by)).floor().cast("int64")


def _epoch(raw: Expression) -> Expression:
    """Seconds since 1970 of a stored time, as if it were one in UTC."""
    import ibis

    kind = raw.type()
    if kind.scale is not None and kind.scale != _MICRO and engine_of(raw) == "duckdb":
        # In seconds or milliseconds it may be too far away for any other type.
        raw = in_micros(raw) if kind.scale > _MICRO else raw.try_cast(kind.copy(scale=_MICRO))
    zone = None if kind.timezone is None else UTC
    first, last = (ibis.literal((_EPOCH + timedelta(seconds=end)).replace(tzinfo=zone)) for end in (FIRST, LAST))
    near = ibis.cases((raw < first, first), (raw > last, last), else_=raw)
    return near.epoch_seconds().cast("float64").floor().cast("int64")


def _of_day(raw: Expression) -> Expression:
    """Seconds since 1970 of the midnight that begins a stored day, as if it were one in UTC."""
    import ibis

    first, last = (ibis.literal((_EPOCH + timedelta(seconds=end)).date()) for end in (FIRST, LAST))
    near = ibis.cases((raw < first, first), (raw > last, last), else_=raw)
    return near.cast("timestamp").epoch_seconds().cast("float64").floor().cast("int64")


def _from_text(raw: Expression) -> Shown:
    """Text by its digits: no engine's own rules come in."""
    import ibis

    text = raw.strip()
    there, rest = text.re_search(TEXT), text.substr(_MINUTES)

    def digits(start: int) -> Expression:
        return text.substr(start, 2).try_cast("int64").fill_null(0)

    seconds = (text.substr(_MINUTES, 1) == ":").ifelse(digits(_MINUTES + 1), 0)
    shown = _of_day(text.substr(0, 10).try_cast("date")) + digits(11) * 3600 + digits(14) * 60 + seconds
    hours, minutes, more = (rest.re_extract(_OFFSET, part).try_cast("int64").fill_null(0) for part in (2, 4, 6))
    ahead = (hours * 3600 + minutes * 60 + more) * rest.contains("-").ifelse(-1, 1)
    nothing = ibis.null("int64")
    return Shown(there.ifelse(shown, nothing), rest.re_search("[Zz+-]|UTC").ifelse(ahead, nothing))


_MINUTES = 16
"""Where what follows the minutes begins."""
_OFFSET = "([+-])([0-9]{2})(:?([0-9]{2})(:?([0-9]{2}))?)?$"
"""Hours, minutes and seconds: clocks had such offsets before standard time."""
