"""The most common of values that nobody listed: found, sorted by noisy counts and cut to k, at the price of all."""

from __future__ import annotations

import json

import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.discovery_plan import DiscoveryPlan
from discreet.query.key import discover
from discreet.query.top import Top
from discreet.query.top_discovery import TopDiscoveryPlan

COLUMNS = {
    "town": Text(),
    "sex": Category(["f", "m"], nullable=False),
    "pay": Real(0, 9, nullable=False),
    "count": Integer(0, 3, nullable=False),
}
PRICE = {"epsilon": 8, "delta": 1e-6}


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    towns = ["Ash"] * 200 + ["Elm"] * 600 + ["Oak"] * 400 + [None] * 900 + ["Fir"]
    rows = {"id": list(range(len(towns))), "town": towns, "sex": ["f", "m"] * 1050 + ["f"], "pay": [1.0] * 2101}
    rows["count"] = [1] * len(towns)
    unit = Unit("id", groups=1, rows=1)
    return open_curator(
        pyarrow.table(rows),
        Schema("people", COLUMNS, unit),
        ledger=tmp_path_factory.mktemp("top") / "books.db",
        budget=Budget(epsilon=1000, delta=1e-3),
        create=True,
    )


def test_the_largest_come_first_and_a_missing_value_is_none(curator):
    found = curator.table().top(discover("town"), k=2).plan(**PRICE, confidence=0.999999999).release()
    assert found.columns["town"] == ["Elm", "Oak"]
    assert found.columns["count_lower"][0] <= 600 <= found.columns["count_upper"][0]
    every = curator.table().top(discover("town"), k=10).plan(**PRICE).release()
    assert every.columns["town"] == ["Elm", "Oak", "Ash"]


def test_names_alone_may_be_asked_for_and_rows_chosen(curator):
    offer = curator.table().where("sex = 'f'").top(discover("town"), k=1, counts=False).plan(**PRICE)
    release = offer.release()
    assert (release.columns, release.outputs) == ({"town": ["Elm"]}, ())
    assert {note.kind for note in release.notes} >= {"persons"}


def test_it_costs_what_finding_all_of_them_costs(curator):
    plan = curator.table().top(discover("town"), k=2).plan(**PRICE).plan
    assert isinstance(plan, TopDiscoveryPlan)
    assert isinstance(plan.found, DiscoveryPlan)
    assert plan.cost == plan.found.cost
    fewer = curator.table().top(discover("town"), k=1).plan(**PRICE).plan
    assert fewer.cost == plan.cost
    assert fewer.digest != plan.digest
    assert "at most 2 of the values of town" in plan.explained().shape[0]


def test_json_is_read_back_and_planned(curator):
    asked = Top(discover("town"), 2).checked(curator.desk.schema)
    assert asked.to_dict()["top"] == {"key": {"column": "town", "discover": True}, "k": 2, "counts": True}
    assert Top.from_dict(asked.to_dict(), curator.desk.schema) == asked
    read = curator.question(json.dumps(asked.to_dict())).plan(**PRICE)
    assert read.plan.digest == curator.table().top(discover("town"), k=2).plan(**PRICE).plan.digest


@pytest.mark.parametrize(
    ("column", "k", "price", "field"),
    [
        ("town", 0, PRICE, "k"),
        ("town", 2, {"epsilon": 1}, "delta"),
        ("pay", 2, PRICE, "group_by"),
        ("id", 2, PRICE, "group_by"),
        ("twn", 2, PRICE, "top"),
        ("count", 2, PRICE, "top"),
    ],
)
def test_what_cannot_be_found_is_refused_by_name(curator, column, k, price, field):
    with pytest.raises(InputError) as caught:
        curator.table().top(discover(column), k=k).plan(**price)
    assert caught.value.field == field


def test_hints_lead_there(curator):
    """From a column of free text to `discover`, and from there to a delta, with which it is answered."""
    with pytest.raises(InputError, match=r'discover\("town"\) and a delta'):
        curator.table().top("town", k=2).plan(epsilon=8)
    with pytest.raises(InputError, match="`delta` must be given, such as 1e-7"):
        curator.table().top(discover("town"), k=2).plan(epsilon=8)
    assert curator.table().top(discover("town"), k=2).plan(epsilon=8, delta=1e-7).plan
