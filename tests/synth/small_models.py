"""Models of four columns with known marginals, and noisy measurements of them."""

import numpy as np

from discreet.synth.descent import Target
from discreet.synth.junction import Passing, junction
from discreet.synth.model import Model

SIZES = (3, 2, 4, 3, 2, 1)


CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]


LOOP = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 4)]


def away(columns):
    return tuple(column for column in range(len(SIZES)) if column not in columns)


def shape(columns, sizes=SIZES):
    return tuple(sizes[column] for column in columns)


def along(columns, sizes=SIZES):
    return tuple(size if column in columns else 1 for column, size in enumerate(sizes))


def model_of(marginals, seed=0, strength=1.0):
    """A model of random potentials, and its table of all cells."""
    rng = np.random.default_rng(seed)
    base = [rng.normal(size=size) for size in SIZES]
    potentials = [strength * rng.normal(size=shape(columns)) for columns in marginals]
    passing = Passing(SIZES, junction(SIZES, marginals), marginals, base)
    logs = sum(one.reshape(along((column,))) for column, one in enumerate(base))
    logs = logs + sum(one.reshape(along(columns)) for columns, one in zip(marginals, potentials, strict=True))
    table = np.exp(logs)
    return Model(passing, potentials, 1000.0), passing, potentials, table


def measured(marginals, sigma, seed=1, total=5000):
    """A table of strong dependence, its marginals with noise of that size, and the table."""
    rng = np.random.default_rng(seed)
    *_, table = model_of(marginals, seed)
    table = total * table / table.sum()
    sets = [*((column,) for column in range(len(SIZES))), *marginals]
    noisy = [
        Target(columns, table.sum(axis=away(columns)) + sigma * rng.normal(size=shape(columns)), np.array(sigma**2))
        for columns in sets
    ]
    return table, noisy
