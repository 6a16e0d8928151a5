"""A table of made-up patients, and the columns that an outsider may know of them."""

from __future__ import annotations

import numpy as np

from discreet.risk.records import Records

QUASI = ["age", "zip", "sex"]


def patients(rows=4000, seed=1):
    draw = np.random.default_rng(seed)
    return Records.read(
        {
            "person": np.arange(rows),
            "age": draw.integers(0, 90, rows),
            "zip": [f"{value:05d}" for value in draw.integers(2000, 2400, rows)],
            "sex": draw.choice(["F", "M"], rows),
            "dx": draw.choice(["flu", "cold", "gout"], rows, p=[0.8, 0.15, 0.05]),
        }
    )
