"""Numbers as they are written, and in whole steps of a declared size: exact, whatever a caller holds them in."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import as_written
from discreet.errors import InputError

__all__ = ["Exact", "as_decimal", "exact_numbers", "to_steps"]

Exact = NDArray[np.object_]
"""Numbers as fractions, the decimal ones that were written."""

_INFINITE = float("inf")
_BEYOND = Fraction(1 << 1024)  # above every finite float: clamped like any number that is too high


def as_decimal(value: object) -> Fraction:
    """The number that was written: of a float the shortest text that means it. Text that is no number is 0.

    However many digits it has: 0.1 with 5,000 zeros behind it is one tenth.

    >>> as_decimal(0.15), as_decimal("0.25"), as_decimal("NaN")
    (Fraction(3, 20), Fraction(1, 4), Fraction(0, 1))
    """
    if isinstance(value, Fraction):
        return value
    if type(value) is int:  # which Python writes out up to 4,300 digits only
        return Fraction(value)
    text = str(value)  # also of a NumPy float of any width
    try:
        return as_written(text, "value")
    except InputError:
        pass
    try:
        number = float(text)
    except ValueError:
        return Fraction(0)
    if number != number or number == 0:
        return Fraction(0)
    if number in (_INFINITE, -_INFINITE):
        return _BEYOND if number > 0 else -_BEYOND
    return Fraction(Decimal(text))  # of more digits, or a larger power of ten, than `as_written` takes


def exact_numbers(values: Iterable[object]) -> Exact:
    """Each number as it was written, as a fraction."""
    read = [as_decimal(value) for value in values]
    found = np.empty(len(read), dtype=object)
    found[:] = read
    return found


def to_steps(values: Iterable[object], step: Fraction, most: int, least: int = 0) -> NDArray[np.int64]:
    """Whole steps from `least` to `most`, the nearest to each value as written (halves upward), in exact arithmetic.

    Two values at most alpha apart, as written, are at most ceil(alpha / step) steps apart afterwards.

    >>> to_steps([0.15, 0.25, 21.7, 900.0, -3], Fraction(1, 10), 5000).tolist()
    [2, 3, 217, 5000, 0]
    >>> to_steps([-0.15, -900], Fraction(1, 10), 5000, -20).tolist()
    [-1, -20]
    """
    half = Fraction(1, 2)
    lowest, highest = least * step, most * step
    found = []
    for value in values:
        inside = min(max(as_decimal(value), lowest), highest)
        found.append(min(most, (inside / step + half).__floor__()))
    return np.array(found, dtype=np.int64)
