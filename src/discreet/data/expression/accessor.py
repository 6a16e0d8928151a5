"""What `.dt` and `.str` of an expression offer: parts of days and times, functions of text."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.data.expression.node import Call, Expression, call

__all__ = ["Calendar", "Words"]


@dataclass(frozen=True, slots=True)
class Calendar:
    """Parts of a day or of a time. `weekday` and `dayofweek` are 0 on Mondays, `isodow` is 1."""

    of: Expression

    def __getattr__(self, part: str) -> Call:
        from discreet.data.expression.calendar import PARTS
        from discreet.data.expression.time import PARTS as TIMES

        if part not in PARTS and part not in TIMES:
            known = ", ".join((*PARTS, *TIMES))
            raise AttributeError(f"no part of a day: {part!r}; there are {known}, date, truncate(...), tz_convert(...)")
        if part in ("weekday", "dayofweek"):  # as in pandas: in SQL they count from Sunday
            return call("subtract", call("isodow", self.of), 1)
        return call(part, self.of)

    @property
    def date(self) -> Call:
        """The day of a time, on the clocks of its zone."""
        return call("as_date", self.of)

    def tz_convert(self, timezone: str) -> Call:
        """The same instant on the clocks of another zone; of a day, its first second there."""
        return call("at_time_zone", self.of, timezone)

    def truncate(self, unit: str) -> Call:
        """The first day of its week, month, quarter or year; of a time also when its hour or minute began."""
        return call("truncate", unit, self.of)


@dataclass(frozen=True, slots=True)
class Words:
    """Functions of text."""

    of: Expression

    def upper(self) -> Call:
        """In upper case."""
        return call("upper", self.of)

    def lower(self) -> Call:
        """In lower case."""
        return call("lower", self.of)

    def strip(self) -> Call:
        """Without blanks at its ends."""
        return call("trim", self.of)

    def len(self) -> Call:
        """How many characters."""
        return call("length", self.of)

    def slice(self, start: int, length: int | None = None) -> Call:
        """So many characters from the place `start`, counted from 0; all that follow if no `length` is given."""
        return call("substring", self.of, start + 1, *([] if length is None else [length]))

    def startswith(self, text: str) -> Call:
        """Whether it begins so."""
        return call("starts_with", self.of, text)

    def endswith(self, text: str) -> Call:
        """Whether it ends so."""
        return call("ends_with", self.of, text)

    def contains(self, text: str) -> Call:
        """Whether this stands in it."""
        return call("contains", self.of, text)

    def like(self, pattern: str) -> Call:
        """Whether it matches a pattern of SQL, with % and _."""
        return call("like", self.of, pattern)
