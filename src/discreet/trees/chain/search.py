"""The best whole ordered counts near given ones, by linear and integer programming, where that is not too much.

Squares are replaced by straight lines between whole numbers: at whole numbers nothing changes, and the least over all
real numbers is a bound from below. On two levels the problem is a flow in a network, and the bound is met by whole
numbers. On three or more it need not be, but nearly always is (docs/proofs/hierarchy-chain.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.chain.fit import Box, Fit
from discreet.trees.chain.flow import descend
from discreet.trees.chain.rules import ChainRules
from discreet.trees.rules import NO_BOUND

__all__ = ["SMALL", "best", "search"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

SMALL = 100_000
"""The most steps of one, four for each count, that are searched for the optimum: a few CPU seconds at most."""

_REACH = 2
_NODES = 2_000
"""Where a search branches more often than this, it is given up."""

_LESS_THAN_ONE = 0.9
"""With room for what the solver leaves undone: 1e-7 a step, far below 0.1 in all."""

_OPTIMAL = "optimal: no whole numbers within the rules have a smaller sum of squares"


def best(problem: ChainRules, fitted: Fit, steps: int) -> tuple[list[Array], str]:
    """The best whole counts found, and a note that says how good they are. At most so many steps are searched."""
    squares = problem.squares()
    counts = descend(problem.tree, fitted, squares.weights[-1], problem.boxes)
    if counts is None:
        counts = _anywhere(problem, fitted)
    bound = -np.inf
    if problem.counted:
        # Any counts x cost at least bound + weight * (x - centre)^2, and whole x are some way off the centre.
        apart = zip(squares.weights, fitted.centre, strict=True)
        bound = fitted.bound + sum(float((weight * (x - np.rint(x)) ** 2).sum()) for weight, x in apart)
    if sum(2 * _REACH * level.size for level in counts) <= steps:
        counts, lines = _nearby(problem, counts)
        bound = max(bound, lines)
        # Costs are whole numbers: what is less than one above a bound is the least.
        if problem.cost(counts) - bound < _LESS_THAN_ONE:
            return counts, _OPTIMAL
        everywhere = _everywhere(problem, fitted, counts, steps)
        if everywhere is not None:
            return everywhere, _OPTIMAL
    cost = problem.cost(counts)
    if not np.isfinite(bound):
        return counts, f"sum of weighted squares {cost:,}; leaves without weight leave no bound on the least possible"
    share = max(cost - bound, 0.0) / max(bound, 1.0)
    return counts, f"sum of weighted squares {cost:,}, at most {share:.2g} of the least possible above it"


def _nearby(problem: ChainRules, counts: list[Array]) -> tuple[list[Array], float]:
    """Better counts near the last ones until none is held back by that; and the least cost on straight lines.

    A function that is convex has no other low place than its lowest: a minimum that its window does not hold back is
    one of all real numbers within the rules, so its cost is a bound for all whole ones.
    """
    while True:
        windows = [(x - _REACH, x + _REACH) for x in counts]
        real = search(problem, windows, whole=False)
        if real is None:
            return counts, -np.inf
        nearest = [np.rint(level).astype(np.int64) for level in real.levels]
        if problem.cost(nearest) - real.cost < _LESS_THAN_ONE and problem.holds(nearest):
            found = nearest
        else:
            among = search(problem, windows, whole=True)
            found = counts if among is None else [np.rint(level).astype(np.int64) for level in among.levels]
        if not any(
            bool((((x < low + 1e-6) & (x > box[0])) | ((x > high - 1e-6) & (x < box[1])))[_weighty(weight, x)].any())
            for x, (low, high), box, weight in zip(real.levels, windows, problem.boxes, problem.weights, strict=True)
        ):
            return found, real.cost - 1e-9 * abs(real.cost)
        if problem.cost(found) >= problem.cost(counts):
            return counts, -np.inf
        counts = found


def _weighty(weight: Array, counts: Floats) -> NDArray[np.bool_]:
    return np.broadcast_to(weight > 0, counts.shape)


def _everywhere(problem: ChainRules, fitted: Fit, counts: list[Array], steps: int) -> list[Array] | None:
    """The optimum, by looking wherever something better than `counts` could be. None if that is too much."""
    if not problem.counted or not np.isfinite(fitted.bound):
        return None
    cost = problem.cost(counts)
    left = max(cost - fitted.bound, 0.0) + 1e-9 * cost + 1e-6
    windows = []
    for weight, centre in zip(problem.weights, fitted.centre, strict=True):
        reach = np.sqrt(left / np.where(weight > 0, weight, 1))
        windows.append((np.ceil(centre - reach).astype(np.int64), np.floor(centre + reach).astype(np.int64)))
    if sum(int((high - low).sum()) for low, high in windows) > steps:
        return None
    found = search(problem, windows, whole=True)
    return None if found is None else [np.rint(level).astype(np.int64) for level in found.levels]


def _anywhere(problem: ChainRules, fitted: Fit) -> list[Array]:
    """Any good whole counts where lower bounds barred the simple way: a search that widens until it finds some."""
    middle = [np.rint(level).astype(np.int64) for level in fitted.levels]
    reach = 4
    while reach < 2**12:
        found = search(problem, [(x - reach, x + reach) for x in middle], whole=True)
        if found is not None:
            return [np.rint(level).astype(np.int64) for level in found.levels]
        reach *= 8
    raise InputError("rules", Phrase("bounds without a solution"), "bounds that whole numbers can meet")


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a search found: counts of all levels, whole if that was asked, and their cost on straight lines."""

    levels: list[Floats]
    cost: float


