"""Questions: to JSON and back, and every mistake refused by name before anything is read."""

from __future__ import annotations

import json
from datetime import datetime

import pandas
import pytest
from hypothesis import given
from question_schema import SCHEMA, N, refused

from dirty import queries, schema_for
from discreet.core.unit import Unit
from discreet.data.column import Date, Integer, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import Sum, count, mean, people, std, total, variance
from discreet.query.key import Key, bins, key
from discreet.query.predicate import And, Compare, Or, col
from discreet.query.question import Query


@given(queries(persons=True))
def test_a_question_comes_back_as_it_went(query):
    schema = schema_for(Unit("p", groups=1, rows=1))
    once = query.checked(schema)
    assert Query.from_json(once.to_json(), schema) == once
    assert once.checked(schema) == once
    assert Query.from_dict(json.loads(json.dumps(query.to_dict(), default=str)), schema) == once


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (Query(), "outputs"),
        (Query().agg(n="count"), "outputs"),
        (Query().agg(**{"not a name": count()}), "outputs"),
        (Query().agg(a=count()).agg(a=count()), "outputs"),
        (Query().agg(a=count(), a_lower=count()), "outputs"),
        (Query().agg(a_upper=count(), a=count()), "outputs"),
        (Query().group_by("county").agg(county=count()), "outputs"),
        (Query().group_by("county", "county").agg(**N), "outputs"),
        (Query().agg(a=count("nothing")), "count"),
        (Query().agg(a=total("nothing")), "sum"),
        (Query().agg(a=total("county")), "sum"),
        (Query().agg(a=mean("day")), "mean"),
        (Query().agg(a=variance("adult")), "variance"),
        (Query().agg(a=std("id")), "std"),
        (Query().agg(a=total("pay", bounds=(0, 2000))), "bounds"),
        (Query().agg(a=total("pay", bounds=(-1, 5))), "bounds"),
        (Query().group_by("nothing").agg(**N), "group_by"),
        (Query().group_by("pay").agg(**N), "group_by"),
        (Query().group_by("day").agg(**N), "group_by"),
        (Query().group_by("id").agg(**N), "group_by"),
        (Query().group_by(key("county", [])).agg(**N), "group_by"),
        (Query().group_by(key("county", ["Ash", "Ash"])).agg(**N), "group_by"),
        (Query().group_by(key("county", ["Fir"])).agg(**N), "group_by"),
        (Query().group_by(key("age", [1, 500])).agg(**N), "group_by"),
        (Query().group_by(key("age", [1.5])).agg(**N), "group_by"),
        (Query().group_by(key("adult", [1])).agg(**N), "group_by"),
        (Query().group_by(key("pay", [1])).agg(**N), "group_by"),
        (Query().group_by(bins("county", [1, 2])).agg(**N), "bins"),
        (Query().group_by(bins("age", [2, 1])).agg(**N), "bins.edges"),
        (Query().group_by(bins("age", [1, 1])).agg(**N), "bins.edges"),
        (Query().group_by(bins("age", ["a", "b"])).agg(**N), "bins.edges"),
        (Query().group_by(bins("age", [0, float("nan")])).agg(**N), "bins.edges"),
        (Query().group_by(bins("age", width=0)).agg(**N), "bins.width"),
        (Query().group_by(bins("pay", width=1e-9)).agg(**N), "bins.width"),
        (Query().group_by(bins("age", every="day")).agg(**N), "bins.every"),
        (Query().group_by(bins("day", every="decade")).agg(**N), "bins.every"),
        (Query().group_by(bins("day", width=0.5)).agg(**N), "bins.width"),
        (Query().group_by(bins("day", ["2024-01-01", "nonsense"])).agg(**N), "bins.edges"),
        (Query().group_by(bins("day", [datetime(2024, 1, 1), datetime(2024, 2, 1)])).agg(**N), "bins.edges"),
        (Query().group_by(bins("pay", sorted({i * i for i in range(3000)}))).agg(**N), "bins"),
        (Query().group_by(bins("pay", width=0.01), "age").agg(**N), "group_by"),
        (Query().where("nothing > 1").agg(**N), "where"),
        (Query().where("county = 'Fir'").agg(**N), "where"),
        (Query().where("county > 'Ash'").agg(**N), "where"),
        (Query().where("age > 'old'").agg(**N), "where"),
        (Query().where("age").agg(**N), "where"),
        (Query().where("adult = 1").agg(**N), "where"),
        (Query().where("day > 5").agg(**N), "where"),
        (Query().where("day > '2024-02-30'").agg(**N), "where"),
        (Query().where("id = 'me'").agg(**N), "where"),
        (Query().where("age in ()").agg(**N), "where"),
        (Query().where(col("age") == float("nan")).agg(**N), "where"),
        (Query().where(col("day") == datetime(2024, 1, 1)).agg(**N), "where"),
        (Query().where(And(())).agg(**N), "where"),
        (Query().where(Or(())).agg(**N), "where"),
        (Query().where(Compare("age", "~", 5)).agg(**N), "where"),
        (Query().where(Compare(["age"], "==", 5)).agg(**N), "where"),
        (Query().where(col("age").isin(range(20_000))).agg(**N), "where"),
        (Query(condition=5).agg(**N), "where"),
    ],
)
def test_a_mistake_is_named(query, field):
    refused(query, field)


