"""Numbers as people read them, rounded in a stated direction.

A delta of 1e-6 is not `0.000`, and an epsilon is not a ratio of two long integers. A number that bounds something is
rounded away from the promise: up for "at most", down for "at least".
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Literal

from discreet.core.exact import as_written, exactly
from discreet.errors import InputError

__all__ = ["Direction", "percent", "readable"]

Direction = Literal["up", "down", "near"]

_ROUNDING = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "near": ROUND_HALF_EVEN}

_MOST_DIGITS = 1000


def readable(value: Fraction | float, digits: int = 5, direction: Direction = "up") -> str:
    """`value` in at most `digits` significant digits, plain between 0.001 and a million, else with an exponent.

    >>> readable(Fraction(38998, 10000)), readable(1e-6), readable(Fraction(1, 3), 3, "down"), readable(2500000)
    ('3.8998', '1e-6', '0.333', '2.5e6')
    """
    number = _rounded(value, digits, direction)
    if number == 0:
        return "0"
    exponent = number.adjusted()
    if -3 <= exponent < 6:
        return f"{number:f}"
    mantissa = number.scaleb(-exponent).normalize()
    return f"{mantissa:f}e{exponent}"


def percent(value: Fraction | float, digits: int = 2, direction: Direction = "near") -> str:
    """A probability as a percentage.

    >>> percent(0.02), percent(Fraction(3, 52), direction="up"), percent(0.9996), percent(0.9996, direction="up")
    ('2%', '5.8%', '99.96%', '99.96%')
    """
    share = _read(value) * 100
    if Fraction(99) <= share < 100:  # the digits that matter are those of what is missing
        opposite: dict[Direction, Direction] = {"up": "down", "down": "up", "near": "near"}
        missing = _rounded(100 - share, digits, opposite[direction])
        return f"{(100 - missing).normalize():f}%"
    return f"{readable(share, digits, direction)}%"


def _rounded(value: Fraction | float, digits: int, direction: Direction) -> Decimal:
    exact, size = _read(value), exactly(digits, "digits")
    if size.denominator != 1 or not 1 <= size <= _MOST_DIGITS:
        raise InputError("digits", digits, f"a whole number from 1 to {_MOST_DIGITS}")
    if not isinstance(direction, str) or direction not in _ROUNDING:
        raise InputError("direction", direction, among=("up", "down", "near"))
    context = Context(prec=int(size), rounding=_ROUNDING[direction])
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize()


def _read(value: Fraction | float) -> Fraction:
    return as_written(value, "value")  # 0.9996 is what was written
