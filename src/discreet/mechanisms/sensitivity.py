"""How far one unit can move the statistics people ask for: a catalogue, exact or rounded up.

Each unit holds one value, clamped to [lower, upper]. Under REPLACE the number of units `n` is public and the same on
both sides. Under ADD_REMOVE it is private, and the smaller side is known to hold at least `n` units.
Every entry is the exact supremum (docs/proofs/sensitivity.md); those with a root are rounded up.

Two surprises. The standard deviation moves by about width/sqrt(n), not width/n: it starts from zero with infinite
slope. And the median of badly spread data jumps across half or all of the range, whatever `n` is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from discreet.core.exact import Number, exactly, sqrt_up
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, read_neighbours
from discreet.errors import InputError
from discreet.mechanisms.inputs import read_count

__all__ = ["count", "histogram", "maximum", "mean", "median", "standard_deviation", "total", "variance"]


def count(neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Fraction:
    """How many units satisfy a condition."""
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE | Neighbours.REPLACE:
            return Fraction(1)
        case never:
            assert_never(never)


def histogram(neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Sensitivity:
    """How many units are in each of two or more disjoint bins."""
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return Sensitivity(each=1, outputs=1)
        case Neighbours.REPLACE:
            return Sensitivity(each=1, outputs=2)
        case never:
            assert_never(never)


def total(lower: Number, upper: Number, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Fraction:
    """The sum of the values."""
    low, high = _range(lower, upper)
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return max(abs(low), abs(high))
        case Neighbours.REPLACE:
            return high - low
        case never:
            assert_never(never)


def mean(lower: Number, upper: Number, n: int, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Fraction:
    """The sum divided by the number of units.

    >>> mean(0, 1, n=100, neighbours=Neighbours.REPLACE)
    Fraction(1, 100)
    """
    width, size = _width(lower, upper), read_count(n, "n")
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return width / (size + 1)
        case Neighbours.REPLACE:
            return width / size
        case never:
            assert_never(never)


def variance(lower: Number, upper: Number, n: int, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Fraction:
    """The mean squared distance from the mean (divided by the number of units, not one less)."""
    width, size = _width(lower, upper), read_count(n, "n")
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return width**2 * size / (size + 1) ** 2
        case Neighbours.REPLACE:
            return width**2 * (size - 1) / size**2
        case never:
            assert_never(never)


def standard_deviation(
    lower: Number, upper: Number, n: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Fraction:
    """The square root of the variance; rounded up.

    >>> float(standard_deviation(0, 1, n=10_000))       # 1/sqrt(n), a hundred times 1/n
    0.00999900...
    """
    return sqrt_up(variance(lower, upper, n, neighbours))


def maximum(lower: Number, upper: Number, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Fraction:
    """The largest value (or the smallest) of one or more."""
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE | Neighbours.REPLACE:
            return _width(lower, upper)
        case never:
            assert_never(never)


def median(lower: Number, upper: Number, n: int, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Fraction:
    """The middle value, or the midpoint of the middle two of an even number."""
    width, size = _width(lower, upper), read_count(n, "n")
    match read_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return width / 2
        case Neighbours.REPLACE:
            return width if size % 2 else width / 2
        case never:
            assert_never(never)


def _range(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    low, high = exactly(lower, "lower"), exactly(upper, "upper")
    if low > high:
        raise InputError("upper", upper, "at least lower")
    return low, high


def _width(lower: Number, upper: Number) -> Fraction:
    low, high = _range(lower, upper)
    return high - low
