"""Confidence intervals for each region: the best linear unbiased estimate, give or take its noise.

What is claimed: for every region and cell, whatever its true count and whatever the other regions look like, the
interval holds the true count with `confidence`, over the noise. It rests on the law of the noise alone: the estimate is
the true count plus a fixed linear combination of noises of known variance. The price is width: nothing is borrowed
from regions that look alike (`typical` does that, for a claim about many regions together). An interval also holds the
published count: where the method moved that further than noise reaches, the interval is stretched to it.
Proof and limits: docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.mechanisms import Laplace
from discreet.mechanisms.inputs import read_confidence
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.gls import gls
from discreet.trees.measurement import Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.topdown.crossing import Known, known_totals

__all__ = [
    "beyond",
    "bounds_of",
    "deviations",
    "half_width",
    "known_bounds",
    "linear_bands",
    "margin_ends",
    "size_ends",
    "with_each",
]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_BLOCK = 1 << 18  # numbers worked on at once
_FARTHEST = 1 << 62


@typed
def with_each(estimate: Estimate, measured: Measurement, rules: Rules, confidence: float) -> Estimate:
    """The same estimate with an interval for each region, whatever its size."""
    known, alpha = known_bounds(measured, rules), 1 - float(read_confidence(confidence))
    levels = []
    for level, (values, variance, totals, spread) in enumerate(gls(measured).levels()):
        low, high, least, most = bounds_of(known, level)
        counts = estimate.counts[level]
        cells = _around(values, half_width(measured, alpha, variance)[:, None], counts, low, high)
        levels.append((*cells, *_around(totals, half_width(measured, alpha, spread), counts.sum(axis=1), least, most)))
    return replace(estimate, each=Ends.of_levels(levels))


def linear_bands(measured: Measurement, confidence: float) -> list[tuple[Array, Array, Array, Array]]:
    """Level by level the linear estimates of cells and their half-widths, those of totals and theirs, as whole numbers.

    Estimates are rounded to the nearest, and half-widths up with a half for that and one for whole noise.
    """
    alpha, found = 1 - float(read_confidence(confidence)), []
    for values, variance, totals, spread in gls(measured).levels():
        halves = (half_width(measured, alpha, one) for one in (variance, spread))
        wide, span = (np.ceil(half + 1).astype(np.int64) for half in halves)
        found.append((np.rint(values).astype(np.int64), wide, np.rint(totals).astype(np.int64), span))
    return found


def size_ends(exactly: Array, measured: Measurement, level: int, confidence: float) -> tuple[Array, Array]:
    """Ends for the groups of exactly each size, from cumulative counts: the difference of two, noises independent."""
    linear = gls(measured)
    at_least, variance = linear.counts[level], linear.variance[level][:, None]
    estimate = at_least - np.pad(at_least[:, 1:], ((0, 0), (0, 1)))
    many = np.full(exactly.shape, 2.0)
    many[:, -1] = 1.0  # the largest size has nothing to be taken off
    half = half_width(measured, 1 - float(read_confidence(confidence)), many * variance)
    return _around(estimate, half, exactly, np.zeros_like(exactly), np.full_like(exactly, NO_BOUND))


def margin_ends(
    published: Array,
    measured: Measurement,
    level: int,
    axes: tuple[int, ...],
    shape: tuple[int, ...],
    confidence: float,
) -> tuple[Array, Array]:
    """Ends for the margin of some columns of a level, of as many values as `shape`."""
    values, variance = gls(measured).margin(level, axes, shape)
    half = half_width(measured, 1 - float(read_confidence(confidence)), variance)[:, None]
    return _around(values, half, published, np.zeros_like(published), np.full_like(published, NO_BOUND))


def deviations(measured: Measurement, alpha: float) -> float:
    """How many deviations wide: normal if many noises add up, Laplace if one prevails; the more of the two."""
    normal = NormalDist().inv_cdf(1 - alpha / 2)
    return max(normal, math.log(1 / alpha) / math.sqrt(2)) if _has_laplace(measured) else normal


def bounds_of(known: Known, level: int) -> tuple[Array, Array, Array, Array]:
    """What is public of a level's cells and of its totals: least and most of either."""
    low, high = known.lower[level], known.upper[level]
    if known.least is not None and known.most is not None:
        return low, high, known.least[level], known.most[level]
    most = np.minimum(high.sum(axis=1, dtype=float), NO_BOUND).astype(np.int64)
    return low, high, low.sum(axis=1), most


def beyond(most: Array) -> Array:
    """Upper bounds, with what stands for none as far away as sums of magnitudes may reach."""
    return np.where(most < NO_BOUND, most, _FARTHEST)


def known_bounds(measured: Measurement, rules: Rules) -> Known:
    """What the rules say of every count. Of cumulative counts a public total is the first, not the sum of all."""
    tree, cells = measured.tree, measured.cells
    if not measured.chain:
        return known_totals(tree, rules.bounds(tree, cells))
    from discreet.trees.chain.rules import bounds_in_order

    lower, upper = zip(*bounds_in_order(tree, cells, rules), strict=True)
    return Known(lower, upper)


def _has_laplace(measured: Measurement) -> bool:
    return any(isinstance(one.noise, Laplace) for level in measured.levels for one in level.queries(measured.axes))


def half_width(measured: Measurement, alpha: float, variance: Reals) -> Reals:
    """Half the width of an interval around an estimate of that variance: as `deviations`, on whole numbers.

    Where one Laplace noise prevails it is the scale that counts, which for little noise on whole numbers is more than
    the deviation over the root of two. Little Gaussian noise is not zero with a chance of up to its variance, and the
    interval then has room for one more or less.
    """
    deviation = np.sqrt(variance)
    half: Reals = NormalDist().inv_cdf(1 - alpha / 2) * deviation
    if _has_laplace(measured):
        scale = 0.5 / np.arcsinh(np.sqrt(0.5) / np.maximum(deviation, 1e-9))
        half = np.maximum(half, math.log(1 / alpha) * scale)
    else:
        half = np.maximum(half, np.where(np.asarray(variance) > alpha, 0.5, 0.0))
    return half


def _around(estimate: Reals, half: Reals, published: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """Whole numbers at most `half` and a half from an estimate, within what is public, and what is published.

    The half is for whole noise, whose chance of being m or more is that of real noise beyond m - 1/2.
    """
    lower, upper = np.empty(published.shape, np.int64), np.empty(published.shape, np.int64)
    step = max(1, _BLOCK * len(published) // max(published.size, 1))
    for first in range(0, len(published), step):
        here = slice(first, first + step)
        bounds = least[here], beyond(most[here])
        reach = half[here] + 0.5
        low, high = np.ceil(estimate[here] - reach), np.floor(estimate[here] + reach)
        lower[here] = np.minimum(np.clip(low, *bounds), published[here])
        upper[here] = np.maximum(np.clip(high, *bounds), published[here])
    return lower, upper
