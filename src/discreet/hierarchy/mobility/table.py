"""Whole numbers with given sums: along a line, and along the rows and columns of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apportioned", "whole_table"]

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


def whole_table(real: Floats, rows: Whole, columns: Whole) -> Whole:
    """A table of whole numbers >= 0 near `real` (>= 0) with exactly these row and column sums, whose totals agree.

    Rows are apportioned; then units move along rows, from columns with too many to columns with too few. A column
    with too many has a cell above zero and the move keeps every row, so this ends with all sums right: each move
    lessens the excess by one.
    """
    found = apportioned(real, rows)
    excess = found.sum(axis=0) - columns
    over = found - real
    for column in np.flatnonzero(excess > 0):
        while excess[column] > 0:
            row = int(np.argmax(np.where(found[:, column] > 0, over[:, column], -np.inf)))
            short = int(np.argmin(np.where(excess < 0, over[row], np.inf)))
            for place, unit in ((column, -1), (short, 1)):
                found[row, place] += unit
                over[row, place] += unit
                excess[place] += unit
    return found
