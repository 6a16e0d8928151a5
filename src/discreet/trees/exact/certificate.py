"""Whether whole numbers are the optimum of a tree: a test that does not care how they were found.

What the last person cost each region, and what the next one would, with everything below rearranged for the best:
`cheapest` is the least over its children, plus its own; `dearest` the greatest. Counts are optimal if and only if
nowhere a person can be moved from one child to another at a gain, and no root gains by one more or one less.
See docs/proofs/hierarchy-exact.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.trees.exact.forest import Forest
from discreet.trees.exact.window import NEVER

__all__ = ["faults"]

Array = NDArray[np.int64]


def faults(forest: Forest, counts: list[Array]) -> int:
    """How many regions show that whole `counts` are not allowed or not optimal: 0 if and only if they are both."""
    found = sum(
        int(((x < lower) | (x > upper)).sum())
        for x, lower, upper in zip(counts, forest.lower, forest.upper, strict=True)
    )
    cheapest, dearest = _own(forest, forest.depth - 1, counts[-1], 0, 0)
    for level in range(forest.depth - 2, -1, -1):
        heads = forest.edges(level)[:-1]
        found += int((np.add.reduceat(counts[level + 1], heads) != counts[level]).sum())
        cheapest, dearest = np.minimum.reduceat(cheapest, heads), np.maximum.reduceat(dearest, heads)
        found += int((dearest > cheapest).sum())
        cheapest, dearest = _own(forest, level, counts[level], cheapest, dearest)
    return found + int(((cheapest < 0) | (dearest > 0)).sum())


def _own(forest: Forest, level: int, x: Array, next_: Array | int, last: Array | int) -> tuple[Array, Array]:
    """The cost of the next person and of the last, given those of the children."""
    y, w, lower, upper = (part[level] for part in (forest.targets, forest.weights, forest.lower, forest.upper))
    slope, price = 2 * (x - y), forest.price(level)
    cheapest = np.where((x >= upper) | (np.abs(next_) >= NEVER), NEVER, next_ + w * (slope + 1) + price)
    dearest = np.where((x <= lower) | (np.abs(last) >= NEVER), -NEVER, last + w * (slope - 1) + price)
    return cheapest, dearest
