"""What a method publishes: whole numbers that add up, each with an interval."""

from __future__ import annotations

from collections.abc import Iterable
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

    @classmethod
    def of_levels(cls, levels: Iterable[tuple[Array, Array, Array, Array]]) -> Ends:
        """From the four ends of every level, root first."""
        lower, upper, total_lower, total_upper = zip(*levels, strict=True)
        return cls(lower, upper, total_lower, total_upper)

    def half_width(self, level: int) -> float:
        """Half the mean width of the intervals of a level's counts."""
        return float((self.upper[level] - self.lower[level]).mean()) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Counts of every level, root first, one row a region and one column a cell; parents are sums of their children.

    `each` are intervals that hold the true count of every single region with the stated confidence (not
    simultaneously), whatever its size. `typical` are shorter: of the true counts of about the same size, the stated
    share lies in theirs.
    """

    tree: Hierarchy
    counts: tuple[Array, ...]
    each: Ends | None = None
    typical: Ends | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of_leaves(cls, tree: Hierarchy, leaves: Array, notes: tuple[str, ...] = ()) -> Estimate:
        """From the leaves alone: everything above is their sum."""
        return cls(tree, tuple(tree.sums(leaves)), notes=notes)

    @property
    def totals(self) -> tuple[Array, ...]:
        """The regions' totals over all cells."""
        return tuple(level.sum(axis=1) for level in self.counts)
