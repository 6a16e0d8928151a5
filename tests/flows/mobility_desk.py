"""Trips between four places, and a curator over them."""

import numpy as np
import pyarrow

import discreet
from discreet import Budget, Category, Integer, Schema, Unit, bins

PLACES = ["A", "B", "C", "D"]


HALVES = {"A": "north", "B": "north", "C": "south", "D": "south"}


WINDOW = bins("hour", [0, 12, 24])


def trips(rows=3000, people=400, seed=3):
    chance = np.random.default_rng(seed)
    return pyarrow.table(
        {
            "who": chance.integers(0, people, rows),
            "start": chance.choice(PLACES, rows, p=[0.6, 0.2, 0.15, 0.05]),
            "end": chance.choice(PLACES, rows),
            "hour": chance.integers(0, 24, rows),
        }
    )


def schema_for(unit=None):
    columns = {
        "who": Integer(0, 10**6, nullable=False),
        "start": Category(PLACES, nullable=False),
        "end": Category(PLACES, nullable=False),
        "hour": Integer(0, 23, nullable=False),
    }
    return Schema("trips", columns, unit or Unit())


def curator(tmp_path, unit=None, table=None, budget=None):
    data = trips() if table is None else table
    return discreet.open(
        data, schema_for(unit), ledger=tmp_path / "l.db", budget=budget or Budget(epsilon=10), who="t", create=True
    )


def ask(desk, **how):
    return desk.mobility(**{"origin": "start", "destination": "end", "window": WINDOW, "zones": HALVES, **how})
