"""The bins that values are sorted into before their ranks are noised. They follow from what is declared alone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.data.clock import floored
from discreet.data.column import Date, Integer, Numeric, Timestamp
from discreet.data.instant import Instant
from discreet.data.read import as_declared, bounded, whole
from discreet.errors import InputError

__all__ = ["DECADES", "MOST_BINS", "Days", "Decades", "Even", "Grid", "Seconds", "grid_for", "shown"]

Expression = Any  # ibis expressions carry no useful static types here

MOST_BINS = 2**16
DECADES = "decades"
_REACH = 12  # decades below the largest bound


@dataclass(frozen=True, slots=True)
class Even:
    """`bins` bins of equal width from `lower` to `upper`; of whole numbers, each bin holds `width` of them."""

    lower: Fraction
    upper: Fraction
    width: Fraction
    bins: int
    whole: bool

    def start(self, place: int) -> int | float:
        """The least value of a bin."""
        return _plain(self.lower + place * self.width, self.whole)

    def end(self, place: int) -> int | float:
        """The largest value of a bin: its end, and for whole numbers the last one inside."""
        after = self.lower + (place + 1) * self.width - (1 if self.whole else 0)
        return _plain(min(after, self.upper), self.whole)

    def middle(self, place: int) -> int | float:
        """What stands for a bin."""
        return _middle(self.start(place), self.end(place), self.whole)

    def place(self, raw: Expression) -> Expression:
        """The bin of a stored value, in the engine; NULL where it is missing.

        Plain arithmetic that rounds alike on every engine and never falls as the value rises: the bins are intervals,
        whose ends are the stated ones to within a rounding of floats.
        """
        import ibis

        low, width = float(self.lower), float(self.width)

        def inside(number: Expression) -> Expression:
            if self.whole:
                place = ((whole(number) - int(self.lower)).cast("float64") + 0.5) / width
            else:
                # Half a width first: a number too small to be divided is then no reason for an engine to fail.
                place = ((number.cast("float64") - low) + width / 2) / width - 0.5
            return ibis.greatest(ibis.least(place.floor().cast("int64"), self.bins - 1), 0).cast("int32")

        return _placed(raw, low, float(self.upper), inside, self.bins - 1)


@dataclass(frozen=True, slots=True)
class Decades:
    """Bins that end at 1, 2 and 5 times the powers of ten, on both sides of zero: narrow near zero, wide far away."""

    edges: tuple[Fraction, ...]
    whole: bool

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    def start(self, place: int) -> int | float:
        """The least value of a bin."""
        return _plain(self.edges[place], self.whole)

    def end(self, place: int) -> int | float:
        """Where a bin ends: a round number, so the next bin's start."""
        return _plain(self.edges[place + 1], self.whole)

    def middle(self, place: int) -> int | float:
        """What stands for a bin."""
        return _middle(self.start(place), self.end(place), self.whole)

    def place(self, raw: Expression) -> Expression:
        """The bin of a stored value, in the engine; NULL where it is missing."""
        import ibis

        def inside(number: Expression) -> Expression:
            value = whole(number) if self.whole else number
            passed = [(value >= float(edge)).ifelse(1, 0) for edge in self.edges[1:-1]]
            return sum(passed[1:], passed[0]).cast("int32") if passed else ibis.literal(0, "int32")

        return _placed(raw, float(self.edges[0]), float(self.edges[-1]), inside, self.bins - 1)


@dataclass(frozen=True, slots=True)
class Days:
    """Bins of `width` days each, from the first declared day on. Days are counted as Python does, from the year 1."""

    column: Date
    width: int
    bins: int

    def start(self, place: int) -> int:
        """The first day of a bin."""
        return self.column.lower.toordinal() + place * self.width

    def end(self, place: int) -> int:
        """The last day of a bin."""
        return min(self.start(place + 1) - 1, self.column.upper.toordinal())

    def middle(self, place: int) -> int:
        """What stands for a bin."""
        return (self.start(place) + self.end(place)) // 2

    def place(self, raw: Expression) -> Expression:
        """The bin of a stored day, in the engine; NULL where it is missing."""
        import ibis

        day = as_declared(raw, self.column)
        since = day.cast("timestamp").epoch_seconds().cast("int64") - _seconds(self.column.lower)
        place = ((since + 0.5) / (self.width * 86400)).floor().cast("int32")
        return day.notnull().ifelse(place, ibis.null("int32"))


