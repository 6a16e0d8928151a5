"""A table of every type, its codes, and what was measured of it."""

from __future__ import annotations

import numpy as np

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.marginals.counts import ArrayCounts, MergedCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Noisy
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from discreet.synth.synthetic import Synthetic

SCHEMA = Schema(
    "t",
    {
        "sex": Category(["f", "m", "x"], nullable=True),
        "works": Boolean(nullable=False),
        "age": Integer(0, 99, nullable=False),
        "size": Integer(-7, 1000, nullable=True),
        "pay": Real(0, 1000, nullable=True),
        "day": Date("2020-02-27", "2021-03-02", nullable=True),
    },
    Unit(),
)


DOMAIN = Domain.of(SCHEMA, bins={"size": 9, "pay": 9, "day": 9})  # ages by themselves


CONDITIONS = [
    "age >= 25 and sex = 'f'",
    "size > 100 or not works",
    "not (pay <= 333.3)",
    "pay < 500 and pay >= 111",
    "pay = 1000 or size = -7",
    "sex is null and age <> 40",
    "sex in ('f', 'x') and day >= '2020-06-01'",
    "not (sex = 'f' and size >= 0)",
    "day < '2020-02-28' or size in (3, 900)",
    "works and size <= 1000",
]


def condition(text: str):
    return checked(parse_condition(text), SCHEMA)


def some_codes(rows: int, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, rows) for size in DOMAIN.sizes], axis=1)
    codes[:, 2] = np.where(codes[:, 1] == 1, codes[:, 2] // 2, codes[:, 2])  # something to find
    codes[:, 4] = np.minimum(codes[:, 2] // 12, DOMAIN.sizes[4] - 1)
    return codes


# Intervals from noisy counts.


def made_of(codes, noises, bins=None, marginals=()):
    """Single columns, then marginals, measured with noise."""
    plain = ArrayCounts(DOMAIN, codes)
    coarse = plain if bins is None else MergedCounts(plain, bins)
    ones = [(place,) for place in range(len(DOMAIN))]
    measured = []
    for place, columns in enumerate([*ones, *marginals]):
        noise = noises[0] if place < len(ones) else noises[1]
        exact = (plain if place < len(ones) else coarse).marginal(columns)
        measured.append(Noisy(columns, noise.release(exact.ravel()).reshape(exact.shape), noise))
    total = float(np.mean([one.values.sum() for one in measured[: len(ones)]]))
    return Synthetic(codes, max(total, 1.0), tuple(measured), bins, len(ones))


MARGINALS = [(0, 2), (1, 2), (2, 4)]


BINS = [np.arange(size) if size < 20 else np.arange(size) // 7 for size in DOMAIN.sizes]
