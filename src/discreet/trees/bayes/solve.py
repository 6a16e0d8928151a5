"""The accurate choice: what counts look like is learned from all regions, and every noisy count is weighed against it.

From the root down, parents fixed: the children's totals first, from direct questions and the cells' sums; then every
cell, whose rough size is its parent's share of its region's total. How far true counts stray from their rough size is
learned from the noisy counts of the whole level (`prior`), so a count is drawn towards its rough size as far as noise
warrants. Parents stay the sums of their children, so what is taken from one child goes to its siblings.

Guarantee
    Only noisy counts, the law of their noise and public rules are read: post-processing, at no cost of its own. Sums,
    bounds and public totals hold exactly. The learned prior makes no promise but a smaller error on average; what it
    does to single regions is in docs/proofs/hierarchy-bayes.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.errors import InputError, Phrase
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes.covariate import guess
from discreet.trees.bayes.posterior import posterior_moments
from discreet.trees.bayes.product import columns_at_once, product
from discreet.trees.bayes.ratio import ratio_moments
from discreet.trees.bayes.totals import laplace_site, projected_totals
from discreet.trees.estimate import Estimate
from discreet.trees.gls import NOTHING, Pass, gls, margin_passes, subtree_passes
from discreet.trees.measurement import Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown.crossing import known_totals, nearest
from discreet.trees.topdown.pulls import Target, pulled
from discreet.trees.topdown.rounding import multiplier, spread, whole
from discreet.trees.topdown.solve import rows_of
from discreet.trees.topdown.transport import Rows, one_row, transport
from discreet.trees.tree import Hierarchy

__all__ = ["ENOUGH", "bayes", "regressed", "shared"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_NO_RULES = Rules()
_SWEEPS = 2
_HARD_SWEEPS = 40  # where totals are public; the rounding mends what is left
_STEPS = 60  # of learning what counts look like
_FIRST = 30  # where that is only to say how cells hang together, before it is learned once more
_CLOSE = 0.01  # persons: totals that move by less have settled
_BLOCK = 1 << 18  # numbers worked on at once: what stays in the cache
_SURE = 1e-3  # the least variance of a cell: nothing is so certain that a sibling's error may not move it
ENOUGH = 400
"""Fewer regions than this teach nothing about how cells hang together."""

_SOME = 100  # fewer regions than this do not show how far cells stray from their parents' shares
_RIDGE = 30.0  # coefficients are expected to be about 1 / sqrt(30) before anything is seen
_PLENTY = 40_000  # more regions than this teach little more: every so many-th is looked at
_LEAST = 1e-3  # a rough size below this is taken for this
_MOST = 20.0  # a ratio beyond this is taken for this


def shared(parents: Array, place: Array, totals: Reals) -> Reals:
    """Every region's total divided among the cells as its parent's is."""
    share = parents / np.maximum(parents.sum(axis=1), 1)[:, None]
    return np.asarray(share[place] * totals[:, None])


def regressed(noisy: Reals, variance: Reals, rough: Reals, mean: Reals) -> Reals:
    """Rough sizes once more: each cell's multiplied by what the other cells' ratios (mean / rough) say about its own.

    For each cell, a weighted ridge regression of noisy / rough - 1 on the other cells' ratios less one. The noise in a
    cell is independent of that in the others, so the coefficients say how true counts hang together.
    """
    size, cells = rough.shape
    within = ((noisy - rough) ** 2).sum(axis=0) - variance.sum()
    dispersion = np.maximum(within, 0.0) / np.maximum((rough**2).sum(axis=0), 1e-9)
    coefficients = np.zeros((cells + 1, cells))
    some = slice(None, None, 1 + size // _PLENTY)
    known, base = _ratios(mean[some], rough[some]), np.maximum(rough[some], _LEAST)
    goal = noisy[some] / base - 1
    weights = base**2 / (variance[some, None] + dispersion * base**2 + 1e-9)
    left, right = np.triu_indices(cells + 1)
    halves, products = np.zeros((cells, len(left))), np.zeros((cells, cells + 1))
    step = columns_at_once(cells, len(left))
    for first in range(0, len(known), step):
        part = slice(first, first + step)
        halves += weights[part].T @ (known[part][:, left] * known[part][:, right])
        products += (weights[part] * goal[part]).T @ known[part]
    squares = np.empty((cells, cells + 1, cells + 1))
    squares[:, left, right] = squares[:, right, left] = halves
    for cell in range(cells):
        others = np.flatnonzero(np.arange(cells + 1) != cell)
        ridged = squares[cell][np.ix_(others, others)] + _RIDGE * np.eye(cells)
        coefficients[others, cell] = np.linalg.solve(ridged, products[cell][others])
    found = np.empty(rough.shape)
    step = max(1, _BLOCK // cells)
    for first in range(0, size, step):
        part = slice(first, first + step)
        np.clip(product(_ratios(mean[part], rough[part]), coefficients) + 1, 1 / _MOST, _MOST, out=found[part])
        found[part] *= rough[part]
    return found


def _ratios(mean: Reals, rough: Reals) -> Reals:
    """The ratios less one, and a column of ones."""
    found = np.ones((len(mean), mean.shape[1] + 1))
    found[:, :-1] = np.minimum(mean / np.maximum(rough, _LEAST), _MOST) - 1
    return found


@typed
def bayes(measured: Measurement, rules: Rules = _NO_RULES) -> Estimate:
    """Whole numbers that add up and keep the rules, from noisy counts: empirical Bayes from the root down.

    Works best where totals were asked for by questions of their own, and where there are many regions to learn from.
    `rules.weights` do not matter here: the noise says how much a count is worth.
    """
    if measured.chain:
        raise InputError("method", "bayes", "topdown or exact for sizes of groups")
    tree = measured.tree
    bounds = rules.bounds(tree, measured.cells)
    known, covariate = known_totals(tree, bounds), rules.covariates(tree, measured.cells)
    found = gls(measured)
    root = one_row(found.up_counts(0), found.alone[0], known.lower[0], known.upper[0], rows_of(known, found, 0))
    counts = [] if root is None else [root]
    seen = _Seen.of(measured)
    for level in range(1, tree.depth if counts else 0):
        rows = rows_of(known, found, level)
        public = None if covariate is None else covariate[level]
        mean, variance = _cells(tree, level, counts[-1], seen, known.lower[level], known.upper[level], rows, public)
        below = _settled(tree, level, counts[-1], mean, variance, known.lower[level], known.upper[level], rows, seen)
        if below is None:
            break
        counts.append(below)
    if len(counts) == tree.depth:
        return Estimate(tree, tuple(counts))
    leaves = nearest(tree, bounds, np.rint(found.counts[-1]).astype(np.int64))
    note = "Bounds and public totals cross: the leaves were fitted all at once, by distance, not level by level."
    return Estimate.of_leaves(tree, leaves, (note,))


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What each region's own subtree says: about its cells, and, from questions of their own, about its total."""

    noise: Laplace | Gaussian
    cells: Pass
    direct: Pass
    own: list[tuple[Reals, float] | None]
    margins: list[tuple[tuple[int, ...], Pass]]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, measured: Measurement) -> _Seen:
        tree, leaves = measured.tree, measured.levels[-1]
        if leaves.noise is None:
            raise InputError("levels", Phrase("none of the leaves"), "counts of the leaves at least")
        cells, direct = subtree_passes(measured)
        if direct is None:
            zeros = tuple(np.zeros(size) for size in tree.sizes)
            direct = Pass(zeros, tuple(zero + NOTHING for zero in zeros))
        own = [
            (np.asarray(one.totals, float), float(one.totals_noise.scale))
            if one.totals is not None and isinstance(one.totals_noise, Laplace)
            else None
            for one in measured.levels
        ]
        return cls(leaves.noise, cells, direct, own, margin_passes(measured), measured.shape)

    def totals(self, level: int, share: Reals, even: Reals) -> tuple[Reals, Reals]:
        """Totals from all, and their variances, where cells are about these shares of a total of about `even`."""
        totals, doubt = self.direct.values[level], self.direct.variance[level]
        values, noise = self.cells.values[level], self.cells.variance[level]
        sums = values.sum(axis=1), values.shape[1] * noise
        if len(values) >= _SOME and values.shape[1] > 1:
            sums = projected_totals(values, noise, totals, doubt, share, even)
        others = [
            (up.values[level].sum(axis=1), up.values[level].shape[1] * up.variance[level]) for _, up in self.margins
        ]
        for value, own in (sums, *others):
            weight = own / (own + doubt)
            totals, doubt = value + weight * (totals - value), weight * doubt
        return totals, doubt

    def rows(self, tree: Hierarchy, level: int, mean: Reals, variance: Reals) -> tuple[Reals, Reals]:
        """Totals from questions of their own alone and their variances, beside cells of such means and variances."""
        one = self.own[level]
        if one is None:
            return self.direct.values[level], self.direct.variance[level]
        answer, scale = one
        belief, precision = mean.sum(axis=1), 1 / variance.sum(axis=1)
        below, known = np.zeros(len(belief)), np.full(len(belief), 1 / NOTHING)
        if level < tree.depth - 1:
            below = tree.add(level, np.asarray(self.direct.values[level + 1], float))
            known = 1 / tree.add(level, self.direct.variance[level + 1])
        both = precision + known
        target, doubt = laplace_site(answer, scale, (precision * belief + known * below) / both, 1 / both)
        both = 1 / doubt + known
        return (target / doubt + below * known) / both, 1 / both

    def targets(self, level: int, totals: Reals, doubt: Reals) -> list[Target]:
        """Margins by the questions for them, and totals."""
        margins = [Target(axes, up.values[level], up.variance[level]) for axes, up in self.margins]
        return [*margins, Target((), totals[:, None], doubt)]


