"""Regions of very different sizes, and measurements of them without answers yet."""

import numpy as np
from sparse_trees import asked as blank

from discreet.trees.tree import Hierarchy

CELLS = 4


def sparse(seed=1, size=3000):
    """A few kinds of people, most regions nearly empty, some large, some cells rare everywhere."""
    random = np.random.default_rng(seed)
    columns = {
        "state": [f"{one // 600:02}" for one in range(size)],
        "county": [f"{one // 40:04}" for one in range(size)],
        "block": [f"{one:06}" for one in range(size)],
    }
    people = random.gamma(0.6, 60, size) * (random.random(size) < 0.7)
    mix = random.dirichlet([6, 2, 0.6, 0.05], size)
    return Hierarchy.from_columns(columns), random.poisson(people[:, None] * mix).astype(np.int64)


TREE, LEAVES = sparse()


def asked(noise, totals=None, tree=TREE, cells=CELLS):
    return blank(tree, cells, noise, totals)