def search(problem: ChainRules, windows: Sequence[Box], *, whole: bool) -> _Found | None:
    """The best counts within `windows` and the rules; None if there are none, or the search was given up.

    SciPy's HiGHS: one variable for each leaf and cell, and one between 0 and 1 for each step that a count with a weight
    can take in its window, at the price of that step. Squares are convex, so steps are taken in order.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    tree = problem.tree
    leaves, cells = problem.targets[-1].shape
    count = leaves * cells
    prices: list[Any] = [np.zeros(count)]
    entries: list[tuple[Any, Any, Any]] = []
    low: list[Any] = []
    high: list[Any] = []
    row, column, at_start = 0, count, 0
    ancestors = np.arange(leaves)
    for level in range(tree.depth - 1, -1, -1):
        if level < tree.depth - 1:
            ancestors = tree.parents[level + 1][ancestors]
        box, window, targets = problem.boxes[level], windows[level], problem.targets[level]
        weights = np.broadcast_to(problem.weights[level], targets.shape)
        least = np.where(weights > 0, np.maximum(window[0], box[0]), box[0]).ravel()
        most = np.where(weights > 0, np.minimum(window[1], box[1]), box[1]).ravel()
        if (least > most).any():
            return None
        # A region's leaves add up to where its window starts and the steps taken from there.
        rows = row + (ancestors[:, None] * cells + np.arange(cells)).ravel()
        entries.append((rows, np.arange(count), np.ones(count)))
        lengths = np.where(weights.ravel() > 0, most - least, 0)
        owners = np.repeat(np.arange(targets.size), lengths)
        taken = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entries.append((row + owners, column + np.arange(len(owners)), -np.ones(len(owners))))
        before = least[owners] + taken - targets.ravel()[owners]
        prices.append((weights.ravel()[owners] * (2 * before + 1)).astype(float))
        low.append(least)
        high.append(np.where(weights.ravel() > 0, least, np.where(most >= NO_BOUND, np.inf, most)))
        at_start += int((weights.ravel() * (least - targets.ravel()).astype(object) ** 2).sum())
        row += targets.size
        column += len(owners)
    if cells > 1:
        first = (np.arange(leaves)[:, None] * cells + np.arange(cells - 1)).ravel()
        falls = row + np.arange(len(first))
        entries += [(falls, first, np.ones(len(first))), (falls, first + 1, -np.ones(len(first)))]
        low.append(np.zeros(len(first)))
        high.append(np.full(len(first), np.inf))
        row += len(first)
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    solved = milp(
        np.concatenate(prices),
        integrality=(np.arange(column) < count).astype(int) if whole else None,
        bounds=Bounds(0, np.where(np.arange(column) < count, np.inf, 1.0)),
        constraints=LinearConstraint(
            csr_array((values, (rows, columns)), shape=(row, column)), np.concatenate(low), np.concatenate(high)
        ),
        options={"mip_rel_gap": 0.0, "node_limit": _NODES},
    )
    if solved.status != 0:
        return None
    leaf_counts = solved.x[:count].reshape(leaves, cells)
    return _Found(tree.sums(np.rint(leaf_counts) if whole else leaf_counts), solved.fun + at_start)
