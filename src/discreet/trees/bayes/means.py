"""How large a count would be guessed without looking at it: from its region's total and its parent, from other cells.

A cell that has more than its parent's share tells about other cells of the same region: where Spanish is spoken by
adults it is spoken by children. How much one cell tells about another is learned from all regions of the level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENOUGH", "regressed", "shared"]

Reals = NDArray[np.float64]
Array = NDArray[np.int64]

ENOUGH = 400
"""Fewer regions than this teach nothing about how cells hang together."""

_RIDGE = 30.0  # coefficients are expected to be about 1 / sqrt(30) before anything is seen
_PLENTY = 40_000  # more regions than this teach little more: every so many-th is looked at
_MOST = 20.0  # a ratio beyond this is taken for this


def shared(parents: Array, place: Array, totals: Reals) -> Reals:
    """Every region's total divided among the cells as its parent's is."""
    share = parents / np.maximum(parents.sum(axis=1), 1)[:, None]
    return np.asarray(share[place] * totals[:, None])


def regressed(noisy: Reals, variance: Reals, rough: Reals, mean: Reals) -> Reals:
    """Rough sizes once more: each cell's multiplied by what the other cells' ratios (mean / rough) say about its own.

    For each cell, a weighted ridge regression of noisy / rough - 1 on the other cells' ratios less one. The noise in a
    cell is independent of that in the others, so the coefficients say how true counts hang together.
    """
    size, cells = rough.shape
    base = np.maximum(rough, 1e-3)
    design = np.ones((size, cells + 1))
    np.minimum(mean / base, _MOST, out=design[:, :cells])
    design[:, :cells] -= 1
    within = ((noisy - rough) ** 2).sum(axis=0) - variance.sum()
    dispersion = np.maximum(within, 0.0) / np.maximum((rough**2).sum(axis=0), 1e-9)
    coefficients = np.zeros((cells + 1, cells))
    some = slice(None, None, 1 + size // _PLENTY)
    known, base, goal = design[some], base[some], noisy[some] / base[some] - 1
    weights = base**2 / (variance[some, None] + dispersion * base**2 + 1e-9)
    for cell in range(cells):
        weighted = known.T * weights[:, cell]
        others = np.flatnonzero(np.arange(cells + 1) != cell)
        left = (weighted @ known)[np.ix_(others, others)] + _RIDGE * np.eye(cells)
        coefficients[others, cell] = np.linalg.solve(left, (weighted @ goal[:, cell])[others])
    found: Reals = design @ coefficients
    found += 1
    np.clip(found, 1 / _MOST, _MOST, out=found)
    found *= rough
    return found
