"""From noisy totals and noisy cells of groups to whole numbers that add up, and how far off each may be.

The first look is not used: it has decided what was measured, so where it is far off depends on what was chosen. What
came after it has noise of its own, whatever was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned
from discreet.mechanisms.blend import joint_half_width
from discreet.query.noisy_sums import Noise

__all__ = ["Estimates", "alone", "reaches", "weight_of", "with_detail"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimates:
    """Published numbers of some groups, a row each: the total first, then its cells; and the ends of intervals."""

    values: Whole
    lower: Whole
    upper: Whole


def alone(noisy: Whole, noise: Noise, confidence: float) -> Estimates:
    """Groups of which the total alone was measured."""
    value = np.maximum(noisy, 0)[:, None]
    return _around(value, noisy[:, None].astype(np.float64), np.array([float(noise.error(confidence))]))


def with_detail(total: Whole, cells: Whole, noises: tuple[Noise, Noise], confidence: float) -> Estimates:
    """Groups of which the total and cells were measured: the best linear estimate, then whole numbers from zero up.

    >>> from discreet.mechanisms import Laplace
    >>> noises = Laplace(2), Laplace(1)
    >>> with_detail(np.array([12]), np.array([[7, 3, -2]]), noises, 0.95).values.tolist()
    [[10, 7, 3, 0]]
    """
    weight = weight_of(noises, cells.shape[1])
    sums = cells.sum(axis=1)
    best = weight * total + (1 - weight) * sums
    real = cells + ((best - sums) / cells.shape[1])[:, None]
    whole = np.maximum(np.rint(best), 0).astype(np.int64)
    value = np.column_stack([whole, apportioned(_nearest(real, whole.astype(np.float64)), whole)])
    half = reaches(noises, cells.shape[1], confidence)
    return _around(value, np.column_stack([best, real]), np.array([half[0]] + [half[1]] * cells.shape[1]))


def reaches(noises: tuple[Noise, Noise], cells: int, confidence: float) -> tuple[float, float]:
    """How far the best linear estimates of a total and of one of its cells may be off."""
    weight, (total, cell), miss = weight_of(noises, cells), noises, 1 - confidence
    part = weight / cells

    def half(of_total: float, weights: list[float], counts: list[float]) -> float:
        ones = np.ones(1)
        return joint_half_width([(total, of_total * ones, ones), (cell, np.array(weights), np.array(counts))], miss)

    return half(weight, [1 - weight], [float(cells)]), half(part, [1 - part, part], [1.0, cells - 1.0])


def weight_of(noises: tuple[Noise, Noise], cells: int) -> float:
    """The weight of the total's own measurement; the sum of its cells has the rest."""
    total, summed = noises[0].variance, cells * noises[1].variance
    return 0.5 if total + summed == 0 else summed / (total + summed)


def _around(value: Whole, centre: Floats, half: Any) -> Estimates:
    """Intervals for whole numbers from zero up, widened where they must be to hold the published number."""
    low, high = np.ceil(centre - half), np.floor(centre + half)
    lower = np.minimum(np.maximum(low, 0), value).astype(np.int64)
    upper = np.maximum(np.maximum(high, 0), value).astype(np.int64)
    return Estimates(value, lower, upper)


def _nearest(real: Floats, sums: Floats) -> Floats:
    """For every row the nearest one without negative numbers that has a given sum: one amount is taken off them all."""
    falling = -np.sort(-real, axis=1)
    many = np.arange(1, real.shape[1] + 1)
    level = (falling.cumsum(axis=1) - sums[:, None]) / many
    kept = np.maximum((falling > level).sum(axis=1), 1)
    found: Floats = np.maximum(real - np.take_along_axis(level, kept[:, None] - 1, axis=1), 0)
    return found
