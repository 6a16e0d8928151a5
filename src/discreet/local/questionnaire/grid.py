"""The numbers that can be answered: from a lowest one in equal steps, in decimal notation, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.core.exact import Number, as_written
from discreet.errors import InputError, Phrase

__all__ = ["Grid", "written"]

_MOST = 1001


@dataclass(frozen=True, slots=True)
class Grid:
    """`points` numbers: low, low + step, low + 2 step, ...

    >>> hours = Grid.between(0, 12, "0.5")
    >>> hours.points, hours.text(15), hours.index("7.5")
    (25, '7.5', 15)
    """

    low: Fraction
    step: Fraction
    points: int

    @classmethod
    def between(cls, low: Number, high: Number, step: Number, place: str = "") -> Grid:
        """From `low` to `high`, both among the points."""
        first, last, width = (
            _decimal(value, place + name) for value, name in ((low, "low"), (high, "high"), (step, "step"))
        )
        if width <= 0:
            raise InputError(f"{place}step", step, "more than zero")
        if last <= first:
            raise InputError(f"{place}high", high, f"more than low = {low}")
        steps = (last - first) / width
        if steps.denominator != 1:
            raise InputError(f"{place}step", step, "a step that leads from low to high exactly")
        if steps >= _MOST:
            raise InputError(f"{place}step", step, f"wider: a scale has at most {_MOST} points")
        return cls(first, width, int(steps) + 1)

    @property
    def high(self) -> Fraction:
        """The last point."""
        return self.value(self.points - 1)

    def value(self, index: int) -> Fraction:
        """The number at a place."""
        return self.low + index * self.step

    def index(self, value: Number) -> int:
        """The place of a number on the grid; another one is refused, and not repeated."""
        steps = (as_written(value, "value") - self.low) / self.step
        if steps.denominator != 1 or not 0 <= steps < self.points:
            raise InputError("value", Phrase("another number"), self.words())
        return int(steps)

    def text(self, index: int) -> str:
        """The number at a place, in decimal notation."""
        return written(self.value(index))

    def words(self) -> str:
        """Which numbers there are."""
        return f"a number from {self.text(0)} to {self.text(self.points - 1)} in steps of {written(self.step)}"


def written(value: Fraction) -> str:
    """A decimal fraction as people write it."""
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():f}"


def _decimal(value: object, place: str) -> Fraction:
    """A number with a few decimals, so that a page can read what people type, digit by digit."""
    number = as_written(value, place)  # type: ignore[arg-type]
    if (10**9 * number).denominator != 1 or abs(number) >= 10**15:
        raise InputError(place, value, "a number with at most 9 decimals, below 10^15")
    return number
