"""From numbers to places on an axis: linear and logarithmic scales, round ticks, numbers in few digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError

__all__ = ["Format", "Scale", "brief", "compact", "finite", "informative", "round_up", "share", "ticks"]

Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`, linear unless `log`."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InputError("scale", (self.low, self.high), "two finite numbers, the lower first")
        if self.log and self.low <= 0:
            raise InputError("scale", self.low, "more than zero where an axis is logarithmic")

    def at(self, value: float) -> float:
        """Where a value lies, from 0 at `low` to 1 at `high`; what is outside lies at the end that is nearer.

        >>> Scale(0, 50).at(10), Scale(1, 100, log=True).at(10), Scale(0, 1).at(7)
        (0.2, 0.5, 1.0)
        """
        if math.isnan(value):
            raise InputError("value", value, "a number")
        inside = min(max(value, self.low), self.high)
        if self.log:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)

    def percent(self, value: float) -> str:
        """Where a value lies, for an attribute of a fluid drawing.

        >>> Scale(0, 3).percent(1)
        '33.333%'
        """
        return f"{round(100 * self.at(value), 3):g}%"

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers on the axis: at most `most` and one."""
        if not self.log:
            return ticks(self.low, self.high, most)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = max(1, -(-(last - first + 1) // (most + 1)))
        powers = [float(Fraction(10) ** power) for power in range(first, last + 1, every)]
        if len(powers) >= 2:
            return powers
        heads = [float(head * Fraction(10) ** power) for power in range(first - 1, last + 1) for head in (1, 2, 5)]
        return [value for value in heads if self.low <= value <= self.high] or [self.low, self.high]

    @classmethod
    def around(cls, values: Iterable[float], *, zero: bool = False, room: float = 0.02, log: bool = False) -> Scale:
        """An axis that holds every finite value, with a little room; from zero if `zero`.

        >>> Scale.around([5, 10], zero=True, room=0)
        Scale(low=0.0, high=10.0, log=False)
        """
        known = [float(value) for value in values if math.isfinite(value)] + ([0.0] if zero else [])
        if log:
            known = [value for value in known if value > 0] or [1.0]
            low, high = min(known), max(known)
            return cls(low / (1 + room) if low < high else low / 2, high * (1 + room) if low < high else high * 2, True)
        low, high = min(known, default=0.0), max(known, default=1.0)
        if low == high:
            high = low + (abs(low) or 1.0)
        margin = (high - low) * room
        return cls(low if zero and low == 0 else low - margin, high if zero and high == 0 else high + margin)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two, at most so many of them and one.

    >>> ticks(0, 1137)
    [0.0, 500.0, 1000.0]
    >>> ticks(-3, 3)
    [-2.0, 0.0, 2.0]
    """
    if not high > low:
        return [low]
    step = round_up((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [min(max(round(index * step, 12) + 0.0, low), high) for index in range(first, last + 1)]


def round_up(value: float) -> float:
    """The next round number (1, 2 or 5 times a power of ten) that is as large.

    >>> round_up(3), round_up(12), round_up(0.04), round_up(0)
    (5.0, 20.0, 0.05, 1.0)
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = math.floor(math.log10(value))
    for head, up in ((1, 0), (2, 0), (5, 0), (1, 1)):
        candidate = float(Fraction(head) * Fraction(10) ** (power + up))
        if candidate >= value:
            return candidate
    return value


_WIDER = 12  # times as wide as that of the narrowest quarter: an interval that says next to nothing beside them


def informative(spans: Iterable[tuple[float | None, float | None, float | None]]) -> list[float]:
    """The numbers that an axis is to hold, of values with the ends of their intervals.

    An interval many times wider than others would squash them: it is left out, and so is its value.

    >>> informative([(10, 9, 11), (20, 18, 22), (15, 14, 16), (0, 0, 5000)])
    [10.0, 9.0, 11.0, 20.0, 18.0, 22.0, 15.0, 14.0, 16.0]
    """
    known = [span for span in spans if finite(span[0])]
    widths = [_width(span) for span in known]
    ranked = sorted(width for width in widths if width > 0)
    most = _WIDER * ranked[len(ranked) // 4] if ranked else 0.0
    kept = [span for span, width in zip(known, widths, strict=True) if width <= most]
    return [float(end) for span in kept or known for end in span if end is not None and finite(end)]


def _width(span: tuple[float | None, float | None, float | None]) -> float:
    _, low, high = span
    if low is None or high is None:
        return 0.0
    return float(high) - float(low) if finite(low) and finite(high) else math.inf


def finite(value: float | None) -> bool:
    """Whether there is a number that can be drawn: days, missing values and infinities cannot."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def brief(value: float) -> str:
    """A number in few digits, as people read it.

    >>> brief(0.01234), brief(51234.5), brief(3), brief(0.25)
    ('0.0123', '51,234', '3', '0.25')
    """
    if not math.isfinite(value):
        return "none"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def compact(value: float) -> str:
    """A number beside a tick: large ones in thousands, millions and billions.

    >>> compact(500), compact(12_500), compact(3e6), compact(0.05), compact(-2e9)
    ('500', '12.5k', '3M', '0.05', '-2G')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (1000 if letter == 'k' else unit):.4g}{letter}"
    return brief(value)


def share(value: float) -> str:
    """A part of one as a percentage.

    >>> share(0.25), share(0.5), share(1)
    ('25%', '50%', '100%')
    """
    return f"{100 * value:.3g}%"
