"""Noisy counts of codes with an order, each drawn towards its neighbours as far as that brings it nearer to the truth.

How far codes next to each other have like counts differs between columns and inside of them: ages change slowly, round
amounts stand out. So several estimates are made, means over narrow and wide neighbourhoods among them, and what suits a
column of round values or of gaps: counts drawn to the mean of their bin, but for those that stand out. Each is judged
where it is used: with noise of a known variance, the squared error of an estimate can be told without the truth
(Stein), up to the chance in a sum over some codes. The estimates are then averaged, the better ones counting more. Only
noisy counts are seen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.synth.junction import Floats

__all__ = ["calm_counts", "smooth_counts"]

_WIDTHS = (0.6, 1.0, 1.7, 3.0, 5.0, 9.0, 16.0)  # codes, as the deviation of a bell curve
_NEAR = 10.0  # the same, for the codes that an estimate is judged by
_SHARP = 2.0  # variances of difference in judged errors that make one estimate count 2.7 times as much as another
_FOLLOWED = 0.1  # added to how much of a calmed count is its own: estimates that are not chosen by noise go before
_OUTLYING = 4.0  # deviations above the others of its bin, or off its estimate, that make a count believed as it is


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
    for estimate, own in _estimates(counts, deviation, bins, together, shared.astype(np.float64)):
        # Of the squared distance to the counts, less the variance that noise adds to it, and what an estimate that
        # follows its own count hides of that.
        error = (counts - estimate) ** 2 / deviation**2 + 2 * own - 1
        estimates.append(estimate)
        errors.append(_near_sums(np.where(shared, error, 0.0), _NEAR))
    judged = np.array(errors)
    weights = np.exp((judged.min(axis=0) - judged) / _SHARP)
    found = (weights * np.array(estimates)).sum(axis=0) / weights.sum(axis=0)
    outlying = max(_OUTLYING, math.sqrt(2 * math.log(len(counts)))) * deviation
    return np.where(shared & (np.abs(counts - found) <= outlying), found, counts)


def calm_counts(counts: Floats, deviation: float) -> tuple[Floats, Floats]:
    """Counts of one bin drawn to their mean as far as noise may have spread them, but for those that stand out clearly.

    Also how much of each count is in its own estimate: the mean of the derivatives (of James and Stein's estimate).

    >>> calm, own = calm_counts(np.array([9.0, 11.0, 10.0, 90.0]), 2.0)
    >>> calm, own.round(2)
    (array([10., 10., 10., 90.]), array([0.33, 0.33, 0.33, 1.  ]))
    """
    rest = np.ones(len(counts), dtype=bool)
    for _ in range(3):
        rest = counts - counts[rest].mean() <= _OUTLYING * deviation
    calm, own, inside = counts.copy(), np.ones(len(counts)), counts[rest]
    middle, many = inside.mean(), len(inside)
    spread = float(((inside - middle) ** 2).sum())
    kept = max(1 - (many - 1) * deviation**2 / spread, 0.0) if spread > 0 else 0.0
    calm[rest] = middle + kept * (inside - middle)
    own[rest] = (1 + kept * (many - 1) + (2 * (1 - kept) if kept > 0 else 0.0)) / many
    return calm, own


def _estimates(
    counts: Floats, deviation: float, bins: NDArray[np.int64], together: NDArray[np.int64], shared: Floats
) -> list[tuple[Floats, Floats]]:
    """Counts as they are, calmed, and means of bins and of neighbours; with each how much of a count is in its own."""
    means = np.bincount(bins, weights=counts) / together
    calm, own = np.empty(len(counts)), np.empty(len(counts))
    for places in np.split(np.argsort(bins, kind="stable"), np.cumsum(together)[:-1]):
        calm[places], own[places] = calm_counts(counts[places], deviation)
    found = [(counts, np.ones(len(counts))), (means[bins], 1 / together[bins]), (calm, own + _FOLLOWED)]
    for width in _WIDTHS:
        many = np.maximum(_near_sums(shared, width), 1.0)  # one at least: a code is its own neighbour
        found.append((_near_sums(counts * shared, width) / many, 1 / many))
    return found


def _near_sums(values: Floats, width: float) -> Floats:
    """For every code the sum of the values around it, under a bell curve that is one at the code itself."""
    reach = math.ceil(3 * width)
    curve = np.exp(-((np.arange(-reach, reach + 1) / width) ** 2) / 2)
    return np.convolve(values, curve)[reach : reach + len(values)]
