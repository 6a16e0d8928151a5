"""Noisy counts of codes with an order, each drawn towards its neighbours as far as that brings it nearer to the truth.

How far codes next to each other have like counts differs between columns and inside of them: ages change slowly, round
amounts stand out. So several estimates are made, means over narrow and wide neighbourhoods among them, and each is
judged where it is used: with noise of a known variance, the squared error of a linear estimate can be told without the
truth (Stein), up to the chance in a sum over some codes. The estimates are then averaged, the better ones counting
more. Only noisy counts are seen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.synth.junction import Floats

__all__ = ["smooth_counts"]

_WIDTHS = (0.6, 1.0, 1.7, 3.0, 5.0, 9.0, 16.0)  # codes, as the deviation of a bell curve
_NEAR = 10.0  # the same, for the codes that an estimate is judged by
_SHARP = 2.0  # variances of difference in judged errors that make one estimate count 2.7 times as much as another
_OUTLYING = 4.0  # deviations above its estimate from which on a count is believed as it is


def smooth_counts(counts: Floats, deviation: float, bins: NDArray[np.int64]) -> Floats:
    """Estimates of the counts of codes that share a bin with others; those of a bin of their own stay as they are.

    >>> found = smooth_counts(np.array([52.0, 48.0, 50.0, 51.0, 900.0]), 5.0, np.array([0, 0, 0, 0, 1]))
    >>> found.round(), bool(np.ptp(found[:4]) < 2)
    (array([ 50.,  50.,  50.,  50., 900.]), True)
    """
    together = np.bincount(bins)
    shared = together[bins] > 1
    if not shared.any() or deviation == 0:
        return counts.copy()
    estimates, errors = [], []
    for estimate, own in _estimates(counts, bins, together, shared.astype(np.float64)):
        # Of the squared distance to the counts, less the variance that noise adds to it, and what an estimate that
        # follows its own count hides of that.
        error = (counts - estimate) ** 2 / deviation**2 + 2 * own - 1
        estimates.append(estimate)
        errors.append(_near_sums(np.where(shared, error, 0.0), _NEAR))
    judged = np.array(errors)
    weights = np.exp((judged.min(axis=0) - judged) / _SHARP)
    found = (weights * np.array(estimates)).sum(axis=0) / weights.sum(axis=0)
    outlying = max(_OUTLYING, math.sqrt(2 * math.log(len(counts)))) * deviation
    return np.where(shared & (counts - found <= outlying), found, counts)


def _estimates(
    counts: Floats, bins: NDArray[np.int64], together: NDArray[np.int64], shared: Floats
) -> list[tuple[Floats, Floats]]:
    """Counts as they are, means of bins, and means over neighbours; with each how much of a count is in its own."""
    means = np.bincount(bins, weights=counts) / together
    found: list[tuple[Floats, Floats]] = [(counts, np.ones(len(counts))), (means[bins], 1 / together[bins])]
    for width in _WIDTHS:
        many = np.maximum(_near_sums(shared, width), 1.0)  # one at least: a code is its own neighbour
        found.append((_near_sums(counts * shared, width) / many, 1 / many))
    return found


def _near_sums(values: Floats, width: float) -> Floats:
    """For every code the sum of the values around it, under a bell curve that is one at the code itself."""
    reach = math.ceil(3 * width)
    curve = np.exp(-((np.arange(-reach, reach + 1) / width) ** 2) / 2)
    return np.convolve(values, curve)[reach : reach + len(values)]
