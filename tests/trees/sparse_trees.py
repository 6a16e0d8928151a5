"""Trees with hardly anyone in them, and a method whose bias climbs."""

import numpy as np

from discreet.trees.estimate import Estimate
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy


def asked(tree, cells, noise, totals=None):
    """Questions without answers yet."""
    return Measurement(
        tree,
        tuple(
            Level(
                np.zeros((size, cells), np.int64),
                noise,
                None if totals is None else np.zeros(size, np.int64),
                totals,
            )
            for size in tree.sizes
        ),
    )


def sparse(seed):
    """Many regions, hardly anyone in them."""
    random = np.random.default_rng(seed)
    columns = {"region": [f"{one // 30:03}" for one in range(1200)], "part": [f"{one:05}" for one in range(1200)]}
    tree = Hierarchy.from_columns(columns)
    return tree, random.poisson(random.gamma(0.05, 20, (1200, 4))).astype(np.int64)


def clipped(measured, rules=None):
    """The mutant: leaves clipped at zero, everything above their sum. Its bias climbs."""
    return Estimate.of_leaves(measured.tree, np.maximum(measured.levels[-1].counts, 0))
