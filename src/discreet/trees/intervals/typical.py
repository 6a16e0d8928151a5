"""Intervals that hold on average over a level, by trying the method out on tables that might be the true one.

A method that keeps counts whole, non-negative and adding up bends the noise: its errors have a bias and a spread that
no formula gives. So they are measured. A plausible table is drawn from the noisy counts (`posterior`), measured with
fresh noise of the same law, and run through the same method; what the method then published is compared with what it
should have. Errors of counts that look alike to a reader (level, size published, size of the region, cell) are put
together (`quantiles`), and their quantiles, bias included, are the interval. Where too few look alike, as at the root,
the variance of the best linear estimate takes over.

What is claimed: of the numbers published on a level, about `confidence` lie in their intervals, on average over the
regions and over the noise, if the plausible table resembles the true one. It is not a claim about one region singled
out: a region unlike all others is missed more often, and `each` has the intervals that are. Nothing about privacy
is claimed or needed here, as only published values and public randomness are used. More:
docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.digest import text_of
from discreet.core.mechanism import Bits
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.mechanisms.inputs import read_confidence
from discreet.noise.replay import Replay
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.gls import gls
from discreet.trees.intervals.each import deviations, public_bounds
from discreet.trees.intervals.posterior import draw_table
from discreet.trees.intervals.quantiles import ErrorQuantiles
from discreet.trees.measurement import Measurement
from discreet.trees.rules import Rules

__all__ = ["Method", "Replay", "key_of", "remeasure", "with_typical"]

Array = NDArray[np.int64]
Method = Callable[[Measurement, Rules], Estimate]


def key_of(measured: Measurement, purpose: str) -> bytes:
    """A key that follows from everything measured: published values, so public."""
    digest = hashlib.sha256(purpose.encode())
    for level in measured.levels:
        for values in (level.counts, level.totals):
            digest.update(b"-" if values is None else np.ascontiguousarray(values).astype("<i8").tobytes())
        digest.update(text_of((level.noise, level.totals_noise)).encode())
    return digest.digest()


def remeasure(measured: Measurement, leaves: Array, bits: Bits) -> Measurement:
    """The same questions with fresh noise of the same law, asked of the counts `leaves`."""
    levels = []
    for level, exact in zip(measured.levels, measured.tree.sums(leaves), strict=True):
        fresh = level
        if level.noise is not None:
            counts = level.noise.release(exact.ravel(), bits=bits).reshape(exact.shape)
            fresh = replace(fresh, counts=counts)
        if level.totals_noise is not None:
            fresh = replace(fresh, totals=level.totals_noise.release(exact.sum(axis=1), bits=bits))
        levels.append(fresh)
    return Measurement(measured.tree, tuple(levels), measured.chain)


@typed
def with_typical(
    estimate: Estimate, measured: Measurement, rules: Rules, method: Method, confidence: float = 0.95, reruns: int = 4
) -> Estimate:
    """The same estimate with a short interval for every count and every region's total.

    `method` is what made `estimate` from `measured` and `rules`; it is run `reruns` times on simulated measurements.
    All randomness is public and follows from the measured values: the same release always gets the same intervals.
    """
    alpha = 1 - float(read_confidence(confidence))
    if isinstance(reruns, bool) or not isinstance(reruns, int) or reruns < 2:
        raise InputError("reruns", reruns, "two or more")
    tree, linear = measured.tree, gls(measured)
    cells, totals = [ErrorQuantiles() for _ in tree.names], [ErrorQuantiles() for _ in tree.names]
    bits = Replay(key_of(measured, "intervals"))
    leaves = draw_table(measured, estimate, rules, bits)
    truth = tree.sums(leaves)
    for _ in range(reruns):
        tried = method(remeasure(measured, leaves, bits), rules)
        for level, (counts, exact) in enumerate(zip(tried.counts, truth, strict=True)):
            cells[level].add(counts, exact)
            totals[level].add(counts.sum(axis=1)[:, None], exact.sum(axis=1)[:, None])
    factor = deviations(measured, alpha)
    ends: list[tuple[Array, Array, Array, Array]] = []
    for level, (low, high, least, most) in enumerate(public_bounds(measured, rules)):
        counts = estimate.counts[level]
        # Rounding adds the variance of a uniform number to the linear estimate's.
        deviation = np.sqrt(linear.variance[level] + 1 / 12)[:, None]
        of_cells = cells[level].interval(counts, deviation, factor, alpha, low, high)
        deviation = np.sqrt(linear.total_variance[level] + 1 / 12)[:, None]
        sums = counts.sum(axis=1)[:, None]
        of_totals = totals[level].interval(sums, deviation, factor, alpha, least[:, None], most[:, None])
        ends.append((*of_cells, of_totals[0][:, 0], of_totals[1][:, 0]))
    return replace(estimate, typical=Ends.of_levels(ends))
