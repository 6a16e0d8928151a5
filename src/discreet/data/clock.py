"""Instants in an engine: whole seconds in UTC. Local time follows from them by a list of changes, not by an engine.

What is stored with an offset or a zone is an instant. What is stored without is what the clocks of a zone showed. Parts
of a second are left out. No stored value can make an engine fail: infinite and far-away times are beyond every bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from discreet.data.dialect import engine_of, in_micros
from discreet.data.instant import DAY, FIRST, LAST, TEXT, changes

__all__ = ["as_seconds", "bounded_seconds", "floored", "instant_of", "local_of", "stepwise"]

Expression = Any  # ibis expressions carry no useful static types here

_EPOCH = datetime(1970, 1, 1)
_MICRO = 6  # digits of a second


def as_seconds(raw: Expression, naive: str, low: int, high: int) -> Expression:
    """A stored value as the second it lies in, from `low` to `high`; NULL where there is none.

    A whole number is one already: only expressions have them. `naive` is the zone of what has no offset.
    """
    kind = raw.type()
    if kind.is_integer():
        return bounded_seconds(raw.cast("int64"), low, high)
    if kind.is_string():
        return bounded_seconds(_from_text(raw, naive, low, high), low, high)
    if kind.is_timestamp() and kind.timezone is not None:
        return bounded_seconds(_epoch(raw), low, high)
    shown = _of_day(raw) if kind.is_date() else _epoch(raw)
    return bounded_seconds(instant_of(shown, naive, low, high), low, high)


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


def _from_text(raw: Expression, naive: str, low: int, high: int) -> Expression:
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
    zoned = rest.re_search("[Zz+-]|UTC")
    found = zoned.ifelse(shown - ahead, instant_of(shown, naive, low, high))
    return there.ifelse(found, ibis.null("int64"))


_MINUTES = 16
"""Where what follows the minutes begins."""
_OFFSET = "([+-])([0-9]{2})(:?([0-9]{2})(:?([0-9]{2}))?)?$"
"""Hours, minutes and seconds: clocks had such offsets before standard time."""