def _cells(
    tree: Hierarchy,
    level: int,
    parents: Array,
    seen: _Seen,
    lower: Array,
    upper: Array,
    rows: Rows,
    covariate: Reals | None,
) -> tuple[Reals, Reals]:
    """What to expect of every cell of the children of fixed parents, and its variance."""
    place, many = tree.parents[level], tree.children(level - 1)
    above = parents.sum(axis=1)
    size = len(place)
    public = rows.least == rows.most
    even = (above / many)[place]
    totals, doubt = seen.totals(level, shared(parents, place, np.ones(size)), even)
    # A total of many cells has the noise of all of them: nearly normal, whatever the law of one.
    law = seen.noise if parents.shape[1] == 1 else Gaussian(1)
    if covariate is None:
        mean, variance = (one[:, 0] for one in posterior_moments(totals[:, None], doubt, law, even[:, None]))
    else:
        guessed = guess(totals, doubt, even, covariate.sum(axis=1), place)
        mean, variance = ratio_moments(totals, doubt, guessed)
    aim = np.where(public, rows.least, mean)
    width = np.where(public, 1e-9, np.maximum(variance, _SURE))
    roof = np.full(size, float(above.max()) + 1)
    shift = multiplier(many, aim, width, roof, above.astype(float))
    totals = np.clip(aim + width * shift[place], 0.0, roof)
    rough = np.clip(shared(parents, place, totals), lower, upper)
    noisy, noise = seen.cells.values[level], seen.cells.variance[level]
    if covariate is not None and covariate.shape[1] > 1:
        rough = np.clip(guess(noisy, noise, rough, covariate, place), lower, upper)
    again = size >= ENOUGH and rough.shape[1] > 1
    mean, variance = posterior_moments(noisy, noise, seen.noise, rough, steps=_FIRST if again else _STEPS)
    if again:
        rough = np.clip(regressed(noisy, noise, rough, mean), lower, upper)
        mean, variance = posterior_moments(noisy, noise, seen.noise, rough, steps=_STEPS)
    return mean, np.maximum(variance, _SURE)


