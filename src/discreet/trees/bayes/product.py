"""Products of matrices in parts so small that no threads are started: on small ones they wait more than they work."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["AT_ONCE", "columns_at_once", "product"]

Reals = NDArray[np.float64]

AT_ONCE = 1 << 18
"""Multiplications up to which the usual libraries work in the thread they are called from."""


def columns_at_once(rows: int, inner: int) -> int:
    """How many columns to multiply a matrix of that shape with at a time: two at least, one alone is another case."""
    return max(2, AT_ONCE // max(rows * inner, 1))


def product(left: Reals, right: Reals) -> Reals:
    """left @ right.

    >>> product(np.eye(2), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).tolist()
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    """
    (rows, inner), columns = left.shape, right.shape[1]
    found = np.empty((rows, columns))
    tall = rows > columns
    step = columns_at_once(inner, columns) if tall else columns_at_once(rows, inner)
    for first in range(0, rows if tall else columns, step):
        part = slice(first, first + step)
        if tall:
            np.matmul(left[part], right, out=found[part])
        else:
            found[:, part] = left @ right[:, part]
    return found