def test_a_mistake_of_a_notebook_is_answered_with_what_to_write():
    with pytest.raises(InputError, match=r"the function count\. Call it: count\(\.\.\.\)"):
        Query().agg(n=count).checked(SCHEMA)
    with pytest.raises(InputError, match=r"got a list\. Several keys are given one after the other"):
        Query().group_by(["age"])
    with pytest.raises(InputError, match="got a Series") as refused:
        Query().group_by(pandas.Series(["a cell"]))
    assert "a cell" not in str(refused.value)
    days = Schema("visits", {"day": Date("2024-01-01", "2024-12-31")})
    with pytest.raises(InputError, match="Dates stand in quotes: '2024-12-31'"):
        Query().where("day > 2024-06-01").agg(n=count()).checked(days)


def test_persons_need_a_schema_that_has_them():
    refused(Query().agg(n=people()), "people", Schema("t", {"a": Integer(0, 1, nullable=False)}))


def test_the_message_lists_what_there_is():
    assert "adult, age, county, day, id, pay" in refused(Query().where("agee > 5").agg(**N), "where")
    assert "Ash, Elm" in refused(Query().where("county = 'Oak'").agg(**N), "where")
    assert "age, pay" in refused(Query().agg(a=total("county")), "sum")


@pytest.mark.parametrize(
    "entry",
    [
        [],
        {"nothing": 1},
        {"outputs": []},
        {"outputs": {"n": 5}},
        {"outputs": {"n": {"of": "geomean", "column": "age"}}},
        {"outputs": {"n": {"of": ["count"]}}},
        {"outputs": {"n": {"of": "sum"}}},
        {"outputs": {"n": {"of": "sum", "column": 5}}},
        {"outputs": {"n": {"of": "sum", "column": "age", "bounds": 5}}},
        {"outputs": {"n": {"of": "sum", "column": "age", "bounds": [5]}}},
        {"outputs": {"n": {"of": "sum", "column": "age", "bounds": [5, 1]}}},
        {"outputs": {"n": {"of": "count", "bounds": [0, 1]}}},
        {"outputs": {"n": {"of": "people", "column": "age"}}},
        {"outputs": {"n": {"of": "count"}}, "group_by": "county"},
        {"outputs": {"n": {"of": "count"}}, "group_by": [5]},
        {"outputs": {"n": {"of": "count"}}, "group_by": [{"values": ["Ash"]}]},
        {"outputs": {"n": {"of": "count"}}, "group_by": [{"column": "county", "values": "Ash"}]},
        {"outputs": {"n": {"of": "count"}}, "group_by": [{"column": "age", "edges": 5}]},
        {"outputs": {"n": {"of": "count"}}, "group_by": [{"column": "age", "order": "down"}]},
        {"outputs": {"n": {"of": "count"}}, "where": 5},
        {"outputs": {"n": {"of": "count"}}, "where": {}},
        {"outputs": {"n": {"of": "count"}}, "where": {"all": []}},
        {"outputs": {"n": {"of": "count"}}, "where": {"all": [], "any": []}},
        {"outputs": {"n": {"of": "count"}}, "where": {"column": "age", "is": "==", "value": {"number": "1/0"}}},
        {"outputs": {"n": {"of": "count"}}, "where": {"column": "age", "is": "==", "value": {"number": "x"}}},
        {"outputs": {"n": {"of": "count"}}, "where": {"column": "age", "is": "==", "value": [1]}},
        {"outputs": {"n": {"of": "count"}}, "where": {"column": "county", "is": "==", "value": {"a": 1}}},
    ],
)
def test_json_that_is_no_question_is_refused(entry):
    with pytest.raises(InputError):
        Query.from_json(json.dumps(entry), SCHEMA)


def test_text_that_is_no_json_is_refused():
    with pytest.raises(InputError, match="JSON"):
        Query.from_json("{", SCHEMA)


def test_a_query_is_frozen_and_so_are_its_parts():
    query = Query().group_by("county").agg(n=count())
    for thing, field in ((query, "keys"), (query.keys[0], "column"), (count(), "column"), (col("a") == 1, "function")):
        with pytest.raises(AttributeError):
            setattr(thing, field, None)
    assert isinstance(query.keys[0], Key)


def test_free_text_is_compared_and_not_computed_with():
    schema = Schema("t", {"note": Text(), "n": Integer(0, 1, nullable=False)})
    refused(Query().group_by("note").agg(n=count()), "group_by", schema)
    refused(Query().where("note < 'x'").agg(n=count()), "where", schema)
    checked = Query().where("note = 'x' and not note in ('y', 'z')").agg(n=count()).checked(schema)
    assert Query.from_json(checked.to_json(), schema) == checked
    with pytest.raises(InputError):
        Sum("note").measures(schema)
