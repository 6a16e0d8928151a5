"""The best linear unbiased estimate of every region from all noisy counts, in one pass up and one pass down.

Up: what a region's own count and the sum of its children's estimates say is combined, weighted by precision. Down: what
the rest of the tree adds is handed to the children, in proportion to their variances. This is generalised least squares
on the tree, in time proportional to its size; non-negativity and whole numbers come later (`topdown`), as both would
bias what is unbiased here.

All cells of a level carry the same noise, so the sum over cells and the differences between cells are two problems with
nothing in common: direct questions for totals inform the first only. Solving both and putting them together is the best
linear unbiased estimate of everything at once. Questions for other margins take the differences further apart
(`components`). Proof: docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.components import Component, components, margin_of
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy

__all__ = ["NOTHING", "Gls", "Pass", "downward", "gls", "margin_passes", "subtree_passes", "upward", "variances"]

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
        self._asked = dict.fromkeys(one.axes for level in measured.levels for one in level.margins)
        self._parts = [
            (one, upward(self.tree, [one.own(measured, level) for level in range(self.tree.depth)], one.spreads))
            for one in components(measured)
        ]

    def up_counts(self, level: int) -> Reals:
        """What subtrees say about the cells of a level, from all kinds of questions."""
        values = self._up.values[level]
        if self._up_totals is None:
            return values
        parts = [(one, up.values[level]) for one, up in self._parts]
        return _joined(values, self.up_totals[level], self.cells, parts)

    def up_margins(self, level: int) -> Iterator[tuple[tuple[int, ...], Reals]]:
        """Of every margin that was asked, and of the total: the variance of its own component, before the way down."""
        yield (), self.up_total_variance[level] / self.cells
        for axes in self._asked:
            yield axes, next(up.variance[level] for one, up in self._parts if frozenset(axes) in one.columns)

    def margin(self, level: int, axes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Reals, Reals]:
        """The margin of some of the columns of a level, of as many values as `shape`: estimates, and their variance."""
        values = margin_of(self.counts[level], shape, axes)
        entries = values.shape[1]
        directions, variance = entries - 1, self.total_variance[level] / self.cells
        for one, up in self._parts:
            variance = variance + one.within(axes) * _at(self.tree, up, level)
            directions -= one.within(axes)
        variance = variance + directions * _at(self.tree, self._up, level)
        return values, variance * (self.cells / entries) ** 2 / self.cells

    def levels(self) -> Iterator[tuple[Reals, Reals, Reals, Reals]]:
        """Level by level, root first: counts and their variance, totals and theirs. No more is held at a time."""
        down = downward(self.tree, self._up)
        if self._up_totals is None:
            for values, variance in down:
                yield values, variance, values.sum(axis=1), self.cells * variance
            return
        downs = [downward(self.tree, up) for _, up in self._parts]
        for (values, variance), (totals, spread), *more in zip(
            down, downward(self.tree, self._up_totals), *downs, strict=True
        ):
            parts = [(one, found) for (one, _), (found, _) in zip(self._parts, more, strict=True)]
            spreads = [(one, found) for (one, _), (_, found) in zip(self._parts, more, strict=True)]
            cells = _joined(values, totals, self.cells, parts)
            yield cells, _mixed(variance, spread, self.cells, spreads), totals, spread

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
    tree, cells = measured.tree, measured.cells
    up, up_totals = _ups(Measurement(tree, nothing), cells, _margin_totals(measured))
    down = [spread for _, spread in downward(tree, up)]
    if up_totals is None:
        return down, [cells * spread for spread in down]
    totals = [spread for _, spread in downward(tree, up_totals)]
    zeros = [np.zeros(size) for size in tree.sizes]
    parts = components(measured)
    downs = [[spread for _, spread in downward(tree, upward(tree, zeros, one.spreads))] for one in parts]
    mixed = []
    for level, (own, total) in enumerate(zip(down, totals, strict=True)):
        mixed.append(_mixed(own, total, cells, [(one, found[level]) for one, found in zip(parts, downs, strict=True)]))
    return mixed, totals


def _ups(
    measured: Measurement, cells: int | None = None, known: list[list[tuple[Any, float]]] | None = None
) -> tuple[Pass, Pass | None]:
    """The way up: of cells, and of totals from all kinds of questions; None where nothing but cells was asked.

    `known` are totals of every level from other questions with their variance; those of its own margins if left out.
    """
    many = measured.cells if cells is None else cells
    others = _margin_totals(measured) if known is None else known
    spreads = [np.inf if level.noise is None else max(level.noise.variance, 1e-12) for level in measured.levels]
    up = upward(measured.tree, [level.counts for level in measured.levels], spreads)
    if all(level.totals is None for level in measured.levels) and not any(others):
        return up, None
    sums: list[Any] = []
    sum_spreads = []
    for level, spread, more in zip(measured.levels, spreads, others, strict=True):
        values, variance = (None if level.counts is None else level.counts.sum(axis=1)), many * spread
        if level.totals is not None and level.totals_noise is not None:
            more = [(level.totals, max(level.totals_noise.variance, 1e-12)), *more]
        for direct, precise in more:
            if values is None:
                values, variance = direct, precise
            else:
                share = variance / (variance + precise)
                values = values + share * (direct - values)
                variance = share * precise
        sums.append(values)
        sum_spreads.append(variance)
    return up, upward(measured.tree, sums, sum_spreads)


def _margin_totals(measured: Measurement) -> list[list[tuple[Any, float]]]:
    """What the margins of every level say about totals, with their variance."""
    return [
        [(one.values.sum(axis=1), one.values.shape[1] * max(one.noise.variance, 1e-12)) for one in level.margins]
        for level in measured.levels
    ]


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


def margin_passes(measured: Measurement) -> list[tuple[tuple[int, ...], Pass]]:
    """What each region's own subtree says about its margins, from the questions for them: of every margin asked."""
    found = []
    for axes in dict.fromkeys(one.axes for level in measured.levels for one in level.margins):
        asked = [next((one for one in level.margins if one.axes == axes), None) for level in measured.levels]
        values: list[Any] = [None if one is None else one.values for one in asked]
        spreads = [np.inf if one is None else max(one.noise.variance, 1e-12) for one in asked]
        if values[-1] is None:
            entries = next(one.values.shape[1] for one in asked if one is not None)
            values[-1], spreads[-1] = np.zeros((measured.tree.leaves, entries)), NOTHING
        found.append((axes, upward(measured.tree, values, spreads)))
    return found


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


def _at(tree: Hierarchy, up: Pass, level: int) -> Reals:
    """The variance of a level, all told."""
    return next(islice(downward(tree, up), level, None))[1]


def _mixed(cells: Reals, totals: Reals, many: int, parts: list[tuple[Component, Reals]]) -> Reals:
    """The variance of a cell: of what it differs from the others by, and of its part in the total."""
    found = np.asarray(cells * (1 - 1 / many) + totals / many**2)
    for one, variance in parts:
        found = found + (variance - cells) * one.dimension / many
    return found


def _joined(cells: Reals, totals: Reals, many: int, parts: list[tuple[Component, Reals]]) -> Reals:
    """Differences between cells from one pass, their sum and what margins inform from others."""
    found = np.asarray(cells + ((totals - cells.sum(axis=1)) / many)[:, None])
    for one, values in parts:
        found = found + one.project(values - cells)
    return found


def _summed(up: Pass, cells: int) -> Pass:
    return Pass(tuple(v.sum(axis=1) for v in up.values), tuple(cells * v for v in up.variance))


def _rows(share: Reals, like: Any) -> Reals:
    return share[:, None] if like.ndim == 2 else share
