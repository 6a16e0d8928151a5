"""Parts of a large tree to simulate on: quantiles of errors need tens of thousands of numbers, not all of them.

A band of levels is simulated on a sample of the subtrees at its top. Below, the tree is cut off: what a subtree says
about its root, the best linear estimate from it alone, is one noisy count of known variance. Above, the siblings that
are left out are taken off: a parent's noisy count less their estimates is a noisy count of the part that is left, with
the variance of all of them. So a method meets what it meets in the whole tree, as long as it only passes estimates up
and fixed parents down (`topdown`, `bayes`). Where all is fitted at once, the whole tree is needed.

Only noisy counts are read: post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.gls import Pass, margin_passes, subtree_passes
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.topdown.crossing import Known
from discreet.trees.tree import Hierarchy

__all__ = ["NUMBERS", "Part", "parts_of"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

NUMBERS = 1 << 17
"""How many numbers of one level are simulated at a time, about, if there are more."""

_SUBTREES = 32  # at least so many are sampled: of fewer, the odd ones would decide


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A tree to simulate on, the rules that hold in it, and which of its levels are as they are in the whole tree.

    `chosen` are the places of its last level's regions in the whole tree.
    """

    measured: Measurement
    rules: Rules
    levels: range
    chosen: Array


def parts_of(measured: Measurement, rules: Rules, known: Known, enough: int) -> Iterator[Part]:
    """Trees that together have every level: the lowest levels first. One, and the whole, if it is small.

    `known` is what the rules say of every region; `enough` numbers of a level are sampled at least.
    """
    tree = measured.tree
    few = _SUBTREES
    most = max(NUMBERS // measured.cells, 2 * enough)
    if tree.leaves <= most:
        yield Part(measured, rules, range(tree.depth), np.arange(tree.leaves))
        return
    cells, direct = subtree_passes(measured)
    margins = dict(margin_passes(measured))
    bottom = tree.depth - 1
    while bottom >= 0:
        if tree.sizes[bottom] <= most:
            top, first = 0, 0
        else:
            top = next(level for level in range(bottom + 1) if most * tree.sizes[level] >= few * tree.sizes[bottom])
            first = min(top + 1, bottom)
        yield _cut(measured, rules, known, cells, direct, margins, top, range(first, bottom + 1), most)
        bottom = first - 1


def _cut(
    measured: Measurement,
    rules: Rules,
    known: Known,
    cells: Pass,
    direct: Pass | None,
    margins: dict[tuple[int, ...], Pass],
    top: int,
    levels: range,
    most: int,
) -> Part:
    tree, bottom = measured.tree, levels[-1]
    many = max(1, min(tree.sizes[top], most * tree.sizes[top] // tree.sizes[bottom]))
    # Evenly over the regions as they stand, which is by where they lie: every parent has its share.
    chosen = {top: (2 * np.arange(many) + 1) * tree.sizes[top] // (2 * many)}
    for level in range(top + 1, bottom + 1):
        chosen[level] = np.flatnonzero(_marked(chosen[level - 1], tree.sizes[level - 1])[tree.parents[level]])
    for level in range(top - 1, -1, -1):
        chosen[level] = np.unique(tree.parents[level + 1][chosen[level + 1]])
    small = _subtree(tree, chosen, bottom)
    rest = _left_out(tree, cells, chosen, top)
    direct_rest = None if direct is None else _left_out(tree, direct, chosen, top)
    margins_rest = {axes: _left_out(tree, one, chosen, top) for axes, one in margins.items()}
    found = []
    for level in range(bottom + 1):
        own, here = measured.levels[level], chosen[level]
        others: dict[tuple[int, ...], tuple[Array, Laplace | Gaussian] | None] = {}
        if level == bottom < tree.depth - 1:
            counts = _noisy(cells.values[level][here], cells.variance[level][here], own.noise)
            totals = None
            if direct is not None:
                totals = _noisy(direct.values[level][here], direct.variance[level][here], own.totals_noise)
            for axes, one in margins.items():
                law = next((margin.noise for margin in own.margins if margin.axes == axes), None)
                others[axes] = _noisy(one.values[level][here], one.variance[level][here], law)
        elif level >= top:
            counts = None if own.counts is None or own.noise is None else (own.counts[here], own.noise)
            totals = None if own.totals is None or own.totals_noise is None else (own.totals[here], own.totals_noise)
            others = {margin.axes: (margin.values[here], margin.noise) for margin in own.margins}
        else:
            counts = _less(own.counts, own.noise, here, rest, level)
            totals = None
            if direct_rest is not None:
                totals = _less(own.totals, own.totals_noise, here, direct_rest, level)
            for margin in own.margins:
                others[margin.axes] = _less(margin.values, margin.noise, here, margins_rest[margin.axes], level)
        asked = tuple(Margin(axes, *answer) for axes, answer in others.items() if answer is not None)
        found.append(replace(Level(*(counts or (None, None)), *(totals or (None, None))), margins=asked))
    kept = _kept(rules, known, measured, chosen, range(top, bottom + 1))
    shape = measured.shape if any(level.margins for level in found) else ()
    return Part(Measurement(small, tuple(found), shape=shape), kept, levels, chosen[bottom])


def _marked(places: Array, size: int) -> NDArray[np.bool_]:
    found = np.zeros(size, bool)
    found[places] = True
    return found


def _subtree(tree: Hierarchy, chosen: dict[int, Array], bottom: int) -> Hierarchy:
    parents = [
        np.searchsorted(chosen[level - 1], tree.parents[level][chosen[level]]).astype(np.int64)
        for level in range(1, bottom + 1)
    ]
    codes = tuple(tuple([tree.codes[level][place] for place in chosen[level]]) for level in range(bottom + 1))
    return Hierarchy(tree.names[: bottom + 1], codes, (np.zeros(0, np.int64), *parents))


def _left_out(tree: Hierarchy, up: Pass, chosen: dict[int, Array], top: int) -> dict[int, tuple[Reals, Reals]]:
    """Of every region above `top`: the estimate of what is left out of it, and its variance."""
    found: dict[int, tuple[Reals, Reals]] = {}
    values, variance = np.zeros_like(up.values[top], float), np.zeros_like(up.variance[top])
    for level in range(top, 0, -1):
        out = ~_marked(chosen[level], tree.sizes[level])
        values[out], variance[out] = up.values[level][out], up.variance[level][out]
        values, variance = tree.add(level - 1, values), tree.add(level - 1, variance)
        found[level - 1] = values, variance
    return found


def _less(
    own: Array | None, noise: Laplace | Gaussian | None, here: Array, rest: dict[int, tuple[Reals, Reals]], level: int
) -> tuple[Array, Laplace | Gaussian] | None:
    if own is None or noise is None:
        return None
    values, variance = rest[level]
    return _noisy(own[here] - values[here], noise.variance + variance[here], noise)


def _noisy(values: Reals, variance: Reals, own: Laplace | Gaussian | None) -> tuple[Array, Laplace | Gaussian] | None:
    """Estimates as whole noisy counts: with Laplace noise where one such noise prevails, normal where many add up."""
    typical = float(np.median(variance))
    if typical > 1e17:  # nothing was asked
        return None
    if isinstance(own, Laplace) and own.variance / 2 < typical < 2 * own.variance:
        noise: Laplace | Gaussian = Laplace(_short(np.sqrt(typical / 2)))
    else:
        noise = Gaussian(_short(np.sqrt(typical)))
    return np.rint(values).astype(np.int64), noise


def _short(scale: float) -> Fraction:
    """A scale with few digits, which samplers are quick with."""
    return max(Fraction(round(scale * 16), 16), Fraction(1, 16))


def _kept(rules: Rules, known: Known, measured: Measurement, chosen: dict[int, Array], levels: range) -> Rules:
    """The rules of whole regions, and the covariate of those sampled; no bounds are known of parts of regions."""
    tree, bottom = measured.tree, levels[-1]
    covariates = rules.covariates(tree, measured.cells)
    public = None if covariates is None else covariates[bottom][chosen[bottom]]
    if not (rules.lower or rules.upper or rules.totals):
        return Rules(covariate=public)
    lower = {tree.names[level]: known.lower[level][chosen[level]] for level in levels}
    upper = {tree.names[level]: np.minimum(known.upper[level][chosen[level]], NO_BOUND) for level in levels}
    totals: dict[str, Any] = {}
    if known.least is not None and known.most is not None:
        for level in levels:
            least, most = known.least[level], known.most[level]
            totals[tree.names[level]] = np.where(least == most, least, -1)[chosen[level]]
    return Rules(lower, upper, totals, covariate=public)
