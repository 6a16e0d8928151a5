"""A table that might be the true one: drawn, given what was measured, to try methods out on.

A method's own estimate is a poor stand-in for the truth where counts are small: noise has scattered it, or a method has
smoothed it, and errors measured on it are too small. So the spread of true counts is learned from the noisy ones
(`behind`), and for every region and cell a count is drawn from what is then likely behind its own noisy count; level by
level, so that the table adds up. Only noisy values are read: post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.estimate import Estimate
from discreet.trees.gls import gls
from discreet.trees.intervals.behind import Spread, draw
from discreet.trees.measured import Measured
from discreet.trees.rules import Rules
from discreet.trees.topdown.crossing import known_totals
from discreet.trees.topdown.rounding import spread
from discreet.trees.topdown.solve import rows_of, within
from discreet.trees.topdown.transport import Rows, one_row, transport
from discreet.trees.tree import Hierarchy

__all__ = ["plausible"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_TOTALS, _CELLS = 0.5, 1.5  # how evenly people are spread where noise hides it: shapes of negative binomial laws
_LITTLE = 0.05
_TURNS = 5


def plausible(measured: Measured, estimate: Estimate, rules: Rules, bits: Bits) -> Array:
    """Counts of the leaves, drawn from what is likely behind the noisy ones.

    The root is the best linear estimate, whatever the bias of the method to be tried. Chains (counts of groups of at
    least s members) are not drawn, nor what bounds and public totals have cornered: `estimate` itself is returned.
    """
    tree, cells = measured.tree, measured.cells
    if measured.chain:
        return estimate.counts[-1]
    known = known_totals(tree, rules.bounds(tree, cells))
    found = gls(measured)
    root = one_row(found.up_counts[0], within(found, 0), known.lower[0], known.upper[0], rows_of(known, found, 0))
    if root is None:
        return estimate.counts[-1]
    counts = root
    for level in range(1, tree.depth):
        place, many = tree.parents[level], tree.children(level - 1)
        alone = within(found, level)
        above = counts.sum(axis=1)
        # Totals first, each region's among those whose parents have as much to give for each child.
        asked = measured.levels[level]
        own = asked.noise if cells == 1 and asked.totals_noise is None else asked.totals_noise
        noise = _noise(found.up_total_variance[level], own)
        totals = draw(found.up_totals[level][:, None], noise, (above / many)[place][:, None], _TOTALS, bits)
        nothing = np.zeros(totals.shape, np.int64)
        totals *= (above / np.maximum(tree.add(level - 1, totals)[:, 0], 1))[place][:, None]
        width = np.maximum(totals, 0) + _LITTLE
        fitting = spread(tree, level - 1, above[:, None], totals, width, nothing, nothing + above[place][:, None])
        # Then cells: among those of which as much is to be expected, from the parent's mix and the region's total.
        mix = counts / np.maximum(above, 1)[:, None]
        noise = _noise(alone, asked.noise)
        drawn = draw(found.up_counts[level], noise, mix[place] * fitting, _CELLS, bits)
        rows = rows_of(known, found, level)
        low, high = known.lower[level], known.upper[level]
        drawn = _fitted(tree, level - 1, np.clip(drawn, low, high), counts, fitting)
        if rows.hard:
            below = transport(tree, level - 1, counts, drawn, alone, low, high, Rows(rows.least, rows.most))
        else:
            below = spread(tree, level - 1, counts, drawn, drawn + _LITTLE, low, high)
        if below is None:
            return estimate.counts[-1]
        counts = below
    return counts


def _fitted(tree: Hierarchy, level: int, drawn: Reals, parents: Array, totals: Array) -> Reals:
    """Cells, scaled by turns to region's totals and to parents: where nobody lives there is nobody of any kind."""
    found = drawn + _LITTLE / 10
    for _ in range(_TURNS):
        found = found * (totals / found.sum(axis=1, keepdims=True))
        found = found * (parents / np.maximum(tree.add(level, found), 1e-9))[tree.parents[level + 1]]
        found = found + _LITTLE / 100
    return found


def _noise(variance: Reals, own: Laplace | Gaussian | None) -> Spread:
    """The noise of a level's estimates: like Laplace where one such noise prevails, normal where many add up."""
    typical = float(np.median(variance))
    return Spread(float(np.sqrt(typical)), isinstance(own, Laplace) and typical > own.variance / 2)
