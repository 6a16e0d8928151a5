"""What timestamps are read as beside days and constants, and functions of days that are taken of timestamps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from discreet.data.column import Column, Timestamp
from discreet.data.expression.calendar import FUNCTIONS as OF_DAYS
from discreet.data.expression.domain import Domain
from discreet.data.expression.node import Call, Constant, Expression
from discreet.data.expression.time import UNITS
from discreet.data.instant import Instant, read_instant
from discreet.errors import InputError

__all__ = ["FUNCTIONS", "alike", "constant", "rewritten"]

_PARTS = set(OF_DAYS) - {"truncate", "add_months"}
FUNCTIONS = {*_PARTS, "truncate", "subtract", "as_timestamp", "calendar_day", "days_between"}
"""Functions that are written differently of timestamps."""


def constant(value: Any, columns: Mapping[str, Column], field: str) -> Expression:
    """A constant; a time as an instant."""
    return Constant(_instant(value, columns, field)) if isinstance(value, datetime) else Constant(value)


def _instant(value: Any, columns: Mapping[str, Column], field: str) -> Instant:
    """A time that a person wrote, on the clocks of the one zone that the schema has."""
    zones = {column.timezone for column in columns.values() if isinstance(column, Timestamp)}
    if len(zones) == 1:
        return read_instant(value, zones.pop(), field)
    found, other = (read_instant(value, zone, field) for zone in ("UTC", "Asia/Kolkata"))
    if found != other and zones:  # it has no offset
        hint = "Columns have several time zones."
        raise InputError(field, str(value), "a time with an offset, such as 2024-12-31T18:30+01:00", hint)
    return found


def rewritten(
    function: str, parts: list[Expression], domains: Sequence[Domain], columns: Mapping[str, Column], field: str
) -> tuple[str, list[Expression]] | None:
    """The function that is meant, and its arguments; no function where its one argument is meant. None: as it is."""
    timed = [domain.kind == "timestamp" for domain in domains]
    match function:
        case "as_timestamp" if len(parts) == 1:
            (part,) = parts
            known = any(isinstance(column, Timestamp) for column in columns.values())
            if isinstance(part, Constant) and isinstance(part.value, str) and known:
                return "", [Constant(_instant(part.value, columns, field))]
            return ("", parts) if timed[0] else ("as_date", parts)
        case "calendar_day" if len(parts) == 1:
            return ("as_date", parts) if timed[0] else ("", parts)
        case "days_between" if len(parts) == 2:
            return "subtract", [_day(part, each) for part, each in zip(parts, timed, strict=True)]
        case "truncate" if len(parts) == 2 and timed[1]:
            unit = parts[0].value if isinstance(parts[0], Constant) else None
            if not isinstance(unit, str) or unit.lower() not in UNITS:
                return function, [parts[0], _day(parts[1], True)]
        case _ if function in _PARTS and any(timed):
            return function, [_day(part, each) for part, each in zip(parts, timed, strict=True)]
    return None


def _day(part: Expression, timed: bool) -> Expression:
    if isinstance(part, Constant) and isinstance(part.value, Instant):
        return Constant(part.value.day)
    return Call("as_date", (part,)) if timed else part


def alike(parts: list[Expression], domains: Sequence[Domain], field: str) -> list[Expression]:
    """Days and constants beside timestamps as timestamps of the same zone: a day is its midnight there."""
    timed = [domain for domain in domains if domain.kind == "timestamp"]
    varying = [
        domain
        for part, domain in zip(parts, domains, strict=True)
        if domain in timed and not isinstance(part, Constant)
    ]
    zone = (varying or timed)[0].timezone

    def read(part: Expression, domain: Domain) -> Expression:
        if not isinstance(part, Constant):
            return Call("at_time_zone", (part, Constant(zone))) if domain.kind == "date" else part
        if isinstance(part.value, str | date | Instant):
            return Constant(read_instant(part.value, zone, field))
        return part

    return [read(part, domain) for part, domain in zip(parts, domains, strict=True)]
