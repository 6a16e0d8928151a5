"""The plain choice: least squares on the whole tree, then whole numbers from the root down, level by level.

The root is fixed first, then the children of every fixed region are the whole numbers nearest to what was estimated
that add up to it and keep every rule. Non-negativity is imposed where it belongs, between siblings whose sum is already
settled, so its bias does not climb the tree as it does when all levels are fitted at once (`exact`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.trees.estimate import Estimate
from discreet.trees.gls import Gls, gls
from discreet.trees.measurement import Measurement
from discreet.trees.rules import NO_BOUND, Bounds, Rules
from discreet.trees.topdown.crossing import Known, known_totals, nearest
from discreet.trees.topdown.pulls import pulled, targets_of
from discreet.trees.topdown.transport import Rows, one_row, transport

__all__ = ["topdown"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_FREE = np.iinfo(np.int64).max
_NO_RULES = Rules()


@typed
def topdown(measured: Measurement, rules: Rules = _NO_RULES) -> Estimate:
    """Whole numbers that add up and keep the rules, from noisy counts: generalised least squares, then top-down.

    Post-processing: nothing is read but what was measured. Bounds, structural zeros and public totals hold exactly.
    `rules.weights` do not matter here: the noise says how much a count is worth.

    >>> from discreet.trees.measurement import Level
    >>> from discreet.trees.tree import Hierarchy
    >>> from discreet.mechanisms import Laplace
    >>> tree = Hierarchy.from_prefixes(["a", "b", "c"], {"leaf": 1})
    >>> levels = (Level(np.array([[11]]), Laplace(1)), Level(np.array([[7], [2], [-3]]), Laplace(10)))
    >>> [level.ravel().tolist() for level in topdown(Measurement(tree, levels)).counts]
    [[11], [8, 3, 0]]
    """
    if measured.chain:
        from discreet.trees.chain.solve import topdown_chain

        return topdown_chain(measured, rules)
    tree = measured.tree
    bounds = rules.bounds(tree, measured.cells)
    known = known_totals(tree, bounds)
    found = gls(measured)
    width = found.alone[0]
    root = one_row(found.up_counts(0), width, known.lower[0], known.upper[0], rows_of(known, found, 0))
    if root is None:
        return _all_at_once(found, bounds)
    counts = [root]
    for level in range(1, tree.depth):
        mu, width = found.up_counts(level), found.alone[level]
        rows = rows_of(known, found, level)
        if measured.margins:
            targets, spread = targets_of(found, level, measured.shape), width[:, None]
            bounded = (known.lower[level], known.upper[level])
            mu = pulled(tree, level, counts[-1], mu, spread, *bounded, targets, measured.shape)
            rows = Rows(rows.least, rows.most)
        below = transport(tree, level - 1, counts[-1], mu, width, known.lower[level], known.upper[level], rows)
        if below is None:
            return _all_at_once(found, bounds)
        counts.append(below)
    return Estimate(tree, tuple(counts))


def rows_of(known: Known, found: Gls, level: int) -> Rows:
    """What is known about the totals of a level: bounds, and what questions for totals add to the cells' own sum."""
    target, cells = found.up_totals[level], found.cells
    extra = 1 / found.up_total_variance[level] - 1 / (cells * found.alone[level])
    extra = np.where(extra * found.up_total_variance[level] > 1e-9, extra, 0.0)
    if known.least is None or known.most is None:
        nothing = np.zeros(len(target), np.int64)
        return Rows(nothing, nothing + _FREE, target, extra)
    # A bound that the cells' own bounds imply is none.
    implied = known.lower[level].sum(axis=1)
    least = np.where(known.least[level] > implied, known.least[level], 0)
    roof = np.minimum(known.upper[level].astype(float).sum(axis=1), NO_BOUND)
    most = np.where(known.most[level] < roof, known.most[level], _FREE)
    return Rows(least, most, target, extra)


def _all_at_once(found: Gls, bounds: Bounds) -> Estimate:
    """Where bounds and totals cross so that level by level ends in a corner: one linear program over the leaves."""
    leaves = nearest(found.tree, bounds, np.rint(found.counts[-1]).astype(np.int64))
    note = "Bounds and public totals cross: the leaves were fitted all at once, by distance, not level by level."
    return Estimate.of_leaves(found.tree, leaves, (note,))
