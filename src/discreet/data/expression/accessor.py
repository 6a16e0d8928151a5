"""What `.dt` and `.str` of an expression offer: parts of days and times, functions of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from discreet.data.expression.node import Call, Expression, call
from discreet.errors import nearest

__all__ = ["Calendar", "Words", "absent"]

# What other libraries call it.
_COMMON = {
    **dict.fromkeys(("isnull", "is_null", "isna", "is_nan", "isnan"), "missing()"),
    **dict.fromkeys(("notnull", "not_null", "is_not_null", "notna"), "~col(...).missing()"),
    **dict.fromkeys(("fillna", "fill_null", "fill_nan", "coalesce"), "fill_missing(value)"),
    **dict.fromkeys(("is_in", "in_"), "isin(values)"),
    **dict.fromkeys(("astype", "try_cast"), "cast(kind)"),
    **dict.fromkeys(("is_between", "ge_le"), "between(low, high)"),
    **dict.fromkeys(("startswith", "starts_with"), "str.startswith(text)"),
    **dict.fromkeys(("endswith", "ends_with"), "str.endswith(text)"),
    **dict.fromkeys(("contains", "like", "upper", "lower", "strip"), "str"),
    **dict.fromkeys(("year", "month", "day", "hour", "weekday", "quarter"), "dt"),
}


def absent(name: str, kind: type) -> AttributeError:
    """The error for what a kind of expression does not have: it says what to write instead, where that is known.

    >>> print(absent("isnull", Expression))
    an expression has no `isnull`. Did you mean `missing()`?
    """
    common = _COMMON.get(name) if kind is Expression else None
    common = f"{common}.{name}" if common in ("str", "dt") else common
    known = [each for each in dir(kind) if not each.startswith("_")]
    meant = common or (None if name.startswith("__") else nearest(name, known))
    return AttributeError(f"an expression has no `{name}`." + (f" Did you mean `{meant}`?" if meant else ""))


@dataclass(frozen=True, slots=True)
class Calendar:
    """Parts of a day or of a time. `weekday` and `dayofweek` are 0 on Mondays, `isodow` is 1."""

    of: Expression

    def __getattr__(self, part: str) -> Call:
        from discreet.data.expression.calendar import PARTS
        from discreet.data.expression.time import PARTS as TIMES

        if part not in PARTS and part not in TIMES:
            known = ", ".join((*PARTS, *TIMES))
            close = nearest(part, (*PARTS, *TIMES, "date", "strftime", "truncate", "tz_convert"))
            meant = f". Did you mean `{close}`?" if close else ""
            there = f"there are {known}, date, strftime(...), truncate(...), tz_convert(...)"
            raise AttributeError(f"no part of a day: {part!r}; {there}{meant}")
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

    def strftime(self, form: str) -> Call:
        """The day as text, such as "%Y-%m"."""
        return call("strftime", self.of, form)

    def truncate(self, unit: str) -> Call:
        """The first day of its week, month, quarter or year; of a time also when its hour or minute began."""
        return call("truncate", unit, self.of)


@dataclass(frozen=True, slots=True)
class Words:
    """Functions of text."""

    of: Expression

    if not TYPE_CHECKING:  # which sees what there is

        def __getattr__(self, name: str) -> NoReturn:
            raise absent(name, Words)

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
