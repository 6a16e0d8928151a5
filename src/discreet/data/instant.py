"""Instants: whole seconds since 1970 in UTC, shown in a time zone; and when a zone's clocks change.

A local time that a change of clocks repeats, or leaves out, is read with the offset from before the change: the first
of the two, or as much later as the clocks were put forward.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from discreet.errors import InputError, nearest

__all__ = [
    "FIRST",
    "LAST",
    "TEXT",
    "Changes",
    "Instant",
    "changes",
    "check_timezone",
    "instant_at",
    "read_instant",
]

DAY = 86400
FIRST = -8520336000
"""The first second of 1700, in UTC."""
LAST = 8520336000 - 1
"""The last second of 2239: up to here a second and six digits of it are told apart by a float."""
TEXT = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]*)?)?"
    r" ?(Z|z|UTC|[+-][0-9]{2}(:?[0-5][0-9](:?[0-5][0-9])?)?)?)?$"
)
"""A day, and a time of it, and an offset: how instants are written."""
_EPOCH = datetime(1970, 1, 1)
_EXAMPLE = "a time such as 2024-12-31 18:30 or 2024-12-31T18:30:00+01:00"


class Instant(int):
    """A second in the history of the world, and the zone whose clocks show it.

    >>> print(Instant(0, "Asia/Kolkata"))
    1970-01-01T05:30:00+05:30
    """

    timezone: str

    def __new__(cls, seconds: int, timezone: str) -> Instant:
        made = super().__new__(cls, seconds)
        made.timezone = timezone
        return made

    def __reduce__(self) -> Any:
        return Instant, (int(self), self.timezone)

    def __str__(self) -> str:
        return self.isoformat()

    __repr__ = __str__

    def isoformat(self) -> str:
        """ISO 8601, with the offset."""
        return _shown(int(self), self.timezone).isoformat()

    @property
    def local(self) -> int:
        """What the zone's clocks show, as seconds since they showed 1970."""
        shown = _shown(int(self), self.timezone).replace(tzinfo=None)
        return (shown - _EPOCH) // timedelta(seconds=1)

    @property
    def day(self) -> date:
        """The day on the zone's calendar."""
        return _shown(int(self), self.timezone).date()


def _shown(seconds: int, timezone: str) -> datetime:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).astimezone(_zone(timezone))


@lru_cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def check_timezone(name: Any, field: str = "timezone") -> str:
    """The name of a time zone of the IANA database."""
    try:
        if not isinstance(name, str) or ("/" not in name and name != "UTC"):
            raise ValueError
        _zone(name)
    except (KeyError, ValueError, OSError):
        hint = "Use a name of the IANA time zone database."
        if isinstance(name, str) and len(name) > 1:
            towns = {zone.rpartition("/")[2].lower(): zone for zone in sorted(available_timezones()) if "/" in zone}
            close = nearest(name.rpartition("/")[2].lower(), towns)
            hint = f"Did you mean `{towns[close]}`? {hint}" if close else hint
        raise InputError(field, name, "a time zone, such as 'Europe/Vienna' or 'UTC'", hint) from None
    return name


def instant_at(local: int, timezone: str) -> Instant | None:
    """The instant at which a zone's clocks show a time; None where it is out of range."""
    if not FIRST + DAY <= local <= LAST - DAY:
        return None
    shown = (_EPOCH + timedelta(seconds=local)).replace(tzinfo=_zone(timezone))
    return Instant((shown - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1), timezone)


def read_instant(value: Any, timezone: str, field: str, *, whole_day: bool = False) -> Instant:
    """A time as a person writes it: with an offset, or on the clocks of the zone. A day is its midnight, or, as a
    `whole_day`, its last second.
    """
    if isinstance(value, Instant):
        return Instant(value, timezone)
    if isinstance(value, str):
        value = _parsed(value, field)
    if isinstance(value, datetime):
        if value.microsecond:
            raise InputError(field, str(value), "a time in whole seconds")
    elif isinstance(value, date):
        value = datetime(value.year, value.month, value.day)
        value += timedelta(seconds=DAY - 1 if whole_day else 0)
    else:
        raise InputError(field, value, _EXAMPLE)
    if value.tzinfo is None:
        found = instant_at((value - _EPOCH) // timedelta(seconds=1), timezone)
    else:
        seconds = (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
        found = Instant(seconds, timezone) if FIRST + DAY <= seconds <= LAST - DAY else None
    if found is None:
        raise InputError(field, str(value), "a time between the years 1700 and 2239")
    return found


def _parsed(text: str, field: str) -> date:
    """A day or a time, as it is written."""
    written = text.strip(" ")
    try:
        if not re.fullmatch(TEXT, written):
            raise ValueError
        if len(written) == 10:
            return date.fromisoformat(written)
        return datetime.fromisoformat(written.upper().replace(",", ".").replace("UTC", "Z").replace(" Z", "Z"))
    except ValueError:
        raise InputError(field, text, _EXAMPLE) from None


@dataclass(frozen=True, slots=True)
class Changes:
    """When a zone's clocks change, in rising order, and their offsets from UTC before, between and after."""

    instants: tuple[int, ...]
    offsets: tuple[int, ...]

    @property
    def local(self) -> tuple[int, ...]:
        """The local times from which on the next offset is meant: after the gap, or after what is repeated."""
        pairs = zip(self.instants, self.offsets[:-1], self.offsets[1:], strict=True)
        return tuple(instant + max(before, after) for instant, before, after in pairs)

    def between(self, first: int, last: int) -> Changes:
        """Those that matter to instants from `first` to `last`."""
        low, high = bisect_right(self.instants, first), bisect_right(self.instants, last)
        return Changes(self.instants[low:high], self.offsets[low : high + 1])


def changes(timezone: str, first: int, last: int) -> Changes:
    """The changes of a zone's clocks from `first` to `last`, from the IANA database alone."""
    years = (datetime(1970, 1, 1) + timedelta(seconds=end) for end in (first, last))
    return _changes(timezone, *(year.year for year in years)).between(first, last)


@lru_cache
def _changes(timezone: str, first: int, last: int) -> Changes:
    """Of whole years: no zone changes twice within a day."""
    zone = _zone(timezone)
    start = datetime(first, 1, 1, tzinfo=UTC) - timedelta(days=2)
    end = datetime(last + 1, 1, 1, tzinfo=UTC) + timedelta(days=2)

    def offset(at: datetime) -> int:
        found = at.astimezone(zone).utcoffset() or timedelta()
        return found // timedelta(seconds=1)

    instants, offsets, before = [], [offset(start)], start
    while before < end:
        after = before + timedelta(days=1)
        if offset(after) != offsets[-1]:
            low, high = 0, DAY  # the second at which it changes
            while high - low > 1:
                middle = (low + high) // 2
                same = offset(before + timedelta(seconds=middle)) == offsets[-1]
                low, high = (middle, high) if same else (low, middle)
            instants.append((before - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) + high)
            offsets.append(offset(after))
        before = after
    return Changes(tuple(instants), tuple(offsets))
