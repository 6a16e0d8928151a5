"""A table of pay in three groups, and plans that run on it: what tests of quantiles share."""

from __future__ import annotations

import random

import pyarrow

import discreet
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.ledger.budget import Allotment, Budget
from discreet.noise.bits import SystemBits
from jobs import run_plan

PURE = Allotment("questions", "pure", epsilon=10)
ZCDP = Allotment("questions", "zcdp", rho=5)
PEOPLE = {
    "g": Category(["a", "b", "c"], nullable=False),
    "pay": Real(0, 1000, nullable=True),
    "age": Integer(0, 120, nullable=False),
}
ROWS_SCHEMA = Schema("people", PEOPLE)
SURE = 1 - 1e-13  # a confidence at which an interval may be asserted outright


def table_of(rows):
    kinds = {"p": pyarrow.int64(), "g": pyarrow.string(), "pay": pyarrow.float64()}
    return pyarrow.table({name: pyarrow.array([r[name] for r in rows], kind) for name, kind in kinds.items()})


def run(made, rows):
    with source_of(table_of(rows)).open() as connection:
        return run_plan(made, connection, SystemBits())["columns"]


def people(values, group="a"):
    return [{"p": i, "g": group, "pay": value} for i, value in enumerate(values)]


def opened(tmp_path):
    """A curator of six thousand rows of three thousand persons."""
    chance = random.Random(11)
    rows = [{"p": i % 3000, "g": "ab"[i % 2], "pay": chance.lognormvariate(5, 0.5)} for i in range(6000)]
    columns = {
        "g": Category(["a", "b", "c"], nullable=False),
        "pay": Real(0, 10**6, nullable=True),
        "p": Integer(0, 9, nullable=False),
    }
    schema = Schema("people", columns, Unit("p", groups=1, rows=2))
    return discreet.open(
        table_of(rows), schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=30), who="test", create=True
    )
