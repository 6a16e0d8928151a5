"""The times that loads are at: so many, by their names, or every half hour of a day. They are public and declared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time
from typing import Any

from discreet.errors import InputError
from discreet.query.duration import read_duration

__all__ = ["MOST_TIMES", "read_times"]

MOST_TIMES = 10_000
_LONGEST = 40  # letters of a name
_DAY = 24 * 60
_EVERY = re.compile(
    r"every +(?P<width>[\w ]+?)(?: +from +(?P<first>\d\d?:\d\d))?(?: +to +(?P<last>\d\d?:\d\d))?", re.ASCII
)
_ALLOWED = "how many times there are, a list of their names, or text such as 'every 30 minutes from 06:00 to 22:00'"


def read_times(value: Any, field: str = "grid.times") -> tuple[int, tuple[str, ...]]:
    """How many times there are, and what they are called; no names where only their number is said.

    >>> read_times(24)
    (24, ())
    >>> read_times("every 30 minutes")[1][15:18], read_times("every hour from 22:00")[1]
    (('07:30', '08:00', '08:30'), ('22:00', '23:00'))
    >>> read_times([time(8), "noon"])
    (2, ('08:00', 'noon'))
    """
    names: tuple[str, ...] = ()
    match value:
        case str():
            names = _regular(value, field)
        case list() | tuple():
            names = tuple(_name(each, value, field) for each in value)
        case _ if type(value) is not int:
            raise InputError(field, value, _ALLOWED)
    many = len(names) if isinstance(value, Sequence) else value
    if not 1 <= many <= MOST_TIMES:
        raise InputError(field, many, f"from 1 to {MOST_TIMES:,} times")
    if len(set(names)) < len(names):
        raise InputError(field, next(one for one in names if names.count(one) > 1), "names that differ from each other")
    return many, names


def _name(value: Any, given: Any, field: str) -> str:
    match value:
        case datetime():
            return value.isoformat(" ", "minutes" if not value.second else "seconds")
        case time():
            return value.isoformat("minutes" if not value.second else "seconds")
        case str() if 0 < len(value.strip()) <= _LONGEST and value.isprintable():
            return value.strip()
    raise InputError(field, given, f"a list of times of day, or of names of at most {_LONGEST} letters")


def _regular(text: str, field: str) -> tuple[str, ...]:
    """The times of a day in equal steps: the last one begins before the end."""
    match = _EVERY.fullmatch(text.strip())
    if match is None:
        raise InputError(field, text, _ALLOWED)
    width = match["width"] if match["width"][0].isdigit() else f"1 {match['width']}"
    step = read_duration(width, field)
    first, last = (_minutes(match[end] or usual, text, field) for end, usual in (("first", "00:00"), ("last", "24:00")))
    if step % 60 or last <= first:
        raise InputError(field, text, "whole minutes, from a time of day to a later one")
    return tuple(f"{at // 60:02}:{at % 60:02}" for at in range(first, last, step // 60))


def _minutes(text: str, given: str, field: str) -> int:
    hours, minutes = map(int, text.split(":"))
    found = 60 * hours + minutes
    if minutes > 59 or found > _DAY:
        raise InputError(field, given, "times of day from 00:00 to 24:00")
    return found
