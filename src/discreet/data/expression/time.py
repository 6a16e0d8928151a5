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
from discreet.data.expression import arithmetic, calendar, conversion
from discreet.data.expression.calendar import day_number, day_of
from discreet.data.expression.domain import Domain, UnsuitableError, listed_domain
from discreet.data.expression.function import Function, Operand
from discreet.data.expression.node import quoted
from discreet.data.instant import DAY, FIRST, LAST, Instant, changes, check_timezone, instant_at
from discreet.errors import InputError

__all__ = ["FUNCTIONS", "PARTS", "UNITS", "midnight", "next_day", "next_period", "parts_hint", "truncated_time"]

UNITS = {"second": 1, "minute": 60, "hour": 3600}
_MOST = 200_000
_EPOCH = date(1970, 1, 1)
_RANGE = "a time between the years 1700 and 2239"


def parts_hint(name: str) -> str:
    """What may stand where a timestamp itself has too many values: parts and periods of it.

    >>> parts_hint("at")
    "Have parts of it instead: HOUR(at), DAYOFWEEK(at) or DATE_TRUNC('day', at)."
    """
    column = quoted(name)
    return f"Have parts of it instead: HOUR({column}), DAYOFWEEK({column}) or DATE_TRUNC('day', {column})."


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
    following = next_day(unit, instant.day)
    found = midnight(following, zone)
    return Instant(LAST, zone) if found is None else found  # which is after every bound


def next_day(unit: str, day: date) -> date:
    """The first day of the week, month, quarter or year that begins after a day; or the next day."""
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


def days_later_domain(part: Domain, low: int, high: int, missing: bool) -> Domain:
    """Instants whose local time is so many days later. A change of clocks moves the ends by less than a day."""
    return _reached(part.lower + (low - 1) * DAY, part.upper + (high + 1) * DAY, part.timezone, part.missing or missing)


def days_later(instant: Instant, days: int) -> Instant | None:
    """The same time on a later day."""
    return instant_at(instant.local + days * DAY, instant.timezone)


def _local_domain(day: Domain, seconds: Domain, zone: Domain) -> Domain:
    first, last = ((end - _EPOCH).days * DAY for end in (day.lower, day.upper))
    low, high = max(FIRST, first - 2 * DAY), min(LAST, last + 3 * DAY)
    name = _zone(zone)
    return Domain("timestamp", Instant(low, name), Instant(high, name), None, day.missing or seconds.missing)


def _local_engine(operands: Sequence[Operand], result: Domain) -> Any:
    low, high = int(result.lower), int(result.upper)
    local = day_number(operands[0].engine) * DAY + operands[1].engine
    return bounded_seconds(instant_of(local, result.timezone, low, high), low, high)


def _time_domain(part: Domain) -> Domain:
    _instant(part)
    return Domain("integer", 0, DAY - 1, None, part.missing)


def _passed_engine(operands: Sequence[Operand], _: Domain) -> Any:
    local = shown(operands[0])
    return local - floored(local, DAY) * DAY


def _epoch_domain(part: Domain) -> Domain:
    if part.kind == "integer":  # a difference of timestamps is one of seconds
        return part
    _instant(part)
    values = None if part.values is None else tuple(int(each) for each in part.values)
    return Domain("integer", int(part.lower), int(part.upper), values, part.missing)


def _months_domain(part: Domain, months: Domain) -> Domain:
    _instant(part)
    if months.kind != "integer" or months.values is None or len(months.values) != 1:
        raise UnsuitableError("a constant number of months")
    ends = [_months_later(end, months.values[0]) for end in (part.lower, part.upper)]
    if None in ends:
        raise UnsuitableError(_RANGE)
    low, high = (int(end or 0) for end in ends)  # the last of a month stands for several days
    return _reached(low - 2 * DAY, high + 2 * DAY, part.timezone, part.missing)


def _months_later(instant: Instant, months: int) -> Instant | None:
    day = calendar.FUNCTIONS["add_months"].value(instant.day, months)
    return None if day is None else instant_at((day - _EPOCH).days * DAY + instant.local % DAY, instant.timezone)


# Functions that days and numbers have too.


def _add_domain(part: Domain, days: Domain) -> Domain:
    if days.kind != "integer":
        raise UnsuitableError("a time and a number of days, or an INTERVAL")
    return days_later_domain(part, int(days.lower), int(days.upper), days.missing)


def _subtract_domain(a: Domain, b: Domain) -> Domain:
    if b.kind == "timestamp":
        return Domain("integer", int(a.lower) - int(b.upper), int(a.upper) - int(b.lower), None, a.missing or b.missing)
    if b.kind != "integer":
        raise UnsuitableError("a time less a time, a number of days, or an INTERVAL")
    return days_later_domain(a, -int(b.upper), -int(b.lower), b.missing)


