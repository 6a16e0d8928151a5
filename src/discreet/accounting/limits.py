"""What accountants accept: losses, and numbers that their arithmetic can hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from discreet.core.exact import Number, exactly
from discreet.errors import InputError, Phrase

__all__ = ["in_range", "read_points"]

_MOST_POINTS = 10**6

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def in_range(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Refuse parameters that take the function's arithmetic beyond floating point, instead of an OverflowError."""

    @wraps(function)
    def checked(*args: Parameters.args, **named: Parameters.kwargs) -> Result:
        try:
            return function(*args, **named)
        except ArithmeticError:
            hint = "Nothing was spent. Parameters between 1e-100 and 1e100 are always in reach."
            raise InputError(
                function.__name__,
                Phrase("parameters out of reach"),
                "called with numbers that floating point can hold",
                hint,
            ) from None

    return checked


def read_points(points: Number) -> int:
    """How many points of a curve are asked for."""
    number = exactly(points, "points")
    if number.denominator != 1 or not 2 <= number <= _MOST_POINTS:
        raise InputError("points", points, f"a whole number from 2 to {_MOST_POINTS:,}")
    return int(number)
