"""Numbers made into shares of a whole."""

from __future__ import annotations

import numpy as np

from discreet.synth.calibrate import Floats

__all__ = ["simplex"]


def simplex(values: Floats, total: float) -> Floats:
    """The nearest numbers, none below zero, that add up to `total`, which is above zero.

    >>> simplex(np.array([3.0, 1.0, -2.0]), 2.0)
    array([2., 0., 0.])
    """
    falling = np.sort(values)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = np.flatnonzero(falling > over)[-1]
    return np.asarray(np.maximum(values - over[last], 0.0))
