"""Whole numbers: the largest one that fits, and those in given proportions that add up to given totals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportioned", "largest", "refine"]

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


def refine(guess: int, toward: int, fits: Callable[[int], bool], *, digits: int = 4) -> int:
    """The last number that `fits` on the way `toward` (1: up, -1: down) those that do not, to so many digits.

    `guess` may be on either side of it, the nearer the quicker. A number that fits is returned, 1 if none above does.

    >>> refine(25, 1, lambda number: number**2 <= 1000), refine(500, -1, lambda number: number**2 >= 1000)
    (31, 32)
    """
    jump = max(1, guess // 500)
    known = fits(guess)
    near = far = guess
    while near == far or fits(far) == known:
        near, far, jump = far, max(1, far + (jump if known else -jump) * toward), 2 * jump
        if near == far:  # down to 1, and nothing changed
            return 1
    good, bad = (near, far) if known else (far, near)
    while abs(good - bad) > max(1, good // 10**digits):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


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
