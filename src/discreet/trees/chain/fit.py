"""The least squares fit of ordered counts over a whole tree, in real numbers, with a bound on what is left to gain.

Two things are easy by themselves: fitting a tree without order (two passes, cell by cell) and ordering the cells of one
region (pooling). They are made to agree by the method of multipliers: each in turn is asked for numbers near the
other's, and what they disagree by is added to a price. The prices are multipliers of the order, so at any moment they
also give a lower bound of the optimum: the fit stops when it is within its tolerance of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.trees.chain.isotonic import ordered
from discreet.trees.rules import NO_BOUND
from discreet.trees.tree import Hierarchy

__all__ = ["Fit", "Squares", "fit"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]
Box = tuple[Array, Array]

_ROUNDS = 1_000
_CHECK = 10
"""The bound is looked at every so many rounds."""

_AGREED = 0.05
"""How far they may be apart in any count where more than the order has to be met: far less than rounding moves it."""


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Levels `top` to `top + len(targets) - 1` of a tree, and the sum of weight * (count - target)^2 over them.

    `pinned` are counts that the regions of the top level have in any case. Weights may be of shape (regions, 1), and
    those of the lowest level are above zero.
    """

    tree: Hierarchy
    top: int
    weights: Sequence[Floats]
    targets: Sequence[Floats]
    pinned: Floats | None = None

    def sums(self, leaves: Floats) -> list[Floats]:
        """The counts of all levels for counts of the lowest one."""
        found = [leaves]
        for level in range(self.top + len(self.targets) - 2, self.top - 1, -1):
            found.append(self.tree.add(level, found[-1]))
        return found[::-1]

    def cost(self, levels: Sequence[Any]) -> float:
        """The weighted sum of squares."""
        terms = zip(self.weights, self.targets, levels, strict=True)
        return float(sum((weight * (found - target) ** 2).sum() for weight, target, found in terms))

    def subtrees(self) -> tuple[list[Floats], list[Floats]]:
        """For each region the best count by what is known within it, and that estimate's variance."""
        means, variances = [np.asarray(self.targets[-1])], [1 / self.weights[-1]]
        for place in range(len(self.targets) - 2, -1, -1):
            level = self.top + place
            mean, variance = self.tree.add(level, means[-1]), self.tree.add(level, variances[-1])
            share = 1 / (1 + self.weights[place] * variance)
            means.append(self.targets[place] + share * (mean - self.targets[place]))
            variances.append(variance * share)
        return means[::-1], variances[::-1]

    def solve(self) -> list[Floats]:
        """The counts with the least cost: no order, no bounds. Two passes, up and down."""
        means, variances = self.subtrees()
        found = [means[0] if self.pinned is None else self.pinned]
        for place in range(1, len(self.targets)):
            level = self.top + place - 1
            missing = (found[-1] - self.tree.add(level, means[place])) / self.tree.add(level, variances[place])
            found.append(means[place] + variances[place] * missing[self.tree.parents[level + 1]])
        return found

    def priced(self, prices: Floats) -> tuple[list[Floats], float]:
        """The counts, without order or bounds, with the least of cost + prices * counts of the lowest level; and it."""
        moved = [*self.targets[:-1], self.targets[-1] - prices / (2 * self.weights[-1])]
        found = Squares(self.tree, self.top, self.weights, moved, self.pinned).solve()
        return found, self.cost(found) + float((prices * found[-1]).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Ordered real counts of all levels, and what no counts within the rules can do better.

    For any counts x within the rules, cost(x) >= bound + sum of weight * (x - centre)^2.

    `steps` has for each region of the lowest level and each cell what it costs, to first order, to let the count fall
    by one after that cell: zero where it falls already.
    """

    levels: list[Floats]
    bound: float
    centre: list[Floats]
    steps: Floats
    rounds: int


@dataclass(slots=True, eq=False)
class _Side:
    """One set that the counts of a level have to lie in, with its own copy of them and its price for disagreement."""

    place: int
    strength: Floats
    copy: Floats
    price: Floats  # in units of strength
    box: tuple[Floats, Floats] | None  # None: the ordered counts

    def project(self, values: Floats) -> Floats:
        return ordered(values) if self.box is None else np.clip(values, *self.box)

    def update(self, found: Floats) -> None:
        """Take in what the tree's fit says, a little overstated, which is known to save rounds."""
        estimate = 1.6 * found - 0.6 * self.copy + self.price
        self.copy = self.project(estimate)
        self.price = estimate - self.copy

    @property
    def force(self) -> Floats:
        return 2 * self.strength * self.price

    def most(self) -> float:
        """The most that force * count can be in the set: what it takes off the bound."""
        if self.box is None:
            return 0.0  # the set is a cone and the price lies in its polar
        force = self.force
        return float((np.where(force > 0, self.box[1], self.box[0]) * force)[force != 0].sum())


def fit(problem: Squares, boxes: Sequence[Box | None], tolerance: float) -> Fit:
    """Ordered counts within `boxes` whose cost is at most `tolerance` above the least, or the best after many rounds.

    `boxes` gives the bounds of each level, None where order, sums and zero are all that bounds it.
    """
    sides = _sides(problem, boxes, problem.solve())
    alone = len(sides) == 1 and problem.pinned is None
    bound, centre, rounds = -np.inf, problem.targets, 0
    for rounds in range(1, _ROUNDS + 1):
        found = _beside(problem, sides).solve()
        for side in sides:
            side.update(found[side.place])
        if rounds % _CHECK:
            continue
        about, value = problem.priced(_forces(problem, sides))
        value -= sum(side.most() for side in sides)
        if value > bound:
            bound, centre = value, about
        if problem.cost(problem.sums(sides[0].copy)) - bound <= tolerance and (alone or _agreed(sides, found)):
            break
    # A price in the polar of the ordered counts is a sum of "a later count above an earlier one"; these are its terms.
    steps = np.maximum(-np.cumsum(sides[0].force, axis=1), 0.0)
    return Fit(problem.sums(sides[0].copy), bound, list(centre), steps, rounds)


def _sides(problem: Squares, boxes: Sequence[Box | None], start: list[Floats]) -> list[_Side]:
    """The sets to agree with: ordered counts on the lowest level, and every level's box."""
    last = len(problem.targets) - 1
    _, variances = problem.subtrees()
    # Between the softest and the stiffest direction of the problem: their geometric mean converges fastest.
    # Pinned counts make the stiffest infinitely stiff; ten times the weights was best on the taxi data.
    pull = np.sqrt(problem.weights[-1] * _stiffest(problem)) if problem.pinned is None else 10 * problem.weights[-1]
    strengths = [*(1 / variance for variance in variances[:-1]), pull]
    sides = []
    parts: list[tuple[int, Box | None]] = [(last, None)]
    parts += [(place, box) for place, box in enumerate(boxes) if box is not None]
    for place, box in parts:
        limits = None if box is None else (box[0].astype(float), np.where(box[1] >= NO_BOUND, np.inf, box[1]))
        side = _Side(place, strengths[place], start[place], np.zeros_like(start[place]), limits)
        side.copy = side.project(start[place])
        sides.append(side)
    return sides


def _stiffest(problem: Squares) -> Floats:
    """For each region of the lowest level, how strongly the cost holds it when its whole branch moves together."""
    total = np.asarray(problem.weights[0], float)
    for place in range(1, len(problem.weights)):
        level = problem.top + place
        parents = problem.tree.parents[level]
        among = problem.tree.children(level - 1)[parents][:, None]
        total = total[parents] * among + problem.weights[place]
    return total


def _beside(problem: Squares, sides: Sequence[_Side]) -> Squares:
    """The problem with what the sides want beside what was measured."""
    weights, targets = list(problem.weights), list(problem.targets)
    for side in sides:
        both = weights[side.place] + side.strength
        target = side.copy - side.price
        targets[side.place] = (weights[side.place] * targets[side.place] + side.strength * target) / both
        weights[side.place] = both
    return Squares(problem.tree, problem.top, weights, targets, problem.pinned)


def _forces(problem: Squares, sides: Sequence[_Side]) -> Floats:
    """All prices, as prices of the lowest level: what a region pays, each of its parts pays."""
    total = np.zeros_like(problem.targets[0])
    for place in range(len(problem.targets)):
        if place:
            total = total[problem.tree.parents[problem.top + place]]
        for side in sides:
            if side.place == place:
                total = total + side.force
    return total


def _agreed(sides: Sequence[_Side], found: list[Floats]) -> bool:
    """Whether every set holds what was found, nearly: order alone is met by its own copy, more than one set is not."""
    return all(float(abs(found[side.place] - side.copy).max()) < _AGREED for side in sides)
