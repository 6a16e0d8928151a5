"""Blocks of which most are empty, measured: what no average over blocks speaks for."""

import numpy as np

from discreet.trees.intervals import with_each
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

SIZE = 4000


def sparse():
    """Blocks of which four in five are empty and a few are large: what no average over blocks speaks for."""
    random = np.random.default_rng(8)
    columns = {"county": [f"{one // 400:02}" for one in range(SIZE)], "block": [f"{one:06}" for one in range(SIZE)]}
    people = random.choice([0, 5, 40, 300], SIZE, p=[0.8, 0.12, 0.05, 0.03])
    return Hierarchy.from_columns(columns), random.poisson(people[:, None] * [0.7, 0.3]).astype(np.int64)


TREE, LEAVES = sparse()


def measured(noise, seed):
    blank = Measurement(TREE, tuple(Level(np.zeros((size, 2), np.int64), noise) for size in TREE.sizes))
    return remeasure(blank, LEAVES, Replay(f"draw {seed}".encode()))


def of_regions(estimate, seen):
    return with_each(estimate, seen, Rules(), 0.95)
