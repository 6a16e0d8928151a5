"""Whole numbers: the largest one that fits, and those in given proportions that add up to given totals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportioned", "largest"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


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


def apportioned(real: Floats, totals: Whole) -> Whole:
    """Each row of `real`, in proportion, as whole numbers that add up to its total: by largest remainders.

    >>> apportioned(np.array([[1.2, 1.4, 0.4]]), np.array([4])).tolist()
    [[2, 2, 0]]
    """
    sums = real.sum(axis=1, keepdims=True)
    even = np.ones_like(real) / max(real.shape[1], 1)
    exact = np.divide(real, sums, out=even, where=sums > 0) * totals[:, None]
    counts: Whole = np.floor(exact).astype(np.int64)
    missing = totals - counts.sum(axis=1)
    order = np.argsort(counts - exact, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(real.shape[1])[None, :], axis=1)
    counts += rank < missing[:, None]
    return counts
