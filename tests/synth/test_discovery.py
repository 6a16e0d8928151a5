"""Values of text that nobody listed: found where enough units share them, at the stated price, and on the record."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema, Unit
from discreet.data.column import Text
from discreet.errors import InputError
from discreet.mechanisms import PartitionSelection
from discreet.synth import discovery as room
from discreet.synth.discovery import SHARE, find_values, found_column, searched_column, with_found

SCHEMA = Schema("t", {"zip": Text(), "age": Integer(0, 59, nullable=False), "sex": Category(["f", "m"])})
ROWS = 2000


def table(rows: int = ROWS) -> pyarrow.Table:
    chance = np.random.default_rng(4)
    place = chance.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])
    zips = [f"z{one}" for one in place]
    zips[0], zips[1], zips[2] = "only me", None, "a\tb"
    age = place * 15 + chance.integers(0, 15, rows)
    return pyarrow.table({"zip": zips, "age": age, "sex": ["f", "m"] * (rows // 2)})


@pytest.fixture
def curator(tmp_path):
    budget = Budget(1000, delta=1e-4)
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "t.db", budget=budget, who="ann", create=True)


def test_values_that_many_share_are_found_and_depend_on_other_columns(curator):
    offer = curator.synthesize(discover=["zip"]).plan(rho=1, delta=1e-6)
    made = offer.release(release="a")
    frame = made.to_pandas()
    assert set(frame.zip.dropna()) == {"z0", "z1", "z2", "z3"}
    assert frame[frame.zip == "z3"].age.mean() > 45 > 10 > frame[frame.zip == "z0"].age.mean() - 5
    assert made.to_csv() == curator.release("a").to_csv()


def test_the_price_is_that_of_both_and_no_more(curator):
    plan = curator.synthesize(discover=["zip"]).plan(rho=1, delta="1e-6").plan
    assert plan.discovery == SHARE
    assert plan.blank().price + plan.search + plan.discovery == plan.price
    assert plan.charge.amount <= 1
    assert plan.charge.amount > Fraction(999, 1000)
    assert plan.charge.delta == Fraction(1, 10**6)
    pure = curator.synthesize(discover=["zip"]).plan(epsilon=1, delta="1e-6").plan
    without = curator.synthesize(columns=["age", "sex"]).plan(epsilon=1).plan
    assert pure.charge.amount <= without.charge.amount * Fraction(1001, 1000)
    assert "partition selection" in plan.mechanism


def test_several_columns_share_price_and_delta(tmp_path):
    schema = Schema("t", {"a": Text(), "b": Text()})
    rows = pyarrow.table({"a": ["x", "y"] * 500, "b": ["u"] * 1000})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(99, delta=1e-4), create=True)
    plan = curator.synthesize(discover=["a", "b"]).plan(rho=2, delta="1e-6").plan
    assert [searched_column(one) for one in plan.searches] == ["a", "b"]
    assert {one.selection.delta for one in plan.searches} == {Fraction(1, 2 * 10**6)}
    assert plan.charge.delta == Fraction(1, 10**6)
    assert plan.charge.amount <= 2


def shown_alone(curator, runs: int) -> int:
    """In how many runs the value of a single row comes out."""
    found = 0
    for _ in range(runs):
        made = curator.synthesize("independent", columns=["zip"], discover=["zip"]).plan(rho="0.5", delta="1e-6")
        found += "only me" in made.release().domain.attributes[0].labels
    return found


def test_the_value_of_one_row_does_not_come_out(curator):
    assert shown_alone(curator, 5) == 0


def test_a_selection_that_keeps_all_values_is_caught(curator, monkeypatch):
    monkeypatch.setattr(PartitionSelection, "select", lambda self, counts, *, bits: np.ones(len(counts), dtype=bool))
    assert shown_alone(curator, 1) == 1


def test_a_plan_says_how_many_must_share_a_value(curator):
    offer = curator.synthesize(discover=["zip"]).plan(rho=1, delta=1e-6)
    sure = offer.plan.searches[0].selection.certain_at
    assert f"each that {sure:,} have" in str(offer)
    assert "Rarer ones are missing" in str(offer)
    assert "declared value of zip" not in str(offer)
    dearer = curator.synthesize(discover=["zip"]).plan(rho=10, delta=1e-6)
    assert dearer.plan.searches[0].selection.certain_at < sure


def test_where_nothing_is_found_all_values_are_missing(tmp_path):
    rows = pyarrow.table({"zip": [f"z{one}" for one in range(60)], "age": [7] * 60, "sex": ["f"] * 60})
    curator = discreet.open(rows, SCHEMA, ledger=tmp_path / "t.db", budget=Budget(99, delta=1e-3), create=True)
    made = curator.synthesize(discover=["zip"]).plan(rho=1, delta=1e-6).release()
    assert len(made) > 40
    assert made.to_arrow().column("zip").null_count == len(made)


def test_persons_share_values_and_not_rows(tmp_path):
    """A value that one person has in a hundred rows is that of one person."""
    schema = Schema("t", {"who": Integer(0, 10**6), "zip": Text()}, unit=Unit("who", groups=2, rows=100))
    rows = pyarrow.table({"who": [*range(400), *([400] * 100)], "zip": [*(["z"] * 400), *(["mine"] * 100)]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "t.db", budget=Budget(999, delta=1e-3), create=True)
    plan = curator.synthesize("independent", discover=["zip"]).plan(rho=5, delta=1e-6).plan
    assert plan.searches[0].selection.keys == 2
    made = curator.synthesize("independent", discover=["zip"]).plan(rho=5, delta=1e-6).release()
    assert made.domain.attributes[0].labels == ("z", None)


@pytest.mark.parametrize(
    ("fields", "terms", "message"),
    [
        ({"discover": ["zip"]}, {"rho": 1}, "`delta` must be given"),
        ({"columns": ["age"]}, {"rho": 1, "delta": 1e-6}, "no values are discovered"),
        ({"discover": ["age"]}, {"rho": 1}, "a column of text"),
        ({"discover": ["zip", "zip"]}, {"rho": 1}, "each column once"),
        ({"discover": ["zip"], "columns": ["age"]}, {"rho": 1}, "a column that is made"),
        ({}, {"rho": 1}, "have those that enough units share found"),
        ({"discover": ["zip"], "impossible": ["zip = 'z1'"]}, {"rho": 1}, "`impossible` must be about columns"),
        ({"discover": ["nowhere"]}, {"rho": 1}, "nowhere"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_spent(curator, fields, terms, message):
    with pytest.raises(InputError, match=message):
        curator.synthesize(**fields).plan(**terms)


def test_an_allotment_without_a_delta_is_refused(tmp_path):
    budget = Budget(epsilon=10, allotments=[Allotment("a", "pure", epsilon=10)])
    curator = discreet.open(table(), SCHEMA, ledger=tmp_path / "t.db", budget=budget, create=True)
    with pytest.raises(InputError, match="Use a budget with a delta"):
        curator.synthesize(discover=["zip"]).plan(epsilon=1, delta=1e-6)


def test_of_many_values_some_have_a_code(curator, monkeypatch):
    monkeypatch.setattr(room, "MOST", 2)
    made = curator.synthesize(discover=["zip"]).plan(rho=1, delta=1e-6).release()
    labels = made.domain.attributes[0].labels
    assert len(labels) == 3
    assert list(labels[:2]) == sorted(labels[:2])


def test_the_codes_of_a_column_are_those_found():
    domain = discreet.marginals.Domain.of(SCHEMA, ["zip", "age"], discover=["zip"])
    assert domain.attributes[0].unknown
    found = with_found(domain, {"zip": ["b", "c"]})
    assert found.attributes[0].labels == ("b", "c", None)
    assert found.attributes[1] is domain.attributes[1]
    assert found_column("zip", SCHEMA.columns["zip"], {"zip": ["b"]}) == Category(["b"])
    assert found_column("age", SCHEMA.columns["age"], {"zip": ["b"]}) is SCHEMA.columns["age"]
    assert find_values((), None, None) == {}


def test_conditions_on_other_columns_hold_beside_discovered_ones(curator):
    known = ["age < 20 and sex = 'm'"]
    made = curator.synthesize(discover=["zip"], impossible=known).plan(rho=1, delta=1e-6).release(release="b")
    frame = made.to_pandas()
    assert not ((frame.age < 20) & (frame.sex == "m")).any()
    assert frame.zip.notna().any()
    assert curator.release("b").to_csv() == made.to_csv()
