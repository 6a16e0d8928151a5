"""Trees that are drawn before any row is looked at: tests of declared columns at random, the same wherever they grow.

A test sends a row left or right: it compares a number with a threshold, or two numbers with each other, or asks whether
a category is in a random half of its codes. Numbers are scaled to [-1, 1] by their bounds. Comparing two of them cuts
most tables in more equal parts than a threshold does, so it is what happens where there are many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.learn.estimators.columns import Columns, Floats
from discreet.noise.bits import words
from discreet.noise.replay import Replay

__all__ = ["RandomTrees", "TreeShape", "draw_trees"]

Integers = NDArray[np.int64]

_APART = 0.4  # two scaled numbers are compared after one of them is moved by at most so much


@dataclass(frozen=True, slots=True)
class TreeShape:
    """How many trees there are and how deep they grow; all public, and the bits they are drawn from follow from it."""

    trees: int
    depth: int
    numbers: int
    sizes: tuple[int, ...]
    """How many codes each category column has."""
    seed: int

    @property
    def leaves(self) -> int:
        """Of one tree."""
        return int(2**self.depth)


@dataclass(frozen=True, slots=True, eq=False)
class RandomTrees:
    """Tests at the nodes of every tree: node 1 is the root, those below node i are 2i and 2i + 1."""

    shape: TreeShape
    first: Integers
    """(trees, nodes): the column that is tested, numbers first."""
    second: Integers
    """The number it is compared with, or -1."""
    threshold: Floats
    start: Integers
    """Where the codes of a category test stand in `right`."""
    right: NDArray[np.bool_]
    """For each code, and for what is no code, whether it goes right."""

    def leaves(self, features: Floats, columns: Columns) -> Integers:
        """(rows, trees): the leaf each row falls in. Each follows from that row alone."""
        scaled = columns.box.scaled(features[:, list(columns.numbers)])
        codes = [columns.codes(features, place) for place in range(len(columns.sizes))]
        known = [np.where(code < 0, size, code) for code, size in zip(codes, columns.sizes, strict=True)]
        table = np.column_stack([scaled, *known, np.zeros(len(features))])  # the last column is zero: place -1
        many, rows = self.shape.numbers, np.arange(len(features))
        found = np.empty((len(features), self.shape.trees), dtype=np.int64)
        for tree in range(self.shape.trees):
            node = np.ones(len(features), dtype=np.int64)
            for _ in range(self.shape.depth):
                column = self.first[tree, node]
                value = table[rows, column]
                beyond = value - table[rows, self.second[tree, node]] >= self.threshold[tree, node]
                if self.shape.sizes:
                    category = column >= many
                    code = np.where(category, value, 0).astype(np.int64)
                    beyond = np.where(category, self.right[self.start[tree, node] + code], beyond)
                node = 2 * node + beyond
            found[:, tree] = node - self.shape.leaves
        return found


def draw_trees(shape: TreeShape) -> RandomTrees:
    """From public bits that follow from the shape: equal settings grow equal trees."""
    chance = Replay(repr(shape).encode())
    size = (shape.trees, shape.leaves)
    columns = shape.numbers + len(shape.sizes)
    first = (_uniform(chance, size) * columns).astype(np.int64)
    second = np.full(size, -1, dtype=np.int64)
    if shape.numbers > 1:
        # Two numbers of p are compared with probability 1 - 2/p: where there are few, each has a meaning of its own.
        other = (_uniform(chance, size) * (shape.numbers - 1)).astype(np.int64)
        paired = (_uniform(chance, size) < 1 - 2 / shape.numbers) & (first < shape.numbers)
        second = np.where(paired, other + (other >= first), second)
    height = _uniform(chance, size)
    start, right = _halves(first, shape, chance)
    return RandomTrees(shape, first, second, _thresholds(first, second, height, shape), start, right)


def _thresholds(first: Integers, second: Integers, height: Floats, shape: TreeShape) -> Floats:
    """Of a number alone: even within what the tests above leave of its bounds."""
    found = _APART * (2 * height - 1)
    lower = np.full((shape.trees, 2 * shape.leaves, shape.numbers), -1.0)
    upper = np.full_like(lower, 1.0)
    every = np.arange(shape.trees)
    for node in range(1, shape.leaves):
        for side in (2 * node, 2 * node + 1):
            lower[:, side], upper[:, side] = lower[:, node], upper[:, node]
        alone = (second[:, node] < 0) & (first[:, node] < shape.numbers)
        tree, column = every[alone], first[alone, node]
        low, high = lower[tree, node, column], upper[tree, node, column]
        cut = low + (high - low) * height[alone, node]
        found[tree, node] = upper[tree, 2 * node, column] = lower[tree, 2 * node + 1, column] = cut
    return found


def _halves(first: Integers, shape: TreeShape, chance: Bits) -> tuple[Integers, NDArray[np.bool_]]:
    """For each test of a category, a random half of its codes; what is no code counts as one more."""
    start, parts, end = np.zeros(first.shape, dtype=np.int64), [np.zeros(1, dtype=bool)], 1
    for tree, node in zip(*np.nonzero(first >= shape.numbers), strict=True):
        size = shape.sizes[first[tree, node] - shape.numbers] + 1
        order = np.argsort(words(chance, size), kind="stable")
        start[tree, node], end = end, end + size
        parts.append(order < size // 2)
    return start, np.concatenate(parts)


def _uniform(chance: Bits, size: tuple[int, int]) -> Floats:
    """Numbers in [0, 1)."""
    return np.asarray((words(chance, size[0] * size[1]) >> np.uint64(11)) * 2.0**-53).reshape(size)
