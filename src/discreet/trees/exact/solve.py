"""The integer optimum of weighted least squares over a tree: whole counts that add up, none better.

Cost: O(n log n) for n leaves. Memory: a few arrays of n.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.trees.estimate import Estimate
from discreet.trees.exact.breakpoints import continuous
from discreet.trees.exact.certificate import faults
from discreet.trees.exact.flow import solve_crossing
from discreet.trees.exact.forest import Forest
from discreet.trees.exact.window import optimum_within
from discreet.trees.measurement import Measurement
from discreet.trees.rules import Rules

__all__ = ["exact", "solve", "whole_weights"]

Array = NDArray[np.int64]

_STEEPEST = 2**20  # a weight's largest ratio to the smallest: beyond it the smaller one hardly matters
_EXACT = 1e-12  # a variance below is that of noise that is never seen


@typed
def exact(measured: Measurement, rules: Rules | None = None) -> Estimate:
    """The counts that add up, keep the rules and miss the noisy ones by the least sum of weighted squares.

    Guarantee: no other whole counts that add up and keep the rules have a smaller sum over all regions and cells of
    weight * (count - noisy count)^2. This is certified for the very counts returned, in exact arithmetic; the proof is
    in docs/proofs/hierarchy-exact.md. Weights are those of the rules, else 1 / variance of the noise, in whole numbers
    to a part in a thousand. It is post-processing: nothing is spent.

    Least squares without negative counts are biased upward where counts are small: see `topdown` and `bayes`.
    """
    rules = rules or Rules()
    bounds = rules.bounds(measured.tree, measured.cells)
    weights = rules.level_weights(measured.tree, measured.cells, whole_weights(measured))
    notes = ["optimal: certificate holds"]
    if any(level.totals is not None for level in measured.levels):
        notes.append("noisy totals over all cells were not used")
    if measured.margins:
        notes.append("noisy margins were not used")
    if measured.chain:
        notes.append("the order of the cells was not preserved")
    targets = tuple(level.counts for level in measured.levels)
    if any(totals is not None and (totals >= 0).any() for totals in bounds.totals[1:]):
        alone = replace(bounds, totals=(None, *bounds.totals[1:]))
        counts = solve_crossing(Forest.plant(measured.tree, targets, weights, alone), bounds.totals)
    else:
        counts = solve(Forest.plant(measured.tree, targets, weights, bounds))
    shape = (measured.cells, measured.tree.leaves)
    leaves = np.ascontiguousarray(counts[-1].reshape(shape).T)
    return Estimate.of_leaves(measured.tree, leaves, tuple(notes))


def whole_weights(measured: Measurement) -> tuple[int, ...]:
    """1 / variance of every level as whole numbers in that proportion, to a part in a thousand; 0 if not asked."""
    variances = [None if level.noise is None else max(level.noise.variance, _EXACT) for level in measured.levels]
    largest = max(variance for variance in variances if variance is not None)
    ratios = [min(largest / variance, _STEEPEST) for variance in variances if variance is not None]
    unit = next(
        unit for unit in range(1, 501) if all(abs(round(unit * r) - unit * r) <= unit * r / 1000 for r in ratios)
    )
    return tuple(0 if variance is None else round(unit * min(largest / variance, _STEEPEST)) for variance in variances)


def solve(forest: Forest) -> list[Array]:
    """Optimal whole counts of every level, roots first."""
    real = continuous(forest)
    forest.check(real)
    guess = [np.floor(x).astype(np.int64) for x in real]
    del real
    counts = _around(forest, guess, 0, 1) or _fill(forest, guess)
    radius = 1
    while faults(forest, counts):
        # An optimum is found within the window unless the window itself is in the way; then it lies in a better place.
        better = _around(forest, counts, -radius, radius)
        if better is None:
            raise RuntimeError("windows around counts that add up do not fit together")
        counts = better
        radius = min(2 * radius, 64)
    return counts


def _around(forest: Forest, counts: list[Array], down: int, up: int) -> list[Array] | None:
    """The optimum with every count moved by `down` to `up` at most."""
    forest.check(counts)
    first = [np.clip(x + down, *ends) for x, *ends in zip(counts, forest.lower, forest.upper, strict=True)]
    last = [np.clip(x + up, *ends) for x, *ends in zip(counts, forest.lower, forest.upper, strict=True)]
    return optimum_within(forest, first, last)


def _fill(forest: Forest, guess: list[Array]) -> list[Array]:
    """Counts that add up and keep the bounds, starting from a guess that may be far off: never empty-handed."""
    found = [np.clip(guess[0], forest.lower[0], forest.upper[0])]
    for level in range(forest.depth - 1):
        heads, owners = forest.edges(level)[:-1], forest.parents[level + 1]
        lower, upper = forest.lower[level + 1], forest.upper[level + 1]
        x = np.clip(guess[level + 1], lower, upper)
        for sign, room in ((1, upper - x), (-1, x - lower)):
            missing = np.maximum(sign * (found[level] - np.add.reduceat(x, heads)), 0)
            room = np.minimum(room, missing[owners])
            ahead = np.cumsum(room) - room
            ahead -= ahead[heads][owners]
            x = x + sign * np.clip(missing[owners] - ahead, 0, room)
        found.append(x)
    return found
