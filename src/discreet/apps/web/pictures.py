"""Where the parts of a picture lie, in percent of its size: bars with intervals, errors to come, a budget going down.

Pictures are drawn by templates from these numbers, so that text in them is escaped like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.release import Release, number

__all__ = ["MOST", "Bar", "Bars", "Burn", "Step", "Tick", "Whisker", "bars", "burn", "limit", "ticks", "whisker"]

MOST = 60
"""How many bars are drawn; a table has them all."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval."""

    label: str
    text: str
    interval: str
    start: float
    width: float
    low: float
    high: float
    point: float


@dataclass(frozen=True, slots=True)
class Bars:
    """One output of a release over its groups."""

    output: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    zero: float
    left_out: int


@dataclass(frozen=True, slots=True)
class Whisker:
    """How far an answer that nobody knows yet may be off: an interval in the middle of an axis."""

    label: str
    text: str
    low: float
    high: float
    ends: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """A charge in a burn-down: from where the budget stood to where it stands, in percent from the left and the top."""

    at: float
    until: float
    before: float
    after: float
    text: str


@dataclass(frozen=True, slots=True)
class Burn:
    """An allotment over its charges."""

    name: str
    steps: tuple[Step, ...]
    marks: tuple[Tick, ...]
    first: str
    last: str


def limit(value: float) -> float:
    """The next round number (1, 2 or 5 times a power of ten) that is as large.

    >>> limit(3), limit(12), limit(0.04), limit(0)
    (5.0, 20.0, 0.05, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = math.floor(math.log10(value))
    for head, up in ((1, 0), (2, 0), (5, 0), (1, 1)):
        found = float(Fraction(head) * Fraction(10) ** (power + up))
        if found >= value:
            return found
    return value


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two, at most so many of them and one.

    >>> ticks(0, 1137)
    [0.0, 500.0, 1000.0]
    >>> ticks(-3, 3)
    [-2.0, 0.0, 2.0]
    """
    if not high > low:
        return [low]
    step = limit((high - low) / most)
    first = math.ceil(low / step)
    return [round(place * step, 12) for place in range(first, math.floor(high / step) + 1)]


def bars(release: Release, output: str) -> Bars | None:
    """One output of a release; None where its values are days or none are there."""
    rows = release.rows()
    shown = [row for row in rows if _drawable(row[output])]
    if not shown:
        return None
    kept = shown[:MOST]
    ends = [float(row[name]) for row in kept for name in _three(output) if _drawable(row[name])]
    low, high = min(0.0, *ends), max(0.0, *ends)
    if low == high:
        high = low + 1
    room = (high - low) * 0.02
    low, high = (low - room if low < 0 else low), high + room

    def place(value: Any) -> float:
        return round(100 * (float(value) - low) / (high - low), 3)

    zero = place(0)
    drawn = []
    for row in kept:
        value, lower, upper = (row[name] for name in _three(output))
        at = place(value)
        down, up = (place(end) if _drawable(end) else at for end in (lower, upper))
        label = " · ".join(text(row[key]) for key in release.keys) or output
        interval = f"{number(lower)} to {number(upper)}"
        start, width = min(zero, at), abs(at - zero)
        drawn.append(Bar(label, number(value), interval, start, round(width, 3), down, up, at))
    marks = tuple(Tick(place(value), number(value)) for value in ticks(low, high))
    return Bars(output, tuple(drawn), marks, zero, len(rows) - len(kept))


def whisker(label: str, words: str, half: float, widest: float | None = None) -> Whisker:
    """An interval of a known width around an answer that is not known: the axis is a round number to either side.

    Those that are to be compared share an axis, which has room for the `widest`.
    """
    end = limit((half if widest is None else widest) * 1.02)
    share = 50 * min(half / end, 1)
    ends = (f"\u2212{number(end)}", f"+{number(end)}")
    return Whisker(label, words, round(50 - share, 3), round(50 + share, 3), ends)


def burn(name: str, cap: Fraction, charges: Sequence[tuple[Fraction, str, str]], currency: str) -> Burn:
    """What was left of an allotment after each charge: amount, time, and words for each."""
    steps = []
    spent = Fraction(0)
    wide = 100 / (len(charges) + 1)
    for place, (amount, _, words) in enumerate(charges):
        before = 100 * float(spent / cap)
        spent += amount
        after = 100 * float(min(spent / cap, Fraction(1)))
        at = wide * (place + 1)
        steps.append(Step(round(at, 3), round(at + wide, 3), round(before, 3), round(after, 3), words))
    top = float(cap)
    marks = tuple(Tick(round(100 * (1 - value / top), 3), f"{value:g}") for value in ticks(0, top, 4))
    times = [time for _, time, _ in charges]
    return Burn(f"{name}, {currency} left", tuple(steps), marks, times[0] if times else "", times[-1] if times else "")


def text(key: Any) -> str:
    """A key as people read it."""
    return "(missing)" if key is None else str(key)


def _three(output: str) -> Iterable[str]:
    return (output, f"{output}_lower", f"{output}_upper")


def _drawable(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
