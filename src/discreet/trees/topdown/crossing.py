"""Bounds on cells and totals of regions together: what they allow, and the nearest whole numbers that meet them all.

Bounds of a cell nest (county in state), public totals nest too, but the two cross: a county's total may leave its only
open cell no choice. `known_totals` draws the conclusions that concern one region at a time, which is all there is to
draw where cells have no upper bounds but structural zeros common to all regions. For the rest there is one linear
program over the leaves: the union of two nested families is totally unimodular, so its corners are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.rules import NO_BOUND, Bounds
from discreet.trees.tree import Hierarchy

__all__ = ["Known", "check_together", "known_totals", "nearest"]

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Bounds of every level with public totals taken into account: of cells, and of totals (None: nothing public)."""

    lower: tuple[Array, ...]
    upper: tuple[Array, ...]
    least: tuple[Array, ...] | None = None
    most: tuple[Array, ...] | None = None


def known_totals(tree: Hierarchy, bounds: Bounds) -> Known:
    """What public totals say about totals above them and about the cells of their own region."""
    if all(totals is None for totals in bounds.totals):
        return Known(bounds.lower, bounds.upper)
    lower, upper = [level.copy() for level in bounds.lower], [level.copy() for level in bounds.upper]
    least: list[Array] = [np.zeros(0, np.int64)] * tree.depth
    most: list[Array] = [np.zeros(0, np.int64)] * tree.depth
    for level in range(tree.depth - 1, -1, -1):
        if level < tree.depth - 1:
            lower[level] = np.maximum(lower[level], tree.add(level, lower[level + 1]))
            upper[level] = np.minimum(upper[level], _capped(tree.add(level, upper[level + 1].astype(float))))
        low, high = lower[level].sum(axis=1), _capped(upper[level].astype(float).sum(axis=1))
        if level < tree.depth - 1:
            low = np.maximum(low, tree.add(level, least[level + 1]))
            high = np.minimum(high, _capped(tree.add(level, most[level + 1].astype(float))))
        totals = bounds.totals[level]
        if totals is not None:
            low, high = np.where(totals >= 0, totals, low), np.where(totals >= 0, totals, high)
        least[level], most[level] = low, high
        finite = np.where(upper[level] < NO_BOUND, upper[level], 0)
        open_ = upper[level] >= NO_BOUND
        others = finite.sum(axis=1)[:, None] - finite
        tight = np.where(open_.sum(axis=1)[:, None] - open_ > 0, 0, low[:, None] - others)
        base = lower[level].sum(axis=1)[:, None] - lower[level]
        lower[level] = np.maximum(lower[level], tight)
        upper[level] = np.minimum(upper[level], np.maximum(high[:, None] - base, lower[level]))
    return Known(tuple(lower), tuple(upper), tuple(least), tuple(most))


def check_together(tree: Hierarchy, bounds: Bounds) -> None:
    """`InputError` if bounds and public totals, each fine alone, cannot be met together. For before spending."""
    some = any(totals is not None for totals in bounds.totals)
    if some and any(((level < NO_BOUND) & (level > 0)).any() or _uneven(level == 0) for level in bounds.upper):
        nearest(tree, bounds, bounds.lower[-1])


def nearest(tree: Hierarchy, bounds: Bounds, target: Array) -> Array:
    """Whole numbers for the leaves that meet all bounds and totals, as near to `target` as can be in sum of distances.

    `InputError` where no numbers meet them all.
    """
    from scipy.optimize import Bounds as Box
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import coo_matrix, hstack, vstack

    start = np.clip(target, bounds.lower[-1], bounds.upper[-1])
    size, cells = start.shape
    numbers = np.arange(size * cells)
    matrices, low, high = [], [], []
    inside = np.arange(size)
    for level in range(tree.depth - 1, -1, -1):
        if level < tree.depth - 1:
            inside = tree.parents[level + 1][inside]
        sums = (inside[:, None] * cells + np.arange(cells)).ravel()
        families = [(sums, bounds.lower[level].ravel(), bounds.upper[level].ravel())]
        totals = bounds.totals[level]
        if totals is not None:
            families.append((np.repeat(inside, cells), np.maximum(totals, 0), np.where(totals < 0, NO_BOUND, totals)))
        for rows, least, most in families:
            bounded = np.flatnonzero((least > 0) | (most < NO_BOUND))
            if len(bounded):
                added = coo_matrix((np.ones(len(rows)), (rows, numbers)), (len(least), len(rows))).tocsr()[bounded]
                held = added @ start.ravel()
                matrices.append(added)
                low.append(least[bounded] - held)
                high.append(np.where(most[bounded] < NO_BOUND, most[bounded] - held, np.inf))
    if not matrices:
        return start
    above = np.where(bounds.upper[-1] < NO_BOUND, bounds.upper[-1] - start, np.inf).ravel()
    below = (start - bounds.lower[-1]).ravel().astype(float)
    matrix = vstack(matrices)
    found = milp(
        np.ones(2 * len(numbers)),
        integrality=np.ones(2 * len(numbers)),
        bounds=Box(0, np.concatenate([above, below])),
        constraints=LinearConstraint(hstack([matrix, -matrix]), np.concatenate(low), np.concatenate(high)),
    )
    if found.x is None:
        hint = "Upper bounds of cells may leave a public total no room."
        raise InputError(
            "rules",
            Phrase("bounds and public totals that contradict each other"),
            "such that some table of counts meets them",
            hint,
        )
    moves = np.rint(found.x).astype(np.int64)
    leaves: Array = start + (moves[: len(numbers)] - moves[len(numbers) :]).reshape(start.shape)
    return leaves


def _uneven(zeros: NDArray[np.bool_]) -> bool:
    return bool((zeros != zeros[0]).any())


def _capped(values: NDArray[np.float64]) -> Array:
    return np.minimum(values, NO_BOUND).astype(np.int64)
