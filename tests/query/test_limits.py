"""Limits of a question instead of the schema's: how much of each person counts, never who is protected."""

from __future__ import annotations

import json

import pytest
from question_schema import SCHEMA

from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import count, mean, people, total
from discreet.query.batch import plan_batch
from discreet.query.key import bins, discover, key
from discreet.query.limits import PersonLimits
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.question_ask import plan_any, read_query
from discreet.query.stream import plan_stream
from discreet.query.top import Top
from worlds import ALLOTMENTS

PRICE = Price.read(rho=1)
WIDE = Schema(SCHEMA.name, SCHEMA.stored, Unit("id", groups=5, rows=7))
ASKED = {
    "sums": Query().group_by("county").agg(n=count(), p=people(), t=total("pay"), m=mean("age")),
    "quantiles": Query().group_by("county").agg(m=median("age")),
    "both": Query().group_by("county").agg(n=count(), m=median("age")),
    "private bounds": Query().group_by("county").agg(t=total("pay", bounds="private")),
    "discovered keys": Query().group_by(discover("zip code")).agg(n=count()),
    "top": Top(key("county"), 1),
}


def planned(asked, schema):
    return plan_any(asked, schema, ALLOTMENTS["rho"], PRICE, "1e-6" if getattr(asked, "discovered", ()) else None)


@pytest.mark.parametrize("name", ASKED)
def test_a_limited_question_is_planned_as_under_a_schema_of_these_limits(name):
    asked = ASKED[name]
    limited, other = planned(asked.limits(groups=5, rows=7), SCHEMA), planned(asked, WIDE)
    assert str(limited.unit) == str(SCHEMA.unit)
    assert limited.schema == other.schema
    assert limited.cost == other.cost
    assert limited.expected() == other.expected()
    assert limited.explained().notes == other.explained().notes
    assert limited.digest not in (other.digest, planned(asked, SCHEMA).digest)


@pytest.mark.parametrize("name", ASKED)
def test_limits_survive_json_and_are_left_out_where_there_are_none(name):
    asked = ASKED[name]
    assert "limits" not in asked.to_dict()
    written = asked.limits(rows=7).to_dict()
    assert written["limits"] == {"rows": 7}
    assert planned(read_query(json.dumps(written), SCHEMA), SCHEMA).schema.unit.rows == 7


def test_a_member_of_a_batch_and_a_stream_keep_their_own():
    asked = {"a": Query().limits(groups=5).agg(n=count()), "b": Query().agg(n=count())}
    plan = plan_batch(asked, SCHEMA, ALLOTMENTS["rho"], PRICE)
    assert [part.schema.unit.groups for _, part in plan.parts] == [5, SCHEMA.unit.groups]
    month = bins("day", every="month")
    stream = plan_stream(Query().limits(rows=9).agg(n=count()), SCHEMA, ALLOTMENTS["rho"], PRICE, month)
    assert stream.schema.unit.rows == 9


def test_a_later_limit_takes_the_place_of_an_earlier_one():
    asked = Query().limits(groups=5, rows=2).limits(rows=3)
    assert asked.person_limits == PersonLimits(5, 3)


@pytest.mark.parametrize("given", [{}, {"groups": 0}, {"rows": True}, {"rows": 1.5}, {"groups": 2**20 + 1}])
def test_limits_are_whole_numbers(given):
    with pytest.raises(InputError, match="limits"):
        Query().limits(**given)


@pytest.mark.parametrize("entry", [[], {"people": 3}, {"rows": "many"}, 5])
def test_strange_json_is_refused(entry):
    with pytest.raises(InputError, match="limits"):
        Query.from_dict({"outputs": {"n": {"of": "count"}}, "limits": entry}, SCHEMA)


def test_a_row_has_no_limits():
    rows = Schema(SCHEMA.name, {name: column for name, column in SCHEMA.stored.items() if name != "id"})
    with pytest.raises(InputError, match="the unit of this schema is a row"):
        Query().limits(rows=3).agg(n=count()).checked(rows)
