"""What a method for ordered counts works with: targets, weights, and bounds that order and sums have tightened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase, kind_of
from discreet.trees.chain.fit import Box, Squares
from discreet.trees.chain.isotonic import order_bounds
from discreet.trees.exact.solve import whole_weights
from discreet.trees.measurement import Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.tree import Hierarchy

__all__ = ["ChainRules", "bounds_in_order"]

Array = NDArray[np.int64]

_FAINT = 1e-6
"""What stands for a weight of zero on the leaves when real numbers are fitted: they have to be somewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainRules:
    """Noisy ordered counts of every level, how much each counts, and within which bounds they have to stay."""

    tree: Hierarchy
    targets: tuple[Array, ...]
    weights: tuple[Array, ...]
    boxes: tuple[Box, ...]

    @classmethod
    def read(cls, measured: Measurement, rules: Rules | None) -> ChainRules:
        """From what was measured and what is known. A public total is the number of groups: the first cell.

        `InputError` where the rules cannot be met, or where they say what these methods cannot use.
        """
        if not isinstance(measured, Measurement):
            raise InputError("measured", kind_of(measured), "a Measurement")
        if not measured.chain:
            hint = (
                "Count groups of at least s members (at_least) before the noise, and mark the result with chain=True."
            )
            raise InputError(
                "measured", Phrase("counts that are not a chain"), "counts that never rise from cell to cell", hint
            )
        tree, cells, rules = measured.tree, measured.cells, rules or Rules()
        for name, level in zip(tree.names, measured.levels, strict=True):
            if level.totals is not None:
                hint = "The number of groups is the first cell and needs no query of its own."
                raise InputError(
                    f"totals of {name}", Phrase("noisy totals"), "left out for groups of at least s members", hint
                )
        weights = rules.level_weights(tree, cells, whole_weights(measured))
        if not any(weight.any() for weight in weights):
            raise InputError("rules.weights", Phrase("zero everywhere"), "above zero somewhere")
        empty = [np.zeros((size, cells), np.int64) for size in tree.sizes]
        targets = tuple(
            zero if level.counts is None else level.counts for level, zero in zip(measured.levels, empty, strict=True)
        )
        used = tuple(
            0 * weight if level.counts is None else weight
            for level, weight in zip(measured.levels, weights, strict=True)
        )
        return cls(tree, targets, tuple(_narrow(weight) for weight in used), bounds_in_order(tree, cells, rules))

    def squares(self) -> Squares:
        """The sum of squares to make small."""
        weights = [weight.astype(float) for weight in self.weights]
        faint = _FAINT * max(float(weight.max()) for weight in weights)
        weights[-1] = np.maximum(weights[-1], faint)
        return Squares(self.tree, 0, weights, [target.astype(float) for target in self.targets])

    def sides(self) -> list[Box | None]:
        """The bounds of each level; None where order, sums and zero say as much."""
        found: list[Box | None] = []
        for level, (lower, upper) in enumerate(self.boxes):
            if level < self.tree.depth - 1:
                below = self.boxes[level + 1]
                least, most = self.tree.add(level, below[0]), _most(self.tree, level, below[1])
            else:
                least, most = np.zeros_like(lower), np.full_like(upper, NO_BOUND)
            said = (lower > least).any() or (upper < most).any()
            found.append((lower, upper) if said else None)
        return found

    def cost(self, counts: Sequence[Array]) -> int:
        """The sum of weighted squares of whole counts, exactly."""
        terms = zip(self.weights, counts, self.targets, strict=True)
        return sum(int((weight * (x - target).astype(object) ** 2).sum()) for weight, x, target in terms)

    def holds(self, counts: Sequence[Array]) -> bool:
        """Whether counts add up, never rise from cell to cell and stay within the bounds."""
        inside = all(((low <= x) & (x <= high)).all() for x, (low, high) in zip(counts, self.boxes, strict=True))
        sums = all((self.tree.add(level, counts[level + 1]) == counts[level]).all() for level in range(len(counts) - 1))
        return bool(inside and sums and (np.diff(counts[-1], axis=1) <= 0).all())

    @property
    def counted(self) -> bool:
        """Whether every leaf counts in the sum of squares: without that no bound of it is known."""
        return bool((self.weights[-1] > 0).all())


def _narrow(weights: Array) -> Array:
    """One weight for all cells of a region, as one column: most are, and it saves most of the work."""
    return weights[:, :1] if (weights == weights[:, :1]).all() else weights


def _most(tree: Hierarchy, level: int, upper: Array) -> Array:
    """What upper bounds of parts add up to, and no bound where that is beyond all bounds."""
    beyond = tree.add(level, upper.astype(float)) >= NO_BOUND
    return np.where(beyond, NO_BOUND, tree.add(level, np.where(beyond[tree.parents[level + 1]], 0, upper)))


def bounds_in_order(tree: Hierarchy, cells: int, rules: Rules) -> tuple[Box, ...]:
    """Bounds with the order and the public numbers of groups taken in, leaves first, then what they add up to.

    `InputError` if no counts that never rise from cell to cell can meet them.
    """
    given = Rules(rules.lower, rules.upper).bounds(tree, cells)
    groups = Rules(totals=rules.totals).bounds(tree, 1).totals  # as of one cell: that they fit together is checked
    boxes: list[Box] = []
    for level in range(tree.depth - 1, -1, -1):
        lower, upper = given.lower[level].copy(), given.upper[level].copy()
        public = groups[level]
        if public is not None:
            known = public >= 0
            lower[known, 0] = np.maximum(lower[known, 0], public[known])
            upper[known, 0] = np.minimum(upper[known, 0], public[known])
        lower, upper = order_bounds(lower, upper)
        if boxes:
            lower = np.maximum(lower, tree.add(level, boxes[-1][0]))
            upper = np.minimum(upper, _most(tree, level, boxes[-1][1]))
        wrong = lower > upper
        if wrong.any():
            region, cell = (int(place) for place in np.argwhere(wrong)[0])
            raise InputError(
                f"rules of {tree.name(level, region)}",
                Phrase(
                    f"at least {int(lower[region, cell]):,} and at most {int(upper[region, cell]):,} in cell {cell}"
                ),
                "bounds that counts can meet which never rise from cell to cell",
                "Bounds of other cells, public numbers of groups and the regions it consists of are counted in.",
            )
        boxes.append((lower, upper))
    return tuple(boxes[::-1])
