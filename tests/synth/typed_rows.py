"""A schema of every type, and codes of it."""

from __future__ import annotations

import numpy as np

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.marginals.domain import Domain

SCHEMA = Schema(
    "t",
    {
        "sex": Category(["f", "m", "=1+1"], nullable=True),
        "works": Boolean(nullable=False),
        "flag": Boolean(nullable=True),
        "age": Integer(0, 99, nullable=False),
        "size": Integer(-7, 1000, nullable=True),
        "exact": Integer(0, 640, nullable=False),
        "pay": Real(0, 150_000, nullable=True),
        "odd": Real("0.1", "0.7", nullable=False),
        "far": Real(2**40, 2**40 + 3, nullable=False),
        "day": Date("2020-02-27", "2021-03-02", nullable=True),
        "near": Date("2020-01-01", "2020-01-03", nullable=False),
    },
    Unit(),
)


DOMAIN = Domain.of(SCHEMA)


def some_codes(rows: int = 4000, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, rows) for size in DOMAIN.sizes], axis=1)