def _subtract(a: Instant, b: int) -> int | Instant | None:
    return int(a) - int(b) if isinstance(b, Instant) else days_later(a, -b)


def _subtract_engine(operands: Sequence[Operand], result: Domain) -> Any:
    a, b = operands
    return a.engine - b.engine if result.kind == "integer" else None


def _truncate_domain(unit: Domain, part: Domain) -> Domain:
    name = str(unit.values[0]).lower() if unit.kind == "text" and unit.values and len(unit.values) == 1 else ""
    if name not in UNITS:
        raise UnsuitableError(f"a unit of {', '.join((*UNITS, *calendar.UNITS))}")
    return truncate_domain(name, part)


def _truncate_engine(operands: Sequence[Operand], _: Domain) -> Any:
    return truncate_engine(str((operands[0].domain.values or ("",))[0]).lower(), operands[1])


def _day_domain(part: Domain) -> Domain:
    values = part.values
    if values is not None and len(values) <= _MOST:
        return listed_domain("date", (each.day for each in values), part.missing)
    # Clocks that are put back just after midnight show the day before once more.
    moves = changes(part.timezone, part.lower, part.upper).instants
    ends = [part.lower, part.upper, *moves, *(instant - 1 for instant in moves)]
    days = [Instant(each, part.timezone).day for each in ends]
    return Domain("date", min(days), max(days), None, part.missing)


def _either(other: Function, own: Function, place: int = 0) -> Function:
    """One function of instants, and another one of everything else."""

    def domain(*parts: Domain) -> Domain:
        taken = own if len(parts) > place and parts[place].kind == "timestamp" else other
        return taken.domain(*parts)

    def value(*values: Any) -> Any:
        return (own if isinstance(values[place], Instant) else other).value(*values)

    def engine(operands: Sequence[Operand], result: Domain) -> Any:
        taken = own if operands[place].domain.kind == "timestamp" else other
        return None if taken.engine is None else taken.engine(operands, result)

    return Function(domain, value, engine, loose=other.loose)


def _same(part: Domain) -> Domain:
    if part.kind not in ("date", "timestamp"):
        raise UnsuitableError(f"a date, a timestamp or text, not {part.kind}")
    return part


_AS_IT_IS = Function(_same, lambda value: value, lambda operands, _: operands[0].engine)
_DAY = Function(_day_domain, lambda instant: instant.day, lambda operands, _: as_day(operands[0]))

PARTS = {"hour": _part(3600, 24), "minute": _part(60, 60), "second": _part(1, 60)}
"""Whole numbers of a time of day."""

FUNCTIONS = {
    **PARTS,
    "epoch": Function(_epoch_domain, int, lambda operands, _: operands[0].engine),
    "at_time_zone": Function(_zoned_domain, _zoned, _zoned_engine),
    "time_of_day": Function(
        _time_domain,
        lambda instant: instant.local % DAY,
        _passed_engine,
    ),
    "at_local": Function(
        _local_domain,
        lambda day, seconds, zone: instant_at((day - _EPOCH).days * DAY + seconds, zone),
        _local_engine,
    ),
    "add_seconds": Function(
        _later_domain,
        lambda instant, seconds: Instant(instant + seconds, instant.timezone),
        lambda operands, _: operands[0].engine + operands[1].engine,
    ),
    "add": _either(
        arithmetic.FUNCTIONS["add"],
        Function(_add_domain, days_later),
    ),
    "subtract": _either(arithmetic.FUNCTIONS["subtract"], Function(_subtract_domain, _subtract, _subtract_engine)),
    "add_months": _either(calendar.FUNCTIONS["add_months"], Function(_months_domain, _months_later)),
    "truncate": _either(
        calendar.FUNCTIONS["truncate"],
        Function(_truncate_domain, lambda unit, instant: truncated_time(unit.lower(), instant), _truncate_engine),
        place=1,
    ),
    "as_date": _either(conversion.FUNCTIONS["as_date"], _DAY),
    "calendar_day": _either(_AS_IT_IS, _DAY),
    "as_timestamp": _either(conversion.FUNCTIONS["as_date"], _AS_IT_IS),
    "days_between": _either(arithmetic.FUNCTIONS["subtract"], arithmetic.FUNCTIONS["subtract"]),
}
"""`calendar_day`, `as_timestamp` and `days_between` are how text is read; `resolve` has other functions for them.
Engines have `at_local` of a later day and the `time_of_day` for a time on a later day.
"""
