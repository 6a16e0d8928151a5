"""People with jobs, as a table and its schema."""

from __future__ import annotations

import numpy as np
import pyarrow
import pyarrow.parquet

from discreet import Boolean, Category, Date, Integer, Real, Schema

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 99, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "works": Boolean(nullable=False),
        "pay": Real(0, 100_000, nullable=True),
        "since": Date("2000-01-01", "2020-12-31", nullable=False),
    },
)


def table(rows: int = 3000, seed: int = 1) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    works = (age > 18) & (age < 66)
    return pyarrow.table(
        {
            "person": [f"p{place}" for place in range(rows)],
            "age": age,
            "sex": [None if one < 0.1 else "f" if one < 0.6 else "m" for one in rng.random(rows)],
            "works": works,
            "pay": np.where(works, rng.gamma(4, 8000, rows), 0).round(2),
            "since": np.datetime64("2000-01-01") + rng.integers(0, 7000, rows).astype("timedelta64[D]"),
        }
    )
