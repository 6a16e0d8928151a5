"""Intervals for many counts at once, quick and nearly exact: to choose and to estimate by, never to decide by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["lower"]

Reals = NDArray[np.float64]


def lower(k: Reals, n: int, z: float) -> Reals:
    """About Clopper and Pearson's lower bound on the chance behind k of n, at z deviations (Wilson and Hilferty's)."""
    k = np.asarray(k, dtype=np.float64)
    few = np.maximum(k, 1e-9)
    small = k * np.maximum(0.0, 1 - 1 / (9 * few) - z / (3 * np.sqrt(few))) ** 3 / n
    # Many of n: by the few that are missing.
    rest = n - k + 1
    large = 1 - rest * (1 - 1 / (9 * rest) + z / (3 * np.sqrt(rest))) ** 3 / n
    return np.asarray(np.clip(np.where(2 * k > n, large, small), 0.0, 1.0))
