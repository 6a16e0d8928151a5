"""Public numbers about regions (housing units, addresses, the last census) as guesses of their totals.

A covariate divides a parent's total among its children. How much better that is than dividing evenly is learned from
the noisy totals, so a covariate that has nothing to do with the counts is left aside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["guess"]

Reals = NDArray[np.float64]
Places = NDArray[np.int64]


def guess(noisy: Reals, variance: Reals, even: Reals, covariate: Reals, place: Places) -> Reals:
    """What one would guess of each region, before its noisy count: between an even share and the covariate's.

    All are (regions,) or (regions, columns), but `variance` of the noise and `place`, that of the parent, (regions,).
    `even` adds up to the parents'. The weight of the covariate, one a column, is the slope of the noisy counts on what
    it adds, by weighted least squares. Noise is independent of the covariate, so nothing but a true relation makes it
    more than chance; what chance alone may make of it is taken off.

    >>> place, even = np.repeat(np.arange(50), 2), np.full(100, 40.0)
    >>> true = np.tile([60.0, 20.0], 50)
    >>> guess(true, np.ones(100), even, true, place)[:2].round().tolist()
    [60.0, 20.0]
    >>> guess(true, np.ones(100), even, np.ones(100), place)[:2].tolist()
    [40.0, 40.0]
    """
    parents, spread = int(place[-1]) + 1, variance if noisy.ndim == 1 else variance[:, None]
    sums, whole = _sums(covariate, place, parents)[place], _sums(even, place, parents)[place]
    added = np.where(sums > 0, whole * covariate / np.where(sums > 0, sums, 1.0), even) - even
    weights = 1 / (spread + even**2 + 1e-9)
    along = (weights * added**2).sum(axis=0)
    slope = (weights * added * (noisy - even)).sum(axis=0) / np.maximum(along, 1e-300)
    chance = (weights**2 * added**2 * (noisy - even - slope * added) ** 2).sum(axis=0) / np.maximum(along**2, 1e-300)
    kept = np.maximum(1 - chance / np.maximum(slope**2, 1e-300), 0.0)
    return np.asarray(even + np.clip(slope * kept, 0.0, 1.0) * added)


def _sums(values: Reals, place: Places, parents: int) -> Reals:
    found = np.zeros((parents, *values.shape[1:]))
    np.add.at(found, place, values)
    return found
