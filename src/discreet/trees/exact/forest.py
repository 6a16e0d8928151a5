"""A tree for every cell, laid flat: what the exact solver works on. Arrays only, no names.

Regions are numbered within their cell, cells one after the other, so that children of one parent stand together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.rules import Bounds
from discreet.trees.tree import Hierarchy

__all__ = ["BLOCK", "Forest", "blocks", "segments"]

Array = NDArray[np.int64]

BLOCK = 1 << 15
"""How many items are worked on at a time: sorting is faster in the cache, and memory stays small."""

_FREE = np.zeros(1, np.int64)
_ROOM = 2**60  # marginal costs stay below it, so that no sum or comparison of them wraps
_MARGIN = 2**10  # how far from the counts checked any window reaches, and more


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Minimise sum of weights * (x - targets)^2 over whole x in [lower, upper], each parent the sum of its children.

    Where there are `prices`, prices * x is added; they are whole numbers for anything but a guess.

    One array for every level, roots first. `parents[l]` are places in level l - 1, ascending; every region above the
    last level has a child. Bounds are tightened: a region's lower bound is no less than its children's together, its
    upper bound no more. `upper` is `NO_BOUND` where there is none. A fixed total over all roots is one more level on
    top, a region of weight 0 whose two bounds are that total.
    """

    parents: tuple[Array, ...]
    targets: tuple[Array, ...]
    weights: tuple[Array, ...]
    lower: tuple[Array, ...]
    upper: tuple[Array, ...]
    prices: tuple[NDArray[Any], ...] | None = None
    _edges: dict[int, Array] = field(default_factory=dict, repr=False)

    @classmethod
    def plant(
        cls,
        tree: Hierarchy,
        targets: tuple[Array | None, ...],
        weights: tuple[Array, ...],
        bounds: Bounds,
    ) -> Forest:
        """From arrays of (regions, cells); a level without targets does not count. The root's public total is kept."""
        cells = bounds.lower[0].shape[1]
        offsets = np.arange(cells, dtype=np.int64)[:, None]
        nothing = np.zeros((), np.int64)
        parents, y, w, lower, upper = [], [], [], [], []
        total = bounds.totals[0]
        if total is not None and total[0] >= 0:
            parents.append(np.zeros(0, np.int64))
            y.append(np.zeros(1, np.int64))
            w.append(np.zeros(1, np.int64))
            lower.append(total[:1])
            upper.append(total[:1])
        for level in range(tree.depth):
            shape = bounds.lower[level].shape
            if level:
                parents.append((tree.parents[level][None, :] + offsets * tree.sizes[level - 1]).reshape(-1))
            else:
                parents.append(np.zeros(cells if parents else 0, np.int64))
            asked = targets[level]
            for found, values in (
                (y, np.broadcast_to(nothing, shape) if asked is None else asked),
                (w, np.broadcast_to(nothing, shape) if asked is None else weights[level]),
                (lower, bounds.lower[level]),
                (upper, bounds.upper[level]),
            ):
                found.append(values.T.reshape(-1))
        return cls(tuple(parents), tuple(y), tuple(w), tuple(lower), tuple(upper))

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return len(self.targets)

    def price(self, level: int, part: slice = slice(None)) -> NDArray[Any]:
        """Prices of some regions of a level, or a single zero that stands for them."""
        return _FREE if self.prices is None else self.prices[level][part]

    def size(self, level: int) -> int:
        """How many regions a level has."""
        return len(self.targets[level])

    def edges(self, level: int) -> Array:
        """Where, on the level below, each region's children begin; and, last, where they end."""
        if level not in self._edges:
            self._edges[level] = segments(self.parents[level + 1], self.size(level))
        return self._edges[level]

    def check(self, counts: Sequence[NDArray[Any]]) -> None:
        """`InputError` where numbers are so large that costs near these counts might not fit into 64 bits."""
        reach = 0
        for level, (x, y, w) in enumerate(zip(counts, self.targets, self.weights, strict=True)):
            far = max(abs(int(part.max())) + abs(int(part.min())) for part in (x, y))
            reach += (max(int(w.max()), 1)) * 4 * (far + _MARGIN) + int(np.abs(self.price(level)).max())
        if reach >= _ROOM:
            raise InputError(
                "weights", Phrase(f"costs up to {reach:.1e}"), f"such that costs stay below {_ROOM:.1e}, to be exact"
            )


def segments(owners: Array, count: int) -> Array:
    """Where each of `count` owners begins in an ascending list of owners; and, last, where the list ends."""
    found = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=found[1:])
    return found


def blocks(edges: Array, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Runs of regions, first and one past the last, with about `size` items together; at least one region each."""
    first, count = 0, len(edges) - 1
    while first < count:
        last = int(np.searchsorted(edges, edges[first] + size, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last
