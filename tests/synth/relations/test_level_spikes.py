"""Values that many rows share keep a code of their own, in parents and in child rows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Integer, Real, Schema, Unit
from discreet.synth.relations.level_spikes import SearchParts
from discreet.synth.relations.levels import read_levels

SCHEMA = Schema(
    "orders",
    {
        "who": Integer(0, 10**6),
        "income": Integer(0, 200_000, nullable=False),
        "kind": Category(["a", "b"], nullable=False),
        "fee": Real(0, 500, nullable=False, step="0.01"),
        "at": Integer(0, 1000, nullable=False),
    },
    Unit("who", groups=3, rows=1),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(2)
    rows = []
    for person in range(3000):
        income = 12_345 if rng.random() < 0.3 else int(rng.integers(0, 200_000))
        at = int(rng.integers(0, 300))
        for _ in range(int(rng.integers(1, 4))):
            fee = 19.99 if rng.random() < 0.4 else round(float(rng.uniform(0, 500)), 2)
            rows.append((person, income, "ab"[int(rng.integers(0, 2))], fee, at))
            at += int(rng.integers(1, 30))
    data = pyarrow.table(dict(zip(SCHEMA.columns, zip(*rows, strict=True), strict=True)))
    folder = tmp_path_factory.mktemp("orders")
    curator = discreet.open(data, SCHEMA, ledger=folder / "b.db", budget=Budget(100), who="ann", create=True)
    return curator.relate(["income"], order="at", limit=3).plan(epsilon=50).release(release="orders"), curator


def test_a_value_of_many_parents_comes_back_as_it_is(made):
    incomes = Counter(made[0].parents["income"].to_pylist())
    assert abs(incomes[12_345] / len(made[0]) - 0.3) < 0.03


def test_a_value_of_many_child_rows_comes_back_as_it_is(made):
    fees = made[0].children["fee"].to_pylist()
    assert abs(Counter(fees)[19.99] / len(fees) - 0.4) < 0.03
    assert all(round(fee, 2) == fee for fee in fees)


def test_more_rows_have_the_same_values(made):
    more = made[1].publish("orders", rows=500)
    fees = more.children["fee"].to_pylist()
    assert abs(Counter(fees)[19.99] / len(fees) - 0.4) < 0.1


def test_nothing_is_paid_for_a_search_where_there_is_nothing_to_look_for():
    levels = read_levels(SCHEMA, ["kind"], ["fee"], None, 2)
    assert SearchParts.of(levels, Fraction(1), Fraction(2)) == SearchParts(Fraction(0), Fraction(1, 10), Fraction(0))
    levels = read_levels(SCHEMA, ["income"], ["kind"], "at", 2)
    assert SearchParts.of(levels, Fraction(1), Fraction(2)) == SearchParts(Fraction(1, 20), Fraction(0), Fraction(1, 5))
