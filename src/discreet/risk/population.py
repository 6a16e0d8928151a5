"""From a sample to everybody: how many who are alone in the sample are alone in the population."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.classes import Classes

__all__ = ["Population", "population"]


@dataclass(frozen=True, slots=True)
class Population:
    """Estimates for a population of `size`, of which the rows are a random sample.

    `zayatz`: the chance that a row alone in the sample is alone in the population, if class sizes are spread there as
    here. `pitman`: how many are alone in the population under Pitman's sampling formula, fitted by maximum likelihood;
    None where it does not fit. These are models: neither knows the population.
    """

    size: int
    zayatz: float
    pitman: float | None


def population(classes: Classes, size: int) -> Population:
    """Estimate; `size` counts the whole population, the sample included."""
    rows = len(classes.of)
    if isinstance(size, bool) or not isinstance(size, int) or size < rows:
        raise InputError("population", size, f"a whole number of at least the {rows:,} rows, which are part of it")
    sizes, many = np.unique(classes.sizes, return_counts=True)
    return Population(size, _zayatz(sizes, many, rows / size), _pitman(sizes, many, rows, size))


def _zayatz(sizes: NDArray[np.int64], many: NDArray[np.int64], fraction: float) -> float:
    """Bayes: chances that one of j is drawn, weighted by how many classes of j there are."""
    drawn_once = sizes * fraction * np.power(1 - fraction, sizes - 1.0)
    total = float((drawn_once * many).sum())
    return float(drawn_once[0] * many[0] / total) if sizes[0] == 1 and total > 0 else 0.0


def _pitman(sizes: NDArray[np.int64], many: NDArray[np.int64], rows: int, size: int) -> float | None:
    from scipy.optimize import minimize
    from scipy.special import gammaln

    found = int(many.sum())

    def unlikely(place: NDArray[np.float64]) -> float:
        alpha = 1 / (1 + math.exp(-place[0]))
        theta = math.exp(place[1])
        steps = np.arange(1, found, dtype=float)
        fit = np.log(theta + alpha * steps).sum() - (gammaln(theta + rows) - gammaln(theta + 1))
        inside = gammaln(sizes - alpha) - gammaln(1 - alpha)
        return -float(fit + (many * inside).sum())

    if found in (1, rows):  # one class, or all alone: the likelihood has no peak
        return None
    best = minimize(unlikely, np.array([0.0, math.log(max(found / 2, 1.0))]), method="Nelder-Mead")
    if not best.success:
        return None
    alpha, theta = 1 / (1 + math.exp(-best.x[0])), math.exp(best.x[1])
    log = gammaln(theta + 1) - gammaln(theta + alpha) + alpha * math.log(size)
    return float(min(math.exp(log), size))
