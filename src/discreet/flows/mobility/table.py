"""Whole numbers with given sums along the rows and columns of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned

__all__ = ["whole_table"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


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
