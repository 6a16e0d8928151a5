"""Sizes of groups, counted from the largest down: how many groups have at least s members, in every region.

One member more makes one group of s into one of s + 1 (or opens a group of 1): of the counts of groups of *at least* s
members exactly one changes, by one, where of the counts of groups of *exactly* s members two do. So these counts take
half the noise. Their true values never rise from one size to the next, and the methods here keep that order, besides
sums, whole numbers and the rules. What they publish is turned into groups of exactly s members by `sizes`.

A public total of a region is here the number of its groups: the first cell, groups of at least one member.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.errors import InputError, MissingExtraError, Phrase
from discreet.trees.chain.fit import Box, Squares, fit
from discreet.trees.chain.flow import shares, whole
from discreet.trees.chain.isotonic import isotonic
from discreet.trees.chain.rules import ChainRules
from discreet.trees.chain.search import SMALL, best
from discreet.trees.estimate import Estimate
from discreet.trees.measurement import Measurement
from discreet.trees.rules import NO_BOUND, Rules

__all__ = ["at_least", "exact_chain", "exactly", "relaxed_chain", "sizes", "topdown_chain"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

_FINE = 1024
"""Real targets are rounded to this fraction of a count before exact arithmetic sees them."""


def at_least(counts: Any) -> Array:
    """How many groups have at least s members, from how many have exactly s; sizes 1, 2, ... along the last axis.

    Guarantee: one member more or less in one group changes one of the numbers returned, by one. Proof:
    docs/proofs/hierarchy-chain.md.

    >>> at_least([[5, 0, 2, 1]]).tolist()
    [[8, 3, 3, 1]]
    """
    return np.cumsum(_whole(counts)[..., ::-1], axis=-1)[..., ::-1]


def exactly(counts: Any) -> Array:
    """How many groups have exactly s members, from how many have at least s: the inverse of `at_least`.

    >>> exactly([[8, 3, 3, 1]]).tolist()
    [[5, 0, 2, 1]]
    """
    found = _whole(counts).copy()
    found[..., :-1] -= found[..., 1:]
    return found


@typed
def sizes(estimate: Estimate) -> Estimate:
    """The same estimate as groups of exactly s members: if order and sums were kept, they add up and none is negative.

    Intervals are left out: those of two counts do not make one of their difference.
    """
    return Estimate(estimate.tree, tuple(exactly(level) for level in estimate.counts), notes=estimate.notes)


def exact_chain(measured: Measurement, rules: Rules | None = None, *, steps: int = SMALL) -> Estimate:
    """Whole ordered counts that add up, keep the rules and miss the noisy ones by the least sum of weighted squares.

    Guarantee: order, sums and rules hold always. The first note says what else is certain. "optimal": no whole counts
    within the rules have a smaller sum of squares; on one level always (pooling), on two where there are at most
    `steps` / 4 counts, on more nearly always then. Else how far above the least the sum can be at most, as a share of
    it: the optimum over real numbers, which is a bound, was rounded down the tree. More steps take more time, more than
    in proportion. Proofs: docs/proofs/hierarchy-chain.md.

    It is post-processing: nothing is spent.

    >>> from discreet.trees.measurement import Level
    >>> from discreet.trees.tree import Hierarchy
    >>> from discreet.mechanisms import Laplace
    >>> tree = Hierarchy.from_prefixes(["a", "b"], {"leaf": 1})
    >>> noisy = (Level(np.array([[9, 5, 6]]), Laplace(1)), Level(np.array([[5, 2, 3], [4, 1, -2]]), Laplace(1)))
    >>> [level.tolist() for level in exact_chain(Measurement(tree, noisy, chain=True)).counts]
    [[[9, 5, 4]], [[5, 4, 4], [4, 1, 0]]]
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise InputError("steps", steps, "a whole number, 0 for no search")
    problem = ChainRules.read(measured, rules)
    if measured.tree.depth == 1:
        lower, upper = problem.boxes[0]
        targets, weights = problem.targets[0][0], np.broadcast_to(problem.weights[0], lower.shape)[0]
        if (weights > 0).all():
            found = isotonic(targets.tolist(), weights.tolist(), lower[0].tolist(), upper[0].tolist())
            return Estimate(measured.tree, (found[None, :],), notes=("optimal: pooling is exact",))
    squares = problem.squares()
    # Rounding costs about a twentieth of a weight a count: a hundredth of that is near enough.
    tolerance = 0.0005 * float(np.broadcast_to(squares.weights[-1], squares.targets[-1].shape).sum())
    fitted = fit(squares, problem.sides(), tolerance)
    counts, note = best(problem, fitted, steps)
    return Estimate(measured.tree, tuple(counts), notes=(note,))


