"""What can be said of a population without a model: every spread of class sizes that the sample does not rule out.

A linear program over the number of classes of each size in the population. What a sample shows of them on average must
be near what it showed: within limits that hold for all sizes together with 95% confidence, if rows were drawn at
random. The least and the most people alone that are left are bounds, whatever the truth looks like. They are wide where
a sample is thin; then no estimate by a model is more than the model.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.risk.population_models import Spread

__all__ = ["bound_alone"]

_SHOWN = (1, 2, 3, 4, 5, 7, 10, 15, 20)  # where bins of sample sizes begin; larger ones are one bin more
_EACH = 64  # population sizes taken one by one; larger ones on a grid that grows by _GROWTH
_GROWTH = 1.05
_MISS = 0.05  # how often the limits may be wrong, all together


def bound_alone(spread: Spread) -> tuple[float, float]:
    """The fewest and the most people alone in the population that fit the sample."""
    from scipy.optimize import linprog

    sizes = _sizes(spread)
    chances, seen = _shown(spread, sizes)
    low, high = _limits(seen)
    alone = np.where(sizes == 1, 1.0, 0.0)
    everyone = sizes / spread.size  # the population is known: its people are in these classes
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(
            sign * alone,
            A_ub=np.vstack([chances, -chances]),
            b_ub=np.concatenate([high, -low]),
            A_eq=everyone[None, :],
            b_eq=[1.0],
            method="highs",
        )
        ends.append(sign * float(found.fun) if found.success else (0.0 if sign > 0 else float(spread.size)))
    return max(ends[0], 0.0), min(ends[1], float(spread.size))


def _sizes(spread: Spread) -> NDArray[np.float64]:
    """Sizes of classes that the population may have, up to well beyond the largest that was seen."""
    largest = min(spread.size, math.ceil(2 * (float(spread.sizes.max()) + 10) / spread.part))
    grown = [float(size) for size in range(1, min(_EACH, largest) + 1)]
    while grown[-1] < largest:
        grown.append(min(math.ceil(grown[-1] * _GROWTH), largest))
    return np.array(grown)


def _shown(spread: Spread, sizes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each bin: the chance that a class of a size shows so many rows; and how many classes did."""
    from scipy.stats import binom

    below = np.array([binom.cdf(start - 1, sizes, spread.part) for start in _SHOWN])
    chances = np.diff(np.vstack([below, np.ones(len(sizes))]), axis=0)
    seen = np.histogram(spread.sizes, bins=[*_SHOWN, np.inf], weights=spread.many)[0]
    return chances, seen


def _limits(seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits for what each count is on average: exact for Poisson counts, which vary no less than these."""
    from scipy.stats import chi2

    miss = _MISS / (2 * len(seen))
    low = np.where(seen > 0, chi2.ppf(miss, 2 * np.maximum(seen, 1)) / 2, 0.0)
    return np.asarray(low), np.asarray(chi2.ppf(1 - miss, 2 * (seen + 1)) / 2)
