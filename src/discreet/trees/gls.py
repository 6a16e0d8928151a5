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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy

__all__ = ["NOTHING", "Gls", "Pass", "downward", "gls", "subtree_passes", "upward", "variances"]

Reals = NDArray[np.float64]

NOTHING = 1e18
"""The variance of what was not asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Estimates of every level and their variances, one a region."""

    values: tuple[Reals, ...]
    variance: tuple[Reals, ...]


class Gls:
    """Unbiased real estimates of every level, root first, and their variances: worked out when they are looked at.

    `variance[l][i]` is that of each cell of region i (all cells of a region have the same); `total_variance[l][i]` that
    of its total over all cells. The differences between a region's cells are uncorrelated with its total, so with C
    cells the covariance of any two cells of a region is total_variance / C^2 - within / C, where `within` is
    (variance - total_variance / C^2) / (1 - 1/C), the variance of one cell if no total were known. Different regions
    are correlated, and that is not stated here: `covariance` has the variance of a sum over regions.

    `up_*` are what the subtree of a region alone says, before the way down: estimates for different children of one
    parent are independent of each other. `alone` is the variance of one of its cells there if no total were known.
    """

    def __init__(self, measured: Measurement) -> None:
        self.tree, self.cells = measured.tree, measured.cells
        self._up, self._up_totals = _ups(measured)
        self.alone = self._up.variance
        own = self._up_totals or _summed(self._up, self.cells)
        self.up_totals, self.up_total_variance = own.values, own.variance

    def up_counts(self, level: int) -> Reals:
        """What subtrees say about the cells of a level, from both kinds of questions."""
        values = self._up.values[level]
        return values if self._up_totals is None else _joined(values, self.up_totals[level], self.cells)

    def levels(self) -> Iterator[tuple[Reals, Reals, Reals, Reals]]:
        """Level by level, root first: counts and their variance, totals and theirs. No more is held at a time."""
        down = downward(self.tree, self._up)
        if self._up_totals is None:
            for values, variance in down:
                yield values, variance, values.sum(axis=1), self.cells * variance
            return
        for (values, variance), (totals, spread) in zip(down, downward(self.tree, self._up_totals), strict=True):
            yield _joined(values, totals, self.cells), _mixed(variance, spread, self.cells), totals, spread

    @cached_property
    def _all(self) -> tuple[tuple[Reals, ...], ...]:
        return tuple(zip(*self.levels(), strict=True))

    @property
    def counts(self) -> tuple[Reals, ...]:
        """Every cell."""
        return self._all[0]

    @property
    def variance(self) -> tuple[Reals, ...]:
        """That of every region's cells."""
        return self._all[1]

    @property
    def totals(self) -> tuple[Reals, ...]:
        """Every region's total over all cells."""
        return self._all[2]

    @property
    def total_variance(self) -> tuple[Reals, ...]:
        """That of every region's total."""
        return self._all[3]


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
    return Gls(measured)


def variances(measured: Measurement) -> tuple[list[Reals], list[Reals]]:
    """How far counts and totals stray, of every level: it follows from the questions, whatever the answers."""
    nothing = tuple(
        Level(
            None if level.counts is None else np.zeros((len(level.counts), 1), np.int64),
            level.noise,
            None if level.totals is None else np.zeros(len(level.totals), np.int64),
            level.totals_noise,
        )
        for level in measured.levels
    )
    up, up_totals = _ups(Measurement(measured.tree, nothing), measured.cells)
    cells = measured.cells
    down = [spread for _, spread in downward(measured.tree, up)]
    if up_totals is None:
        return down, [cells * spread for spread in down]
    totals = [spread for _, spread in downward(measured.tree, up_totals)]
    return [_mixed(a, b, cells) for a, b in zip(down, totals, strict=True)], totals


def _ups(measured: Measurement, cells: int | None = None) -> tuple[Pass, Pass | None]:
    """The way up: of cells, and of totals from both kinds of questions; None where no totals were asked."""
    many = measured.cells if cells is None else cells
    spreads = [np.inf if level.noise is None else max(level.noise.variance, 1e-12) for level in measured.levels]
    up = upward(measured.tree, [level.counts for level in measured.levels], spreads)
    if all(level.totals is None for level in measured.levels):
        return up, None
    sums: list[Any] = []
    sum_spreads = []
    for level, spread in zip(measured.levels, spreads, strict=True):
        values, variance = (None if level.counts is None else level.counts.sum(axis=1)), many * spread
        if level.totals is not None and level.totals_noise is not None:
            precise = max(level.totals_noise.variance, 1e-12)
            if values is None:
                values, variance = level.totals, precise
            else:
                share = variance / (variance + precise)
                values = values + share * (level.totals - values)
                variance = share * precise
        sums.append(values)
        sum_spreads.append(variance)
    return up, upward(measured.tree, sums, sum_spreads)


def subtree_passes(measured: Measurement) -> tuple[Pass, Pass | None]:
    """What each region's own subtree says: about its cells, and, from questions of their own, about its total.

    None where no totals were asked. What the questions of a subtree do not reach has the variance `NOTHING`.
    """
    levels = measured.levels
    cells = upward(
        measured.tree,
        [level.counts for level in levels],
        [np.inf if level.noise is None else max(level.noise.variance, 1e-12) for level in levels],
    )
    if all(level.totals is None for level in levels):
        return cells, None
    totals: list[Any] = [level.totals for level in levels]
    spreads = [np.inf if level.totals_noise is None else max(level.totals_noise.variance, 1e-12) for level in levels]
    if totals[-1] is None:
        totals[-1], spreads[-1] = np.zeros(measured.tree.leaves), NOTHING
    return cells, upward(measured.tree, totals, spreads)


def upward(tree: Hierarchy, values: Sequence[Any], variances: Sequence[float]) -> Pass:
    """What each region's own subtree says about it: the best linear unbiased estimate from it alone.

    The leaves' own values are kept as they are, whole numbers if they were.
    """
    last = values[-1]
    if last is None:
        raise InputError("values", Phrase("no leaves"), "values of the leaves at least")
    found, spread = [np.asarray(last)], [np.full(len(last), float(variances[-1]))]
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


def downward(tree: Hierarchy, up: Pass) -> Iterator[tuple[Reals, Reals]]:
    """What the whole tree says of each region, from what its own subtree does: estimates and variances, root first."""
    values, variance = np.asarray(up.values[0], float), up.variance[0]
    yield values, variance
    for level in range(tree.depth - 1):
        own, own_spread, parents = up.values[level + 1], up.variance[level + 1], tree.parents[level + 1]
        sums, sum_spread = tree.add(level, own), tree.add(level, own_spread)
        share = own_spread / sum_spread[parents]
        found = (values - sums)[parents]
        found *= _rows(share, own)
        found += own
        values, variance = found, own_spread - share**2 * (sum_spread - variance)[parents]
        yield values, variance


def _mixed(cells: Reals, totals: Reals, many: int) -> Reals:
    """The variance of a cell: of what it differs from the others by, and of its part in the total."""
    return np.asarray(cells * (1 - 1 / many) + totals / many**2)


def _joined(cells: Reals, totals: Reals, many: int) -> Reals:
    """Differences between cells from one pass, their sum from the other."""
    return np.asarray(cells + ((totals - cells.sum(axis=1)) / many)[:, None])


def _summed(up: Pass, cells: int) -> Pass:
    return Pass(tuple(v.sum(axis=1) for v in up.values), tuple(cells * v for v in up.variance))


def _rows(share: Reals, like: Any) -> Reals:
    return share[:, None] if like.ndim == 2 else share
