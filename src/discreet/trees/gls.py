"""The best linear unbiased estimate of every region from all noisy counts, in one pass up and one pass down.

Up: what a region's own count and the sum of its children's estimates say is combined, weighted by precision. Down: what
the rest of the tree adds is handed to the children, in proportion to their variances. This is generalised least squares
on the tree, in time proportional to its size; non-negativity and whole numbers come later (`topdown`), as both would
bias what is unbiased here.

All cells of a level carry the same noise, so the sum over cells and the differences between cells are two problems with
nothing in common: direct questions for totals inform the first only. Solving both and putting them together is the best
linear unbiased estimate of everything at once. Proof: docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.measurement import Measurement
from discreet.trees.tree import Hierarchy

__all__ = ["Gls", "Pass", "gls", "upward"]

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Gls:
    """Unbiased real estimates of every level, root first, and their variances.

    `variance[l][i]` is that of each cell of region i (all cells of a region have the same); `total_variance[l][i]` that
    of its total over all cells. The differences between a region's cells are uncorrelated with its total, so with C
    cells the covariance of any two cells of a region is total_variance / C^2 - within / C, where `within` is
    (variance - total_variance / C^2) / (1 - 1/C), the variance of one cell if no total were known. Different regions
    are correlated, and that is not stated here: a sum over regions that is no region itself has no variance here.

    `up_*` are what the subtree of a region alone says, before the way down: estimates for different children of one
    parent are independent of each other.
    """

    tree: Hierarchy
    counts: tuple[Reals, ...]
    variance: tuple[Reals, ...]
    totals: tuple[Reals, ...]
    total_variance: tuple[Reals, ...]
    up_counts: tuple[Reals, ...]
    up_variance: tuple[Reals, ...]
    up_totals: tuple[Reals, ...]
    up_total_variance: tuple[Reals, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Estimates of every level and their variances, one a region."""

    values: tuple[Reals, ...]
    variance: tuple[Reals, ...]


def gls(measured: Measurement) -> Gls:
    """Generalised least squares: every region and cell, and every total, from all that was measured.

    >>> from discreet.trees.measurement import Level
    >>> from discreet.mechanisms import Laplace
    >>> tree = Hierarchy.from_prefixes(["a", "b"], {"leaf": 1})
    >>> noise = Laplace(10)
    >>> root, leaves = Level(np.array([[13]]), noise), Level(np.array([[4], [6]]), noise)
    >>> found = gls(Measurement(tree, (root, leaves)))
    >>> [level.ravel().round(6).tolist() for level in found.counts]
    [[12.0], [5.0, 7.0]]
    """
    tree, cells = measured.tree, measured.cells
    counts = [None if level.counts is None else level.counts.astype(float) for level in measured.levels]
    spreads = [np.inf if level.noise is None else max(level.noise.variance, 1e-12) for level in measured.levels]
    direct = [
        None if level.totals is None or level.totals_noise is None else (level.totals, level.totals_noise.variance)
        for level in measured.levels
    ]
    up = upward(tree, counts, spreads)
    down = _downward(tree, up)
    if all(asked is None for asked in direct):
        up_totals = Pass(tuple(v.sum(axis=1) for v in up.values), tuple(cells * v for v in up.variance))
        totals = Pass(tuple(v.sum(axis=1) for v in down.values), tuple(cells * v for v in down.variance))
        return Gls(tree, down.values, down.variance, totals.values, totals.variance, *_parts(up), *_parts(up_totals))
    sums, sum_spreads = [], []
    for level, spread, asked in zip(counts, spreads, direct, strict=True):
        values, variance = (None if level is None else level.sum(axis=1)), cells * spread
        if asked is not None:
            precise = max(asked[1], 1e-12)
            if values is None:
                values, variance = asked[0].astype(float), precise
            else:
                share = variance / (variance + precise)
                values = values + share * (asked[0] - values)
                variance = share * precise
        sums.append(values)
        sum_spreads.append(variance)
    up_totals = upward(tree, sums, sum_spreads)
    totals = _downward(tree, up_totals)
    up_cells, cells_ = _join(up, up_totals, cells), _join(down, totals, cells)
    return Gls(
        tree, cells_.values, cells_.variance, totals.values, totals.variance, *_parts(up_cells), *_parts(up_totals)
    )


def upward(tree: Hierarchy, values: Sequence[Reals | None], variances: Sequence[float]) -> Pass:
    """What each region's own subtree says about it: the best linear unbiased estimate from it alone."""
    last = values[-1]
    if last is None:
        raise InputError("values", Phrase("no leaves"), "values of the leaves at least")
    found, spread = [np.asarray(last, float)], [np.full(len(last), float(variances[-1]))]
    for level in range(tree.depth - 2, -1, -1):
        below, below_spread = tree.add(level, found[0]), tree.add(level, spread[0])
        own, noise = values[level], float(variances[level])
        if own is not None and np.isfinite(noise):
            share = below_spread / (below_spread + noise)
            below = below + _rows(share, below) * (own - below)
            below_spread = share * noise
        found.insert(0, below)
        spread.insert(0, below_spread)
    return Pass(tuple(found), tuple(spread))


def _downward(tree: Hierarchy, up: Pass) -> Pass:
    values, variance = [up.values[0]], [up.variance[0]]
    for level in range(tree.depth - 1):
        own, own_spread, parents = up.values[level + 1], up.variance[level + 1], tree.parents[level + 1]
        sums, sum_spread = tree.add(level, own), tree.add(level, own_spread)
        share = own_spread / sum_spread[parents]
        values.append(own + _rows(share, own) * (values[level] - sums)[parents])
        variance.append(own_spread - share**2 * (sum_spread - variance[level])[parents])
    return Pass(tuple(values), tuple(variance))


def _join(cells: Pass, totals: Pass, many: int) -> Pass:
    """Differences between cells from one pass, their sum from the other."""
    values = tuple(c + ((t - c.sum(axis=1)) / many)[:, None] for c, t in zip(cells.values, totals.values, strict=True))
    variance = tuple(c * (1 - 1 / many) + t / many**2 for c, t in zip(cells.variance, totals.variance, strict=True))
    return Pass(values, variance)


def _parts(found: Pass) -> tuple[tuple[Reals, ...], tuple[Reals, ...]]:
    return found.values, found.variance


def _rows(share: Reals, like: Any) -> Reals:
    return share[:, None] if like.ndim == 2 else share
