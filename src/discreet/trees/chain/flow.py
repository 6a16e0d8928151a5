"""From real ordered counts to whole ones: order and sums kept in every region.

Down the tree, and in each region from the largest groups to the smallest: there its parts can only gain, and what the
region gains goes to the parts where it costs least. It takes no search and stays within a few of the real counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.trees.chain.fit import Box, Fit
from discreet.trees.tree import Hierarchy

__all__ = ["descend", "shares", "whole"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]


def descend(tree: Hierarchy, fitted: Fit, weights: Floats, boxes: Sequence[Box]) -> list[Array] | None:
    """Whole counts of all levels near those fitted, root first; None where lower bounds leave this way no way on.

    `weights` are those of the leaves.
    """
    found = [whole(fitted.levels[0], boxes[0])]
    for level in range(1, tree.depth):
        last = level == tree.depth - 1
        steps = fitted.steps if last else None
        below = shares(tree, level - 1, found[-1], fitted.levels[level], boxes[level], steps, weights if last else None)
        if below is None:
            return None
        found.append(below)
    return found


def whole(counts: Floats, box: Box) -> Array:
    """Ordered real counts, rounded: that keeps their order, and so does clipping to bounds that have it."""
    nearest = np.floor(np.minimum.accumulate(counts, axis=1) + 0.5).astype(np.int64)
    return np.clip(nearest, *box)


def shares(
    tree: Hierarchy,
    level: int,
    parents: Array,
    target: Floats,
    box: Box,
    steps: Floats | None = None,
    weights: Floats | None = None,
) -> Array | None:
    """Whole counts of the children of `level`, ordered and adding up to `parents`, near `target`.

    `steps` says what a fall after each cell costs (see `Fit`), `weights` what a squared error does. None where none
    were found: never without lower bounds, for parts may always stay as they are or gain.
    """
    places, cells = tree.parents[level + 1], parents.shape[1]
    lower, upper = box
    fall = np.zeros(target.shape) if steps is None else steps
    falls, stays = _stays(target)
    spans = np.asarray(stays * (1.0 if weights is None else weights), np.float64)
    found = np.empty(target.shape, np.int64)
    now = np.zeros(len(places), np.int64)
    before = np.zeros(len(parents), np.int64)
    for cell in range(cells - 1, -1, -1):
        totals = parents[:, cell]
        least = np.maximum(now, lower[:, cell])
        if (totals == before).all() and (least == now).all():
            found[:, cell] = now
            continue
        most = upper[:, cell]
        if (least > most).any():
            return None
        start = np.where(falls[:, cell], np.floor(target[:, cell]).astype(np.int64), least)
        start = np.clip(start, least, most)
        divided = _divide(tree, level, totals, target[:, cell], start, (least, most), fall[:, cell], spans[:, cell])
        if divided is None:
            return None
        found[:, cell] = now = divided
        before = totals
    return found


def _stays(target: Floats) -> tuple[NDArray[np.bool_], Array]:
    """Where the target counts fall after a cell, and how many cells they then stay what they are, going back."""
    rows, cells = target.shape
    falls = np.empty((rows, cells), bool)
    falls[:, :-1] = target[:, :-1] - target[:, 1:] > 1e-6
    falls[:, -1] = target[:, -1] > 1e-6
    last = np.maximum.accumulate(np.where(falls, np.arange(cells), -1), axis=1)
    earlier = np.concatenate([np.full((rows, 1), -1), last[:, :-1]], axis=1)
    return falls, np.arange(cells) - earlier


def _divide(
    tree: Hierarchy, level: int, totals: Array, target: Floats, start: Array, limits: Box, fall: Floats, spans: Floats
) -> Array | None:
    """Whole numbers within `limits` that add up to `totals` in each region: `start`, changed where it costs least.

    One more in a part costs its `fall`, and the squares it adds over the cells until the part may next change.
    """
    places, starts = tree.parents[level + 1], tree.starts(level)
    counts = start
    least, most = limits
    while True:
        missing = totals - tree.add(level, counts)
        if not missing.any():
            return counts
        signs = np.sign(missing)[places]
        room = np.where(signs > 0, most - counts, np.where(signs < 0, counts - least, 0))
        able = room > 0
        candidates = tree.add(level, able.astype(np.int64))
        if ((missing != 0) & (candidates == 0)).any():
            return None
        price = signs * fall + spans * (1 - 2 * signs * (target - counts))
        order = np.lexsort((price, ~able, places))
        rank = np.empty(len(places), np.int64)
        rank[order] = np.arange(len(places)) - starts[places[order]]
        # One each to the better half of those it would go round to, then prices are looked at again; whole rounds at
        # once where there is far more to give than there are parts.
        rounds = abs(missing) // np.maximum(candidates, 1)
        half = (abs(missing) + 1) // 2
        step = np.where(rounds[places] > 1, np.minimum(rounds[places] // 2, room), rank < half[places])
        counts = counts + signs * np.where(able, step, 0)
