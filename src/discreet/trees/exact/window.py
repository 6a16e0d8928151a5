"""The best whole numbers near a guess: dynamic programming over the tree, each region within a window.

Within its window a region's least cost is convex, so it is known by its marginal costs, one for each step up, which
never fall. Those of a parent are those of its children, sorted, plus its own. 64-bit integers throughout: exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.trees.exact.forest import BLOCK, Forest, blocks

__all__ = ["NEVER", "optimum_within"]

Array = NDArray[np.int64]

NEVER = 2**62
"""The marginal cost of a step that is not allowed; above every one that is."""


def optimum_within(forest: Forest, first: list[Array], last: list[Array]) -> list[Array] | None:
    """The optimum with every x from `first` to `last`, all levels, roots first. None if windows do not fit together."""
    first, last = list(first), list(last)
    steps: list[Array | None] = [None] * forest.depth
    before: list[Array] = [np.zeros((0, 0), np.int64)] * forest.depth
    for level in range(forest.depth - 2, -1, -1):
        edges = forest.edges(level)[:-1]
        low, high = (np.add.reduceat(ends[level + 1], edges) for ends in (first, last))
        first[level], last[level] = np.maximum(first[level], low), np.minimum(last[level], high)
        if (first[level] > last[level]).any():
            return None
        before[level] = _merge(forest, level, first, last, low, high, steps[level + 1])
        own, rest = _own(forest, level, first[level], last[level], slice(None)), before[level][:, 1:]
        steps[level] = np.where((own == NEVER) | (rest == NEVER), NEVER, own + rest)  # which may have wrapped
    x = first[0] + (_below(forest, 0, first[0], last[0], steps[0], slice(None)) < 0).sum(axis=1)
    found = [x]
    for level in range(forest.depth - 1):
        last_step = np.take_along_axis(before[level], (x - first[level])[:, None], axis=1)[:, 0]
        x = _hand_down(forest, level, x, last_step, first, last, steps[level + 1])
        found.append(x)
    return found


def _own(forest: Forest, level: int, first: Array, last: Array, part: slice) -> Array:
    """The regions' own marginal costs, w((x+1-y)^2 - (x-y)^2), one column a step from `first`; NEVER from `last`."""
    y, w, first, last = forest.targets[level][part], forest.weights[level][part], first[part], last[part]
    width = int((last - first).max()) if len(first) else 0
    x = first[:, None] + np.arange(width)
    costs = 2 * (x - y[:, None]) + 1
    costs *= w[:, None]
    if forest.prices is not None:
        costs += forest.price(level, part)[:, None]
    costs[x >= last[:, None]] = NEVER
    return costs


def _below(forest: Forest, level: int, first: Array, last: Array, steps: Array | None, part: slice) -> Array:
    """Marginal costs of the regions of a level with all that is below: kept for most, quickly made for leaves."""
    return _own(forest, level, first, last, part) if steps is None else steps[part]


def _merge(
    forest: Forest, level: int, first: list[Array], last: list[Array], low: Array, high: Array, steps: Array | None
) -> Array:
    """The children's steps in the order of their cost, as far as the parent's window needs them.

    Column 0 is the step that leads to the first x of the window, column j the one that leads from its x number j - 1
    to the next. NEVER where there is none; -NEVER if none is needed to get to the first.
    """
    edges = forest.edges(level)
    width = int((last[level] - first[level]).max()) + 1
    found = np.empty((forest.size(level), width), np.int64)
    window = max(int((last[level + 1] - first[level + 1]).max()), 1)
    for begin, end in blocks(edges, max(BLOCK // window, 1)):
        part = slice(int(edges[begin]), int(edges[end]))
        costs = _below(forest, level + 1, first[level + 1], last[level + 1], steps, part)
        allowed = costs < NEVER
        owners = np.repeat(forest.parents[level + 1][part] - begin, allowed.sum(axis=1))
        ranked = _ranked(costs[allowed], owners, end - begin)
        count = high[begin:end] - low[begin:end]
        position = (first[level] - low)[begin:end, None] + np.arange(-1, width - 1)
        place = (np.cumsum(count) - count)[:, None] + position
        here = np.append(ranked, NEVER)[np.clip(place, 0, len(ranked))]
        here[position < 0] = -NEVER
        here[position >= count[:, None]] = NEVER
        found[begin:end] = here
    return found


def _ranked(costs: Array, owners: Array, count: int) -> Array:
    """Costs by owner, then ascending. Both are packed into one integer where they fit: sorts several times faster."""
    if not len(costs):
        return costs
    low = int(costs.min())
    bits = (int(costs.max()) - low).bit_length()
    if bits + count.bit_length() > 62:
        return costs[np.lexsort((costs, owners))]
    keys = (owners << bits) + (costs - low)
    keys.sort()
    keys &= (1 << bits) - 1
    keys += low
    return keys


def _hand_down(
    forest: Forest, level: int, x: Array, dearest: Array, first: list[Array], last: list[Array], steps: Array | None
) -> Array:
    """The children's x, given the parents': the cheapest steps are taken, up to `dearest`; ties go to who is first."""
    edges = forest.edges(level)
    found = np.empty(forest.size(level + 1), np.int64)
    window = max(int((last[level + 1] - first[level + 1]).max()), 1)
    for begin, end in blocks(edges, max(BLOCK // window, 1)):
        part = slice(int(edges[begin]), int(edges[end]))
        heads, owners = edges[begin:end] - part.start, forest.parents[level + 1][part] - begin
        costs = _below(forest, level + 1, first[level + 1], last[level + 1], steps, part)
        limit = dearest[begin:end][owners][:, None]
        taken = first[level + 1][part] + (costs < limit).sum(axis=1)
        equal = (costs == limit).sum(axis=1)
        left = (x[begin:end] - np.add.reduceat(taken, heads))[owners]
        ahead = np.cumsum(equal) - equal
        ahead -= ahead[heads][owners]
        found[part] = taken + np.clip(left - ahead, 0, equal)
    return found
