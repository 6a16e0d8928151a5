"""The point nearest to a target among non-negative ones with given sums: few sums, any number of unknowns.

min sum (x - target)^2 / spread  subject to  sums x = values, x >= 0. Its dual has one multiplier for each sum, and
x = max(0, target + spread * (sums' multipliers)), so Newton's method on a few hundred multipliers solves for a million
unknowns in some ten steps (the slope has kinks, which semismooth Newton steps pass, kept safe by a line search).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest"]

Floats = NDArray[np.float64]

_DENSE = 2500  # so many multipliers are solved for as a full matrix
_STEPS = 100
_ARMIJO = 1e-4
_RIDGE = 1e-10


def nearest(target: Floats, spread: Floats, sums: Any, values: Floats, *, tolerance: float = 1e-7) -> Floats:
    """The nearest x; `sums` is sparse, one row for each sum. The values must be those of some x >= 0.

    If they are not, or rounding stops the steps early, what is returned is non-negative and misses some sums.

    >>> from scipy import sparse
    >>> nearest(np.array([5.0, -2.0, 3.0]), np.ones(3), sparse.csr_array([[1.0, 1.0, 1.0]]), np.array([10.0])).round(6)
    array([6., 0., 4.])
    """
    from scipy import sparse

    across = sparse.csr_array(sums.T)
    down = sparse.csr_array(sums)
    near = tolerance * max(1.0, float(np.abs(values).max()))
    multipliers = np.zeros(len(values))
    x, height = _at(multipliers, target, spread, across, values)
    for _ in range(_STEPS):
        miss = values - down @ x
        if np.abs(miss).max() <= near:
            break
        step = _newton(down, across, np.where(x > 0, spread, 0.0), miss, float(spread.mean()))
        gain, size = float(miss @ step), 1.0
        while size > 1e-9:
            found, above = _at(multipliers + size * step, target, spread, across, values)
            if above >= height + _ARMIJO * size * gain - 1e-12 * abs(height):
                break
            size /= 2
        multipliers, x, height = multipliers + size * step, found, above
    return x


def _at(multipliers: Floats, target: Floats, spread: Floats, across: Any, values: Floats) -> tuple[Floats, float]:
    """x for these multipliers, and the height of the dual there."""
    x = np.maximum(target + spread * (across @ multipliers), 0.0)
    return x, float(multipliers @ values - 0.5 * (x * x / spread).sum())


def _newton(down: Any, across: Any, moving: Floats, miss: Floats, typical: float) -> Floats:
    """The Newton step. A sum none of whose unknowns can move gets a slope of its own, so that it can start to."""
    from scipy import linalg, sparse
    from scipy.sparse.linalg import spsolve

    slope = down @ sparse.diags_array(moving) @ across
    diagonal = slope.diagonal()
    more = _RIDGE * max(float(diagonal.max()), typical) + np.where(diagonal > 0, 0.0, typical)
    if len(miss) > _DENSE:
        return np.asarray(spsolve(sparse.csc_array(slope + sparse.diags_array(more)), miss), dtype=np.float64)
    full = slope.toarray()
    full[np.diag_indices_from(full)] += more
    try:
        return np.asarray(linalg.solve(full, miss, assume_a="pos"), dtype=np.float64)
    except linalg.LinAlgError:  # rounding made it singular: any direction that climbs will do
        return np.asarray(miss / np.diagonal(full), dtype=np.float64)
