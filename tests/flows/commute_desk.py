"""Commuters between four places, a curator over them, and lands to draw flows on."""

from fractions import Fraction

import numpy as np
import pyarrow

import discreet
from discreet import Budget, Category, Integer, Schema, Unit
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Laplace

PLACES = ["A", "B", "C", "D"]


WHERE = {"A": (0, 0), "B": (3, 4), "C": (0, 10), "D": (30, 40)}


SIZES = dict.fromkeys(PLACES, 750)


def commuters(rows=3000, people=400, seed=3):
    chance = np.random.default_rng(seed)
    return pyarrow.table(
        {
            "who": chance.integers(0, people, rows),
            "home": chance.choice(PLACES, rows, p=[0.6, 0.2, 0.15, 0.05]),
            "work": chance.choice(PLACES, rows),
            "hour": chance.integers(0, 24, rows),
        }
    )


def curator(tmp_path, unit=None, budget=None, table=None, nullable=False):
    columns = {
        "who": Integer(0, 10**6, nullable=False),
        "home": Category(PLACES, nullable=nullable),
        "work": Category(PLACES, nullable=False),
        "hour": Integer(0, 23, nullable=False),
    }
    data = commuters() if table is None else table
    schema = Schema("jobs", columns, unit or Unit())
    return discreet.open(
        data, schema, ledger=tmp_path / "l.db", budget=budget or Budget(epsilon=10), who="t", create=True
    )


def ask(desk, **how):
    return desk.commute(**{"origin": "home", "destination": "work", "coordinates": WHERE, **how})


def truth(table):
    flows = np.zeros((4, 4), dtype=np.int64)
    for home, work in zip(table["home"].to_pylist(), table["work"].to_pylist(), strict=True):
        flows[PLACES.index(home), PLACES.index(work)] += 1
    return flows


# The modern way.


def measured(flows, epsilon):
    parts = []
    for columns, exact, share in (
        ((0, 1), flows, 0.95),
        ((0,), flows.sum(axis=1), 0.025),
        ((1,), flows.sum(axis=0), 0.025),
    ):
        noise = Laplace.for_epsilon(Fraction(epsilon) * Fraction(str(share)))
        parts.append(Noisy(columns, noise.release(exact.ravel()).reshape(exact.shape), noise))
    return parts