def _settled(
    tree: Hierarchy,
    level: int,
    parents: Array,
    mean: Reals,
    variance: Reals,
    lower: Array,
    upper: Array,
    rows: Rows,
    seen: _Seen,
) -> Array | None:
    """Whole numbers that minimise sum (x - mean)^2 / variance + sum (row - direct)^2 / doubt, columns = parents.

    Rows by their direct question only: what cells say about a total is in their means already.
    """
    place = tree.parents[level]
    target, doubt = seen.rows(tree, level, mean, variance)
    public = rows.least == rows.most
    target, doubt = np.where(public, rows.least, target), np.where(public, 1e-9, doubt)
    if seen.margins:
        targets = seen.targets(level, target, doubt)
        mean = pulled(tree, level, parents, mean, variance, lower, upper, targets, seen.shape)
        if not rows.hard:
            return spread(tree, level - 1, parents, mean, variance, lower, upper)
        ones, bounded = np.ones(len(mean)), Rows(rows.least, rows.most)
        return transport(tree, level - 1, parents, np.clip(mean, lower, upper), ones, lower, upper, bounded)
    children, starts = tree.children(level - 1), tree.starts(level - 1)
    found = np.empty(mean.shape, np.int64)
    near = np.empty(mean.shape) if rows.hard else None
    # Children of different parents have nothing to do with each other: some parents at a time.
    for first, last in _some(starts, len(mean), _BLOCK // mean.shape[1]):
        own = slice(first, last)
        here = slice(int(starts[first]), int(starts[last]) if last < len(starts) else len(mean))
        family = _Family(
            children[own],
            place[here] - first,
            parents[own],
            mean[here],
            variance[here],
            lower[here],
            upper[here],
        )
        settled = family.settled(target[here], doubt[here], hard=rows.hard)
        if near is not None:
            near[here] = settled
            continue
        below = family.whole(settled)
        if below is None:
            return None
        found[here] = below
    if near is None:
        return found
    return transport(tree, level - 1, parents, near, np.ones(len(mean)), lower, upper, Rows(rows.least, rows.most))


def _some(starts: Array, size: int, most: int) -> Iterator[tuple[int, int]]:
    """Parents from, and to before, such that they have about `most` children together."""
    cuts = np.unique(np.searchsorted(starts, np.arange(0, size, max(1, most))))
    yield from pairwise([*cuts.tolist(), len(starts)] if cuts[-1] < len(starts) else cuts.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """Some parents with all their children: what is expected of these, and what they may be."""

    children: Array
    place: Array
    parents: Array
    mean: Reals
    variance: Reals
    lower: Array
    upper: Array

    def settled(self, target: Reals, doubt: Reals, *, hard: bool) -> Reals:
        """Rows drawn to their targets: the means to round, or, where totals are `hard`, the real optimum."""
        if not hard and not (doubt < NOTHING / 2).any():
            return self.mean
        # One cell after the other from here on: columns are then stretches of memory.
        starts = np.cumsum(self.children) - self.children
        base = self.lower.sum(axis=1)
        room = np.ascontiguousarray((np.minimum(self.upper, self.parents[self.place]) - self.lower).T, dtype=float)
        above = np.ascontiguousarray((self.parents - np.add.reduceat(self.lower, starts, axis=0)).T, dtype=float)
        start, width = np.ascontiguousarray((self.mean - self.lower).T), np.ascontiguousarray(self.variance.T)
        counts = np.tile(self.children, len(start))
        pull = np.zeros(len(self.mean))
        shift: Reals | None = None
        for _ in range(_HARD_SWEEPS if hard else _SWEEPS):
            free = start + width * pull
            near = None if shift is None else shift.ravel()
            found = multiplier(counts, free.ravel(), width.ravel(), room.ravel(), above.ravel(), near)
            shift = found.reshape(above.shape)
            free += width * shift[:, self.place]
            held = np.clip(free, 0.0, room)
            give = np.where(free == held, width, 0.0).sum(axis=0)
            before, pull = pull, (pull * give + target - base - held.sum(axis=0)) / (give + doubt)
            if (np.abs(pull - before) * give).max() < _CLOSE:
                break
        if not hard or shift is None:
            return self.mean + self.variance * pull[:, None]
        return self.lower + np.clip(start + width * (pull + shift[:, self.place]), 0.0, room).T

    def whole(self, aim: Reals) -> Array | None:
        """Whole numbers near what is aimed at that add up to the parents; None where bounds do not let them."""
        cells = aim.shape[1]
        aims, widths = (np.ascontiguousarray(values.T).ravel() for values in (aim, self.variance))
        lower, upper, parents = (
            np.ascontiguousarray(values.T).ravel() for values in (self.lower, self.upper, self.parents)
        )
        found = whole(np.tile(self.children, cells), aims, widths, lower, upper, parents)
        return None if found is None else found.reshape(cells, len(aim)).T
