"""Whole numbers in given proportions that add up to given totals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportioned"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def apportioned(real: Floats, totals: Whole) -> Whole:
    """Each row of `real`, in proportion, as whole numbers that add up to its total: by largest remainders.

    >>> apportioned(np.array([[1.2, 1.4, 0.4]]), np.array([4])).tolist()
    [[2, 2, 0]]
    """
    sums = real.sum(axis=1, keepdims=True)
    even = np.ones_like(real) / max(real.shape[1], 1)
    exact = np.divide(real, sums, out=even, where=sums > 0) * totals[:, None]
    found: Whole = np.floor(exact).astype(np.int64)
    missing = totals - found.sum(axis=1)
    order = np.argsort(found - exact, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(real.shape[1])[None, :], axis=1)
    found += place < missing[:, None]
    return found
