"""The best whole ordered counts near given ones, by integer programming: for problems that are small enough.

On two levels the problem is a flow in a network, so the linear optimum is whole and what is best nearby is best of all.
On three or more it need not be (docs/proofs/hierarchy-chain.md), and the search has to cover every place where a better
solution could still be: the bound of the real fit says how far away that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.hierarchy.chain_fit import Box, Fit
from discreet.hierarchy.chain_flow import descend
from discreet.hierarchy.chain_rules import ChainRules
from discreet.hierarchy.rules import NO_BOUND

__all__ = ["SMALL", "best", "search"]

Array = NDArray[np.int64]

SMALL = 4_000
"""The most steps of one that a complete search looks at on three levels and more; ten times as many on two."""

_NODES = 2_000
"""Where a search branches more often than this, it is given up."""


def best(problem: ChainRules, fitted: Fit) -> tuple[list[Array], str]:
    """The best whole counts found, and a note that says how good they are."""
    squares = problem.squares()
    counts = descend(problem.tree, fitted, squares.weights[-1], problem.boxes)
    if counts is None:
        counts = _anywhere(problem, fitted)
    improved = _nearby(problem, counts) if problem.tree.depth <= 2 else _everywhere(problem, fitted, counts)
    if improved is not None:
        return improved, "optimal: no whole numbers within the rules have a smaller sum of squares"
    cost = squares.cost(counts)
    if not problem.counted:
        return (
            counts,
            f"sum of weighted squares {cost:.10g}; leaves without weight leave no bound on the least possible",
        )
    # Any counts x cost at least bound + weight * (x - centre)^2, and whole x are some way off the centre.
    apart = zip(squares.weights, fitted.centre, strict=True)
    bound = fitted.bound + sum(float((weight * (x - np.rint(x)) ** 2).sum()) for weight, x in apart)
    share = max(cost - bound, 0.0) / max(bound, 1.0)
    return counts, f"sum of weighted squares {cost:.10g}, at most {share:.2g} of the least possible above it"


def _nearby(problem: ChainRules, counts: list[Array]) -> list[Array] | None:
    """On two levels: better counts within two of the last ones until none is held back by that. None if too large."""
    size = sum(4 * level.size for level in counts)
    if size > 10 * SMALL:
        return None
    while True:
        windows = [(x - 2, x + 2) for x in counts]
        found = search(problem, windows)
        if found is None:
            return None
        counts = found
        held = any(
            bool((((x <= low) & (x > box[0])) | ((x >= high) & (x < box[1])))[np.broadcast_to(w > 0, x.shape)].any())
            for x, (low, high), box, w in zip(counts, windows, problem.boxes, problem.weights, strict=True)
        )
        if not held:
            return counts


def _everywhere(problem: ChainRules, fitted: Fit, counts: list[Array]) -> list[Array] | None:
    """The optimum, by looking wherever something better than `counts` could be. None if that is too much."""
    squares = problem.squares()
    cost = squares.cost(counts)
    if not problem.counted or not np.isfinite(fitted.bound):
        return None
    left = max(cost - fitted.bound, 0.0) + 1e-9 * abs(cost) + 1e-6
    windows = []
    for weight, centre in zip(squares.weights, fitted.centre, strict=True):
        reach = np.sqrt(left / np.where(weight > 0, weight, 1.0))
        windows.append((np.ceil(centre - reach).astype(np.int64), np.floor(centre + reach).astype(np.int64)))
    steps = sum(int((high - low).sum()) for low, high in windows)
    return search(problem, windows) if steps <= SMALL else None


def _anywhere(problem: ChainRules, fitted: Fit) -> list[Array]:
    """Any good whole counts where lower bounds barred the simple way: a search that widens until it finds some."""
    reach = 4
    while True:
        windows = [(np.rint(x).astype(np.int64) - reach, np.rint(x).astype(np.int64) + reach) for x in fitted.levels]
        found = search(problem, windows)
        if found is not None:
            return found
        if reach > 2**12:
            raise InputError("rules", "no whole numbers found", "bounds that whole numbers can meet")
        reach *= 8


def search(problem: ChainRules, windows: Sequence[Box]) -> list[Array] | None:
    """The best whole counts within `windows` and the rules; None if there are none, or the search was given up.

    SciPy's HiGHS: one variable for each leaf and cell, and one between 0 and 1 for each step that a count with a weight
    can take in its window, at the price of that step. Squares are convex, so steps are taken in order. Prices are whole
    numbers: no better solution hides within the solver's tolerance.
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
    row, column = 0, count
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
        integrality=(np.arange(column) < count).astype(int),
        bounds=Bounds(0, np.where(np.arange(column) < count, np.inf, 1.0)),
        constraints=LinearConstraint(
            csr_array((values, (rows, columns)), shape=(row, column)), np.concatenate(low), np.concatenate(high)
        ),
        options={"mip_rel_gap": 0.0, "node_limit": _NODES},
    )
    if solved.status != 0:
        return None
    return list(tree.sums(np.rint(solved.x[:count]).astype(np.int64).reshape(leaves, cells)))
