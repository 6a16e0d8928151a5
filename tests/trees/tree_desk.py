"""People in counties of two states, and whether a release of them adds up."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.parquet

from discreet import Category, Integer, Schema

STATES = ["01", "02"]


COUNTIES = [f"{state}{county:03d}" for state in STATES for county in range(4)]


SEXES = ["f", "m"]


SCHEMA = Schema(
    "people",
    {
        "state": Category(STATES, nullable=False),
        "county": Category(COUNTIES, nullable=False),
        "sex": Category(SEXES, nullable=False),
        "age": Integer(0, 99, nullable=False),
    },
)


def table(rows: int = 4000, seed: int = 1) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    county = rng.choice(COUNTIES, rows, p=np.array([40, 20, 10, 5, 3, 2, 1, 0]) / 81)
    return pyarrow.table(
        {
            "state": [code[:2] for code in county],
            "county": county.tolist(),
            "sex": rng.choice(SEXES, rows).tolist(),
            "age": rng.integers(0, 99, rows).tolist(),
        }
    )


def add_up(release) -> None:
    tree, counts = release.tree, release.estimate.counts
    for level in range(tree.depth - 1):
        assert (tree.add(level, counts[level + 1]) == counts[level]).all()
    assert all((level >= 0).all() and level.dtype == np.int64 for level in counts)
