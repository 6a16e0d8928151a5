"""The columns of two tables as values, side by side: what a person sees who opens both files.

For the owner's comparison only. Bins hide what is inside them: a column that is 0 in most rows and one that is spread
between 0 and 2 have the same counts. So columns are compared by their values, and times also by what follows from them:
the time between two of them, the day of the week, the hour of the day.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Timestamp
from discreet.data.instant import DAY, Instant, changes
from discreet.synth.junction import Floats
from discreet.synth.rows import ColumnValues

__all__ = ["Kind", "Values", "derived_values", "local_seconds", "paired_values"]

Kind = Literal["number", "whole", "category", "day", "instant", "days", "seconds"]
"""What the numbers of a column are: days and instants since 1970; between two of them, `days` and `seconds`."""

_EPOCH = date(1970, 1, 1).toordinal()
_DIGITS = 15  # that values are told apart by: a hundredth is no binary fraction, and 57 of them are not 0.57
_FINEST = 300  # decimal places at most: beyond, powers of ten are no floats
_TIMES = 4  # columns of times that are taken from each other, two at a time
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_THURSDAY = 3  # the first day of 1970


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One column of the real rows and of the synthetic ones, as numbers; NaN where a value is missing.

    Of a category the numbers are places in `labels`. If `derived`, no table has the column: it follows from others.
    """

    name: str
    kind: Kind
    real: Floats
    synthetic: Floats
    labels: tuple[str, ...] = ()
    timezone: str = "UTC"
    derived: bool = False

    @property
    def ordered(self) -> bool:
        """Whether it makes sense to ask which of two values is greater."""
        return self.kind != "category"

    @property
    def discrete(self) -> bool:
        """Whether values are whole numbers or days, or names."""
        return self.kind in ("whole", "category", "day", "days")

    @property
    def known(self) -> tuple[Floats, Floats]:
        """The values that are there, real and synthetic, from the least to the greatest."""
        first, second = (np.sort(side[~np.isnan(side)]) for side in (self.real, self.synthetic))
        return first, second

    @property
    def missing(self) -> tuple[float, float]:
        """The shares of rows without a value, real and synthetic."""
        first, second = (float(np.isnan(side).mean()) if len(side) else 0.0 for side in (self.real, self.synthetic))
        return first, second

    def brief(self, value: float) -> str:
        """A value in few digits, for the end of a group."""
        if self.kind == "number" and abs(value) < 10_000:
            return f"{value + 0.0:,.4g}"
        return self.text(value)[:16] if self.kind == "instant" else self.text(value)

    def text(self, value: float) -> str:
        """A value as people write it."""
        match self.kind:
            case "category":
                return self.labels[int(value)]
            case "day":
                return date.fromordinal(_EPOCH + math.floor(value)).isoformat()
            case "instant":
                return Instant(math.floor(value), self.timezone).isoformat()[:19].replace("T", " ")
            case "days":
                return f"{value + 0.0:,.12g} day" + ("" if abs(value) == 1 else "s")
            case "seconds":
                return _duration(value)
            case _:
                return f"{value + 0.0:.12g}"


def paired_values(
    columns: Mapping[str, Column], real: Mapping[str, ColumnValues], synthetic: Mapping[str, ColumnValues]
) -> list[Values]:
    """Every column of two tables that were read by the same rules."""
    return [_paired(name, column, real[name], synthetic[name]) for name, column in columns.items()]


def _paired(name: str, column: Column, real: ColumnValues, synthetic: ColumnValues) -> Values:
    first, second = _numbers(real), _numbers(synthetic)
    match column:
        case Category():
            return Values(name, "category", first, second, column.values)
        case Boolean():
            return Values(name, "category", first, second, ("False", "True"))
        case Real():
            finest = _grain(column)
            return Values(name, "number", np.round(first, finest), np.round(second, finest))
        case Date():
            return Values(name, "day", first, second)
        case Timestamp():
            return Values(name, "instant", first, second, timezone=column.timezone)
        case _:
            return Values(name, "whole", first, second)


