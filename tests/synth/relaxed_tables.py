"""A domain of small columns and rows of it."""

from __future__ import annotations

import numpy as np

from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.marginals.domain import Domain

SIZES = (3, 4, 2, 5)


ROWS = 100


def domain(sizes=SIZES) -> Domain:
    columns = {f"c{i}": Category([f"v{j:02d}" for j in range(size)], nullable=False) for i, size in enumerate(sizes)}
    return Domain.of(Schema("t", columns))


def rows(count=2000) -> np.ndarray:
    """A table of which the second column nearly follows from the first, and the fourth from the third."""
    chance = np.random.default_rng(5)
    first, third = chance.integers(0, 3, count), chance.integers(0, 2, count)
    second = np.where(chance.random(count) < 0.9, first + 1, chance.integers(0, 4, count))
    fourth = np.where(chance.random(count) < 0.8, 4 * third, chance.integers(0, 5, count))
    return np.stack([first, second, third, fourth], axis=1)
