"""Functions of instants: parts of the local time, periods, and instants computed from instants, in whole seconds.

An engine has instants as whole numbers. Local time follows from them by the changes of a zone's clocks between the
bounds of the expression, so that no engine's own calendar, zone or setting matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from discreet.data.clock import bounded_seconds, floored, instant_of, local_of, stepwise
from discreet.data.expression.calendar import day_number, day_of
from discreet.data.expression.domain import Domain, UnsuitableError, listed_domain
from discreet.data.expression.function import Function, Operand
from discreet.data.instant import DAY, FIRST, LAST, Instant, changes, check_timezone, instant_at
from discreet.errors import InputError

__all__ = ["FUNCTIONS", "UNITS", "as_day", "midnight", "next_period", "truncated_time"]

UNITS = {"second": 1, "minute": 60, "hour": 3600}
_MOST = 200_000
_EPOCH = date(1970, 1, 1)
_RANGE = "a time between the years 1700 and 2239"


def _instant(part: Domain) -> None:
    if part.kind != "timestamp":
        raise UnsuitableError(f"of a timestamp, not of {part.kind}", "A date has no time of day.")


def shown(operand: Operand) -> Any:
    """What clocks show, as seconds since they showed 1970."""
    domain = operand.domain
    return local_of(operand.engine, domain.timezone, int(domain.lower), int(domain.upper))


# Parts of the time of day.


def _part(size: int, many: int) -> Function:
    """How many such units of the next larger one have passed."""

    def value(instant: Instant) -> int:
        return instant.local // size % many

    def domain(part: Domain) -> Domain:
        _instant(part)
        if part.values is not None and len(part.values) <= _MOST:
            return listed_domain("integer", map(value, part.values), part.missing)
        if part.upper - part.lower < size * many // 2:
            return listed_domain("integer", _passed(part, size, value), part.missing)
        return Domain("integer", 0, many - 1, None, part.missing)

    def engine(operands: Sequence[Operand], _: Domain) -> Any:
        passed = floored(shown(operands[0]), size)
        return passed - floored(passed, many) * many

    return Function(domain, value, engine)


def _passed(part: Domain, size: int, value: Callable[[Instant], int]) -> set[int]:
    """The values that a part has between two bounds that are near each other."""
    moments = [part.lower, part.upper, *changes(part.timezone, part.lower, part.upper).instants]
    moments += range(part.lower, part.upper, size)
    return {value(Instant(moment, part.timezone)) for moment in moments}


def as_day(operand: Operand) -> Any:
    """The day on the calendar of the zone."""
    return day_of(floored(shown(operand), DAY))


# Periods.


def truncated_time(unit: str, instant: Instant) -> Instant:
    """When the hour, minute or second began that an instant lies in: a change of clocks begins a new one."""
    start = instant - instant.local % UNITS[unit]
    return Instant(max(start, *changes(instant.timezone, start - 1, instant).instants, start), instant.timezone)


@lru_cache(maxsize=64)
def periods(unit: str, first: Instant, last: Instant, timezone: str) -> tuple[Instant, ...] | None:
    """When hours, minutes or seconds between two instants began; None where these are too many to list."""
    step = UNITS[unit]
    if (last - first) // step > _MOST:
        return None
    moves = changes(timezone, first, last)
    edges = [int(truncated_time(unit, first)), *moves.instants, int(last) + 1]
    found: dict[int, None] = {}
    for begin, end, offset in zip(edges, edges[1:], moves.offsets, strict=False):
        found[begin] = None
        found.update(dict.fromkeys(range(begin + step - (begin + offset) % step, end, step)))
    return tuple(Instant(each, timezone) for each in found)


def truncate_domain(unit: str, part: Domain) -> Domain:
    """When the periods begin that the instants of a domain lie in."""
    if part.values is not None and len(part.values) <= _MOST:
        return listed_domain("timestamp", (truncated_time(unit, each) for each in part.values), part.missing)
    known = periods(unit, part.lower, part.upper, part.timezone)
    return Domain("timestamp", truncated_time(unit, part.lower), truncated_time(unit, part.upper), known, part.missing)


def truncate_engine(unit: str, operand: Operand) -> Any:
    """When the period began that an instant lies in."""
    domain, seconds, step = operand.domain, operand.engine, UNITS[unit]
    local = shown(operand)
    start = seconds - (local - floored(local, step) * step)
    moves = changes(domain.timezone, int(domain.lower), int(domain.upper))
    pairs = zip(moves.instants, moves.offsets[1:], strict=True)
    within = [instant for instant, offset in pairs if (instant + offset) % step]
    if not within:
        return start
    last = stepwise(seconds, within, (FIRST, *within))
    return (start < last).ifelse(last, start)


def next_period(instant: Instant, unit: str) -> Instant:
    """When the next hour, day, week, month, quarter or year begins, on the clocks of its zone."""
    zone = instant.timezone
    if unit in UNITS:
        end = instant + UNITS[unit] - instant.local % UNITS[unit]
        return Instant(min([*changes(zone, instant, end).instants, end]), zone)
    following = _after(unit, instant.day)
    found = midnight(following, zone)
    if found is None:
        raise InputError("bins.every", unit, "periods up to the year 2239")
    return found


def _after(unit: str, day: date) -> date:
    """The first day of the next period."""
    if unit in ("day", "week"):
        return date.fromordinal(day.toordinal() + (1 if unit == "day" else 7 - day.weekday()))
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    total = (day.year * 12 + day.month - 1) // months * months + months
    return date(total // 12, total % 12 + 1, 1)


# Instants from days and instants.


def midnight(day: date, timezone: str) -> Instant | None:
    """When a day begins on the clocks of a zone."""
    return instant_at((day - _EPOCH).days * DAY, timezone)


def _zone(part: Domain) -> str:
    name = part.values[0] if part.kind == "text" and part.values and len(part.values) == 1 else None
    try:
        return check_timezone(name)
    except InputError as problem:
        raise UnsuitableError(f"AT TIME ZONE with {problem.allowed}", problem.hint) from None


def _zoned_domain(part: Domain, zone: Domain) -> Domain:
    name = _zone(zone)
    if part.kind == "date":
        first, last = midnight(part.lower, name), midnight(part.upper, name)
        if first is None or last is None:
            raise UnsuitableError("a day between the years 1700 and 2239")
        return Domain("timestamp", first, last, None, part.missing)
    _instant(part)
    values = None if part.values is None else tuple(Instant(each, name) for each in part.values)
    return Domain("timestamp", Instant(part.lower, name), Instant(part.upper, name), values, part.missing)


def _zoned(value: Any, zone: str) -> Instant | None:
    return Instant(value, zone) if isinstance(value, Instant) else midnight(value, zone)


def _zoned_engine(operands: Sequence[Operand], result: Domain) -> Any:
    part = operands[0]
    if part.domain.kind == "timestamp":
        return part.engine
    local = day_number(part.engine) * DAY
    return instant_of(local, result.timezone, int(result.lower), int(result.upper))


def _reached(low: int, high: int, zone: str, missing: bool) -> Domain:
    if low < FIRST + 2 * DAY or high > LAST - 2 * DAY:
        raise UnsuitableError(_RANGE)
    return Domain("timestamp", Instant(low, zone), Instant(high, zone), None, missing)


def _later_domain(part: Domain, seconds: Domain) -> Domain:
    _instant(part)
    if seconds.kind != "integer":
        raise UnsuitableError("a whole number of seconds, minutes or hours")
    low, high = part.lower + seconds.lower, part.upper + seconds.upper
    return _reached(low, high, part.timezone, part.missing or seconds.missing)


def shifted(instant: Instant, local: int) -> Instant | None:
    """The instant at which the same clocks show another time."""
    return instant_at(local, instant.timezone)


def days_later_domain(part: Domain, low: int, high: int, missing: bool) -> Domain:
    """Instants whose local time is so many days later. A change of clocks moves the ends by less than a day."""
    return _reached(part.lower + (low - 1) * DAY, part.upper + (high + 1) * DAY, part.timezone, part.missing or missing)


def days_later(instant: Instant, days: int) -> Instant | None:
    """The same time on a later day."""
    return shifted(instant, instant.local + days * DAY)


def days_later_engine(operand: Operand, days: Any, result: Domain) -> Any:
    """The same time on a later day."""
    return at_local(shown(operand) + days * DAY, result)


def at_local(local: Any, result: Domain) -> Any:
    """The instant at which clocks show a time that follows from an instant."""
    low, high = int(result.lower), int(result.upper)
    return bounded_seconds(instant_of(local, result.timezone, low, high), low, high)


def _epoch_domain(part: Domain) -> Domain:
    if part.kind == "integer":  # a difference of timestamps is one of seconds
        return part
    _instant(part)
    values = None if part.values is None else tuple(int(each) for each in part.values)
    return Domain("integer", int(part.lower), int(part.upper), values, part.missing)


FUNCTIONS = {
    "hour": _part(3600, 24),
    "minute": _part(60, 60),
    "second": _part(1, 60),
    "epoch": Function(_epoch_domain, int, lambda operands, _: operands[0].engine),
    "at_time_zone": Function(_zoned_domain, _zoned, _zoned_engine),
    "add_seconds": Function(
        _later_domain,
        lambda instant, seconds: Instant(instant + seconds, instant.timezone),
        lambda operands, _: operands[0].engine + operands[1].engine,
    ),
}
