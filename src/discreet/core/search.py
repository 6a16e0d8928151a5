"""Whole numbers found by doubling and halving."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["largest"]


def largest(fits: Callable[[int], bool]) -> int:
    """The largest number that `fits`, zero if 1 does not; where one does not fit, no larger one may.

    >>> largest(lambda number: number**2 <= 1000)
    31
    """
    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