@typed
def topdown_chain(measured: Measurement, rules: Rules | None = None) -> Estimate:
    """Whole ordered counts that add up and keep the rules: the best linear estimate, then from the root down.

    What was measured within each region is first combined size by size (two passes of generalised least squares, with
    nothing but the noise in mind); then each level is made whole and ordered, its parents fixed. What is certain high
    up is so not traded for what is uncertain below. Not an optimum of anything as a whole. Post-processing: free.
    `rules.weights` do not matter here: the noise says how much a count is worth.
    """
    problem = ChainRules.read(measured, replace(rules or Rules(), weights={}))
    tree = measured.tree
    means, variances = problem.squares().subtrees()
    found = [_top(means[0], problem.boxes[0], variances[0])]
    for level in range(1, tree.depth):
        weights = 1 / variances[level]
        pinned = found[-1].astype(float)
        step = Squares(tree, level - 1, [np.zeros((len(pinned), 1)), weights], [pinned, means[level]], pinned)
        tolerance = 0.005 * float(np.broadcast_to(weights, means[level].shape).sum())
        fitted = fit(step, [None, problem.sides()[level]], tolerance)
        below = shares(tree, level - 1, found[-1], fitted.levels[1], problem.boxes[level], fitted.steps, weights)
        if below is None:
            return replace(exact_chain(measured, rules), notes=("lower bounds left no way from the top: see exact",))
        found.append(below)
    return Estimate(tree, tuple(found))


def relaxed_chain(measured: Measurement, rules: Rules | None = None) -> Estimate:
    """The published baseline: least squares over real numbers by a general solver (OSQP), each count then rounded.

    Nothing holds afterwards: rounding breaks sums, and what the solver has left undone breaks order. For comparison.
    """
    try:
        import osqp
        from scipy import sparse
    except ImportError:
        raise MissingExtraError("constraints", "osqp") from None
    problem = ChainRules.read(measured, rules)
    tree, cells = measured.tree, measured.cells
    shapes = [target.shape for target in problem.targets]
    weights = np.concatenate(
        [np.broadcast_to(w, shape).ravel() for w, shape in zip(problem.weights, shapes, strict=True)]
    )
    scale = 1 / float(weights.max())
    targets = np.concatenate([target.ravel() for target in problem.targets]).astype(float)
    offsets = np.cumsum([0, *(size * cells for size in tree.sizes)])
    eye = sparse.eye_array(cells)
    parts = []
    for level in range(tree.depth - 1):
        # A region's count less those of its parts is zero.
        inside = sparse.coo_array(
            (np.ones(tree.sizes[level + 1]), (tree.parents[level + 1], np.arange(tree.sizes[level + 1]))),
            shape=(tree.sizes[level], tree.sizes[level + 1]),
        )
        row = [sparse.coo_array((shapes[level][0] * cells, size * cells)) for size in tree.sizes]
        row[level] = sparse.eye_array(shapes[level][0] * cells)
        row[level + 1] = -sparse.kron(inside, eye)
        parts.append(sparse.hstack(row))
    sums = sum(part.shape[0] for part in parts)
    if cells > 1:
        falls = sparse.eye_array(cells - 1, cells) - sparse.eye_array(cells - 1, cells, k=1)
        order = sparse.kron(sparse.eye_array(tree.leaves), falls)
        parts.append(sparse.hstack([sparse.coo_array((order.shape[0], int(offsets[-2]))), order]))
    parts.append(sparse.eye_array(int(offsets[-1])))
    matrix = sparse.csc_array(sparse.vstack(parts))
    free = matrix.shape[0] - sums - int(offsets[-1])
    lows = np.concatenate([box[0].ravel() for box in problem.boxes])
    highs = np.concatenate([np.where(box[1] >= NO_BOUND, np.inf, box[1]).ravel() for box in problem.boxes])
    solver = osqp.OSQP()
    solver.setup(
        P=sparse.csc_matrix(sparse.diags_array(2 * scale * weights)),
        q=-2 * scale * weights * targets,
        A=sparse.csc_matrix(matrix),
        l=np.concatenate([np.zeros(sums + free), lows]),
        u=np.concatenate([np.zeros(sums), np.full(free, np.inf), highs]),
        verbose=False,
    )
    found = np.floor(np.nan_to_num(solver.solve(raise_error=False).x) + 0.5).astype(np.int64)
    counts = [found[offsets[i] : offsets[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
    return Estimate(tree, tuple(counts), notes=("rounded one by one: sums and order may be broken",))


def _top(means: Floats, box: Box, variances: Floats) -> Array:
    """The root's best linear estimate, ordered and whole within its bounds."""
    weights = np.broadcast_to(1 / variances, means.shape)[0]
    if np.ptp(weights) > 0:
        shares_of = np.maximum(np.rint(weights / weights.max() * 2**20), 1).astype(int).tolist()
    else:
        shares_of = [1] * means.shape[1]
    lower, upper = (np.asarray(bound[0], object) * _FINE for bound in box)  # exact: bounds may be near 2**53
    fine = isotonic(
        [round(float(mean) * _FINE) for mean in means[0]], shares_of, np.minimum(lower, 2**62), np.minimum(upper, 2**62)
    )
    return whole(fine[None, :] / _FINE, box)


def _whole(counts: Any) -> Array:
    read = np.asarray(counts)
    if read.dtype.kind not in "iu" or read.ndim < 1:
        raise InputError("counts", Phrase(read.dtype), "whole numbers of groups, sizes along the last axis")
    return read.astype(np.int64)