def _numbers(values: ColumnValues) -> Floats:
    return np.where(values.missing, np.nan, values.values.astype(np.float64))


def _grain(column: Real | Integer) -> int:
    """How many decimal places count."""
    largest = max(abs(float(column.lower)), abs(float(column.upper)))
    return min(max(_DIGITS - 1 - math.floor(math.log10(largest)), 0), _FINEST)


def derived_values(values: Sequence[Values]) -> list[Values]:
    """What follows from times: days of the week, hours of the day, and the time between two columns of one kind."""
    found = []
    for one in values:
        if one.kind in ("day", "instant"):
            days = _of_both(one, _weekday)
            found.append(Values(f"weekday of {one.name}", "category", *days, labels=_WEEK, derived=True))
        if one.kind == "instant":
            hours = _of_both(one, _hour)
            found.append(Values(f"hour of {one.name}", "whole", *hours, derived=True))
    for kind, unit in (("day", "days"), ("instant", "seconds")):
        alike = [one for one in values if one.kind == kind][:_TIMES]
        for one, other in itertools.combinations(alike, 2):
            found.append(_difference(one, other, unit))
            if kind == "instant":
                found.append(_same_day(one, other))
    return found


def _difference(one: Values, other: Values, unit: Any) -> Values:
    """The time from the one that is mostly earlier, among real rows, to the other."""
    apart = other.real - one.real
    known = apart[~np.isnan(apart)]
    if len(known) and np.median(known) < 0:
        one, other = other, one
    name = f"{other.name} \u2212 {one.name}"
    return Values(name, unit, other.real - one.real, other.synthetic - one.synthetic, derived=True)


def _same_day(one: Values, other: Values) -> Values:
    """Whether two times are on one day of the calendar."""
    first, second = _of_both(one, _day), _of_both(other, _day)
    real, synthetic = (_equal(early, late) for early, late in zip(first, second, strict=True))
    name = f"{one.name} and {other.name} on one day"
    return Values(name, "category", real, synthetic, ("no", "yes"), derived=True)


def _equal(one: Floats, other: Floats) -> Floats:
    """1 where two columns are equal and 0 where not; NaN where one is missing."""
    return np.where(np.isnan(one) | np.isnan(other), np.nan, (one == other).astype(np.float64))


def _of_both(values: Values, made: Any) -> tuple[Floats, Floats]:
    return made(values, values.real), made(values, values.synthetic)


def _day(values: Values, side: Floats) -> Floats:
    return side if values.kind == "day" else np.floor(local_seconds(side, values.timezone) / DAY)


def _weekday(values: Values, side: Floats) -> Floats:
    return np.asarray((_day(values, side) + _THURSDAY) % 7)


def _hour(values: Values, side: Floats) -> Floats:
    return np.asarray(np.floor(local_seconds(side, values.timezone) % DAY / 3600))


def local_seconds(instants: Floats, timezone: str) -> Floats:
    """What the clocks of a zone show, as seconds since they showed 1970."""
    known = instants[~np.isnan(instants)]
    if len(known) == 0:
        return instants
    moves = changes(timezone, int(known.min()), int(known.max()))
    places: NDArray[np.int64] = np.searchsorted(np.array(moves.instants, dtype=np.float64), instants, side="right")
    offsets = np.array(moves.offsets, dtype=np.float64)
    return instants + offsets[np.minimum(places, len(offsets) - 1)]


def _duration(seconds: float) -> str:
    """Seconds in the two units that say most.

    >>> _duration(3725), _duration(-90), _duration(0), _duration(59.5)
    ('1 h 2 min', '\u22121 min 30 s', '0 s', '59.5 s')
    """
    sign, left = "\u2212" if seconds < 0 else "", abs(seconds)
    for size, name, part, below in ((DAY, "days", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if left >= size:
            rest = int(left % size // part)
            return f"{sign}{int(left // size):,} {name}" + (f" {rest} {below}" if rest else "")
    return f"{sign}{left:.4g} s"