@dataclass(frozen=True, slots=True)
class Seconds:
    """Bins of `width` seconds each, from the first declared instant on."""

    column: Timestamp
    width: int
    bins: int

    def start(self, place: int) -> int:
        """The first second of a bin."""
        return int(self.column.lower) + place * self.width

    def end(self, place: int) -> int:
        """The last second of a bin."""
        return min(self.start(place + 1) - 1, int(self.column.upper))

    def middle(self, place: int) -> int:
        """What stands for a bin."""
        return (self.start(place) + self.end(place)) // 2

    def place(self, raw: Expression) -> Expression:
        """The bin of a stored time, in the engine; NULL where it is missing."""
        since = as_declared(raw, self.column) - int(self.column.lower)
        return floored(since, self.width).cast("int32")


Grid = Even | Decades | Days | Seconds


def shown(grid: Grid, value: int | float) -> int | float | str:
    """A value of a grid as it is published: days by their date, instants by their local time."""
    if isinstance(grid, Seconds):
        return Instant(int(value), grid.column.timezone).isoformat()
    return date.fromordinal(int(value)).isoformat() if isinstance(grid, Days) else value


def grid_for(column: Numeric | Date | Timestamp, size: int | str) -> Grid:
    """`size` bins of equal width over the declared bounds (fewer if there are fewer whole numbers), or "decades".

    >>> grid_for(Integer(0, 120), 1024).bins
    121
    """
    counted = isinstance(column, Integer)
    if isinstance(column, Date | Timestamp) and size == DECADES:
        raise InputError("grid", size, "a number of bins where a column holds dates: no day is rounder than another")
    if size == DECADES and not isinstance(column, Date | Timestamp):
        return Decades(_decades(column.lower, column.upper, counted), counted)
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= MOST_BINS:
        raise InputError("grid", size, f"a whole number of bins from 2 to {MOST_BINS:,}")
    if isinstance(column, Date):
        days = (column.upper - column.lower).days + 1
        several = -(-days // size)
        return Days(column, several, -(-days // several))
    if isinstance(column, Timestamp):
        seconds = int(column.upper) - int(column.lower) + 1
        several = -(-seconds // size)
        return Seconds(column, several, -(-seconds // several))
    span = column.upper - column.lower
    if not counted:
        return Even(column.lower, column.upper, span / size, size, False)
    width = -(-(span + 1) // size)
    return Even(column.lower, column.upper, Fraction(width), int(-(-(span + 1) // width)), True)


def _seconds(day: date) -> int:
    return (day - date(1970, 1, 1)).days * 86400


def _decades(lower: Fraction, upper: Fraction, counted: bool) -> tuple[Fraction, ...]:
    largest = max(abs(lower), abs(upper))
    top = 0
    while Fraction(10) ** top > largest:
        top -= 1
    while Fraction(10) ** (top + 1) <= largest:
        top += 1
    lowest = max(top - _REACH, 0) if counted else top - _REACH
    sizes = [m * Fraction(10) ** power for power in range(lowest, top + 1) for m in (1, 2, 5)]
    marks = [-size for size in reversed(sizes)] + [Fraction(0)] + sizes
    found = [lower, *(mark for mark in marks if lower < mark < upper), upper]
    return tuple(a for a, _ in itertools.groupby(found))


def _placed(raw: Expression, low: float, high: float, inside: Any, last: int) -> Expression:
    import ibis

    below, above = ibis.literal(0, "int32"), ibis.literal(last, "int32")
    return bounded(raw, low, high, inside=inside, below=below, above=above, missing=ibis.null("int32"))


def _plain(value: Fraction, counted: bool) -> int | float:
    return int(value) if counted else float(value)


def _middle(start: int | float, end: int | float, counted: bool) -> int | float:
    return (int(start) + int(end)) // 2 if counted else (start + end) / 2
