"""A table whose bounds nobody knows, plans that search for them, and neighbouring tables."""

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
from discreet.query.aggregate import count, total, variance
from discreet.query.composite_plan import plan_question
from discreet.query.price import Price
from discreet.query.question import Query
from jobs import run_plan

PURE = Allotment("questions", "pure", epsilon=10_000)
ZCDP = Allotment("questions", "zcdp", rho=5)
COLUMNS = {
    "g": Category(["a", "b", "c"], nullable=False),
    "pay": Real(0, 10**9, nullable=True),
    "debt": Real(-1000, 1000, nullable=True),
    "age": Integer(-(10**6), 10**6, nullable=False),
}
UNITS = [Unit(), Unit(neighbours="replace"), Unit("p", groups=2, rows=3), Unit("p", "replace", groups=2, rows=2)]


def schema_of(unit=UNITS[0], **columns):
    return Schema("people", {**COLUMNS, **columns}, unit)


def plan(outputs, schema=None, allotment=PURE, keys=(), **price):
    query = Query().group_by(*keys).agg(**outputs)
    return plan_question(query, schema or schema_of(), allotment, Price.read(**price))


def table_of(rows):
    kinds = {"p": pyarrow.int64(), "g": pyarrow.string(), "pay": pyarrow.float64(), "debt": pyarrow.float64()}
    kinds["age"] = pyarrow.int64()
    return pyarrow.table({name: pyarrow.array([r.get(name) for r in rows], kind) for name, kind in kinds.items()})


def run(made, rows):
    with source_of(table_of(rows)).open() as connection:
        return run_plan(made, connection, SystemBits())["columns"]


SMALL = {"pay": Real(0, 1000, nullable=True), "debt": Real(-10, 10, nullable=True)}
SUMS = {"s": total("pay", "private"), "v": variance("debt", "private"), "n": count()}


def neighbours(chance):
    def rows(person, size):
        pool = [0.0, 1.0, 3.0, 900.0, None]
        return [
            {
                "p": person,
                "g": chance.choice("abc"),
                "pay": chance.choice(pool),
                "debt": chance.choice([-9.0, 0.5, 7.0]),
            }
            for _ in range(size)
        ]

    others = [row for person in range(2, 5) for row in rows(person, 3)]
    return others, others + rows(1, 8)


def opened(tmp_path):
    """A curator of this table, in which one person has more rows, and higher pay, than all others."""
    chance = random.Random(11)
    rows = [{"p": i % 3000, "g": "ab"[i % 2], "pay": chance.lognormvariate(5, 0.5), "age": 40} for i in range(6000)]
    rows += [{"p": 5, "g": "a", "pay": 9e8, "age": 40}] * 500  # one person, with more than their part
    schema = schema_of(Unit("p", groups=1, rows=2))
    budget = Budget(epsilon=10_000)
    return discreet.open(table_of(rows), schema, ledger=tmp_path / "l.db", budget=budget, who="test", create=True)
