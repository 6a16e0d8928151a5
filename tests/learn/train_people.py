"""A table of people, its schema and budget, and a curator over them, for the tests of models."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import numpy as np
import pyarrow
import pyarrow.parquet

from discreet import Allotment, Boolean, Budget, Category, Date, Integer, Real, Schema, Text, Unit
from discreet.data.source import source_of
from discreet.learn.encoding import Encoding
from discreet.learn.matrix import examples_of
from discreet.noise.replay import Replay

COLUMNS = {
    "age": Integer(0, 100, nullable=False),
    "sex": Category(["f", "m"], nullable=True),
    "pay": Real(0, 100_000, nullable=True),
    "works": Boolean(nullable=False),
    "since": Date("2000-01-01", "2020-12-31", nullable=False),
    "rich": Category(["no", "yes"], nullable=False),
}
SCHEMA = Schema("people", COLUMNS)
PERSONS = Schema("people", {"person": Text(), **COLUMNS}, unit=Unit("person", groups=5, rows=9))
BUDGET = Budget(
    epsilon=5,
    delta=3e-6,
    allotments=[
        Allotment("questions", "zcdp", epsilon=1, delta=1e-6),
        Allotment("models", "plan", epsilon=4, delta=2e-6),
    ],
)
# Noise that was found once, so that no test has to search for it.
FIXED = {"lot": 100, "steps": 6, "multiplier": 3, "rate": 1.0}


def table(rows=400, seed=1) -> pyarrow.Table:
    chance = np.random.default_rng(seed)
    age = chance.integers(-5, 110, rows)
    pay = chance.gamma(4, 8000, rows)
    return pyarrow.table(
        {
            "person": [f"p{place // 3}" for place in range(rows)],
            "age": age,
            "sex": [
                None if one < 0.1 else "f" if one < 0.5 else "m" if one < 0.95 else "?" for one in chance.random(rows)
            ],
            "pay": [None if one < 20_000 else float(one) for one in pay],
            "works": chance.random(rows) < 0.5,
            "since": np.datetime64("1999-06-01") + chance.integers(0, 9000, rows).astype("timedelta64[D]"),
            "rich": [None if one < 0.05 else "yes" if one < 0.5 else "no" for one in chance.random(rows)],
        }
    )


def charges(ledger, name="people"):
    return len(ledger.releases(name))


def read(rows, schema=SCHEMA, target="rich", key=b"k", condition=None):
    """The examples of a table, as training reads them."""
    with source_of(rows).open() as data:
        return examples_of(Encoding.of(schema, target), schema, data, Replay(key), condition)
