"""The nearest numbers that never fall: what is known of every curve of ranks, put to use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rising"]


def rising(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers x_0 <= x_1 <= ... for which the sum of (x - values)^2 is least: neighbours that fall are pooled.

    >>> rising(np.array([1.0, 4.0, 2.0, 5.0])).tolist()
    [1.0, 3.0, 3.0, 5.0]
    """
    means: list[float] = []
    lengths: list[int] = []
    for value in values.tolist():
        mean, length = value, 1
        while means and means[-1] > mean:
            before = lengths.pop()
            mean = (mean * length + means.pop() * before) / (length + before)
            length += before
        means.append(mean)
        lengths.append(length)
    return np.repeat(np.array(means), lengths)
