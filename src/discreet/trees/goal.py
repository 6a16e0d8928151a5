"""Shares of the price that make a stated error least, from the public shape of the tree alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.errors import InputError
from discreet.trees.tree import Hierarchy

__all__ = ["Goal", "Shape", "Shares", "accurate"]

Reals = NDArray[np.float64]
Shares = dict[tuple[int, bool], Fraction]
"""Which part of the price goes to (level, whether its totals or its counts)."""

_GRID = 1000  # shares are multiples of a thousandth
_LEAST = Fraction(1, 500)  # what would get less is not asked for


@dataclass(frozen=True, slots=True)
class Goal:
    """What accurate shares make as small as can be: the weighted sum over levels of their mean error.

    `error` is "variance" (that of the best linear estimate) or "relative" (its deviation as a part of the region's
    size, which is taken to be its number of leaves). `of` is "cells", "totals" or "both"; a total's variance counts as
    that of the mean cell. Levels that are not in `weights` count 1.
    """

    error: str = "variance"
    of: str = "both"
    weights: Mapping[str, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.error not in ("variance", "relative"):
            raise InputError("goal.error", self.error, among=("variance", "relative"))
        if self.of not in ("cells", "totals", "both"):
            raise InputError("goal.of", self.of, among=("cells", "totals", "both"))

    def of_levels(self, tree: Hierarchy) -> list[float]:
        """How much the error of each level counts."""
        weights = [1.0] * tree.depth
        for name, weight in self.weights.items():
            read = as_written(weight, f"goal.weights.{name}")
            if read < 0:
                raise InputError(f"goal.weights.{name}", weight, "zero or more")
            weights[tree.level(name, "goal.weights")] = float(read)
        if not any(weights):
            raise InputError("goal.weights", dict(self.weights), "above zero for some level")
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A tree as its variances see it: siblings that are leaves are alike, so one stands for all of a parent's.

    `numbers` says for how many regions each entry of a level stands, `sizes` how many leaves each of them has.
    """

    tree: Hierarchy
    numbers: tuple[Reals, ...]
    sizes: tuple[Reals, ...]

    @classmethod
    def of(cls, tree: Hierarchy) -> Shape:
        """The shape of a tree."""
        many = np.ones(1) if tree.depth == 1 else tree.children(tree.depth - 2).astype(float)
        under = [np.asarray(level, float) for level in tree.sums(np.ones(tree.leaves))[:-1]]
        numbers = [np.ones(size) for size in tree.sizes[:-1]]
        return cls(tree, (*numbers, many), (*under, np.ones(len(many))))

    def variances(self, noise: list[float]) -> list[Reals]:
        """Of the best linear estimate of every region, given that of each level's noise (infinite: not asked)."""
        tree, many = self.tree, self.numbers[-1]
        if tree.depth == 1:
            return [np.array([noise[0]])]
        up = [_combined(many * noise[-1], noise[-2])]
        for level in range(tree.depth - 3, -1, -1):
            up.insert(0, _combined(tree.add(level, up[0]), noise[level]))
        found = [up[0]]
        for level in range(tree.depth - 2):
            place, sums = tree.parents[level + 1], tree.add(level, up[level + 1])
            found.append(up[level + 1] - (up[level + 1] / sums[place]) ** 2 * (sums - found[level])[place])
        return [*found, noise[-1] - (many * noise[-1] - found[-1]) / many**2]

    def cells_and_totals(
        self, cells: int, kind: str, shares: Mapping[tuple[int, bool], float | Fraction]
    ) -> tuple[list[Reals], list[Reals]]:
        """Variances of a cell and of a total at a price of one, for each entry of each level."""
        levels = range(self.tree.depth)
        own = [_variance(kind, float(shares.get((level, False), 0))) for level in levels]
        direct = [_variance(kind, float(shares.get((level, True), 0))) for level in levels]
        joint = [1 / max(1 / (cells * a) + 1 / b, 1e-300) for a, b in zip(own, direct, strict=True)]
        sums = self.variances([j if j < 1e290 else np.inf for j in joint])
        alone = self.variances(own)
        return [a * (1 - 1 / cells) + t / cells**2 for a, t in zip(alone, sums, strict=True)], sums


def accurate(tree: Hierarchy, cells: int, kind: str, goal: Goal, *, with_totals: bool) -> Shares:
    """The shares for which the goal's error is least, to a thousandth.

    Asking one thing twice with half of epsilon each is worse than asking it once, so there are several local optima:
    the best of those found from a few starts is taken. Levels are those of the collapsed tree.
    """
    from scipy.optimize import minimize

    shape, weights = Shape.of(tree.collapsed()), [0.0] * len(set(tree.distinct))
    for level, weight in zip(tree.distinct, goal.of_levels(tree), strict=True):
        weights[sorted(set(tree.distinct)).index(level)] += weight
    depth = shape.tree.depth
    asked = [(level, totals) for totals in ((False, True) if with_totals else (False,)) for level in range(depth)]

    def error(logs: Reals) -> float:
        parts = np.exp(logs - logs.max())
        parts /= parts.sum()
        of_cells, of_totals = shape.cells_and_totals(cells, kind, dict(zip(asked, parts, strict=True)))
        whole = 0.0
        for weight, number, size, cell, total in zip(
            weights, shape.numbers, shape.sizes, of_cells, of_totals, strict=True
        ):
            for name, variance in (("cells", cell), ("totals", total / cells)):
                if goal.of in (name, "both"):
                    each = variance if goal.error == "variance" else np.sqrt(variance) / size
                    whole += weight * float(np.average(each, weights=number))
        return float(np.log(whole))

    reach = [(-12, 12)] * len(asked)
    found = [minimize(error, start, method="L-BFGS-B", bounds=reach) for start in _starts(asked, depth - 1)]
    best = min(found, key=lambda result: float(result.fun))
    parts = np.exp(best.x - best.x.max())
    shares = {key: Fraction(int(part * _GRID), _GRID) for key, part in zip(asked, parts / parts.sum(), strict=True)}
    leaves = (depth - 1, False)
    shares = {key: share for key, share in shares.items() if share >= _LEAST or key == leaves}
    shares[leaves] += 1 - sum(shares.values())
    return shares


def _starts(asked: list[tuple[int, bool]], last: int) -> list[Reals]:
    """All alike; mostly counts; mostly totals; mostly the leaves; each as logarithms."""
    alike = np.zeros(len(asked))
    totals = np.array([totals for _, totals in asked])
    leaves = np.array([level == last for level, _ in asked])
    starts = [alike, np.where(leaves, 0.0, -3.0)]
    if totals.any():
        starts += [np.where(totals, -3.0, 0.0), np.where(totals, 0.0, -3.0)]
    return starts


def _variance(kind: str, share: float) -> float:
    if share <= 0:
        return float("inf")
    return 2 / share**2 if kind == "laplace" else 1 / (2 * share)


def _combined(below: Reals, own: float) -> Reals:
    return below if np.isinf(own) else below * own / (below + own)
