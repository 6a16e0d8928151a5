"""What a method publishes: whole numbers that add up, each with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.trees.tree import Hierarchy

__all__ = ["Ends", "Estimate"]

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The ends of intervals for every count of every level, and for every region's total over all cells."""

    lower: tuple[Array, ...]
    upper: tuple[Array, ...]
    total_lower: tuple[Array, ...]
    total_upper: tuple[Array, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Counts of every level, root first, one row a region and one column a cell; parents are sums of their children.

    `lower` and `upper` hold the true count of every single region with the stated confidence (not simultaneously);
    `total_lower` and `total_upper` do so for its total over all cells. `average` are shorter intervals, of which the
    stated share holds on a level as a whole, and fewer among regions that are unlike the others.
    """

    tree: Hierarchy
    counts: tuple[Array, ...]
    lower: tuple[Array, ...] | None = None
    upper: tuple[Array, ...] | None = None
    total_lower: tuple[Array, ...] | None = None
    total_upper: tuple[Array, ...] | None = None
    notes: tuple[str, ...] = ()
    average: Ends | None = None

    @classmethod
    def of_leaves(cls, tree: Hierarchy, leaves: Array, notes: tuple[str, ...] = ()) -> Estimate:
        """From the leaves alone: everything above is their sum."""
        return cls(tree, tuple(tree.sums(leaves)), notes=notes)

    @property
    def totals(self) -> tuple[Array, ...]:
        """The regions' totals over all cells."""
        return tuple(level.sum(axis=1) for level in self.counts)
