"""Questions: to JSON and back, and every mistake refused by name before anything is read."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dirty import COLUMNS, predicates, queries, schema_for
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import Sum, count, mean, people, std, total, variance
from discreet.query.key import Key, bins, key
from discreet.query.predicate import And, Compare, Not, Or, beyond, checked, col, predicate_from, predicate_to
from discreet.query.question import Query

SCHEMA = Schema(
    "people",
    {
        "county": Category(["Ash", "Elm"], nullable=False),
        "adult": Boolean(nullable=False),
        "age": Integer(0, 120, nullable=False),
        "pay": Real(0, 1000, nullable=False),
        "day": Date("2024-01-01", "2024-12-31", nullable=False),
        "zip code": Category(["1", "2"], nullable=False),
    },
    Unit("id", groups=2, rows=2),
)


@given(queries(persons=True))
def test_a_question_comes_back_as_it_went(query):
    schema = schema_for(Unit("p", groups=1, rows=1))
    once = query.checked(schema)
    assert Query.from_json(once.to_json(), schema) == once
    assert once.checked(schema) == once
    assert Query.from_dict(json.loads(json.dumps(query.to_dict(), default=str)), schema) == once


@given(predicates)
def test_a_condition_comes_back_as_it_went(predicate):
    schema = schema_for()
    once = checked(predicate, schema)
    assert checked(predicate_from(json.loads(json.dumps(predicate_to(once)))), schema) == once


def refused(query, field, schema=SCHEMA):
    with pytest.raises(InputError) as caught:
        query.checked(schema)
    assert caught.value.field == field, caught.value
    assert caught.value.allowed
    return str(caught.value)


N = {"n": count()}


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
        (Query().group_by(bins("day", every="week")).agg(**N), "bins.every"),
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


def test_persons_need_a_schema_that_has_them():
    refused(Query().agg(n=people()), "people", Schema("t", {"a": Integer(0, 1, nullable=False)}))


def test_the_message_lists_what_there_is():
    assert "adult, age, county, day, id, pay" in refused(Query().where("agee > 5").agg(**N), "where")
    assert "Ash, Elm" in refused(Query().where("county = 'Oak'").agg(**N), "where")
    assert "age, pay" in refused(Query().agg(a=total("county")), "sum")


def test_a_column_with_a_space_can_be_grouped_by():
    assert Query().group_by("zip code").agg(**N).checked(SCHEMA).groups(SCHEMA) == 2


def test_a_condition_is_no_truth_value():
    with pytest.raises(InputError, match="&"):
        assert col("age") > 5
    with pytest.raises(InputError, match="&"):
        1 < col("age") < 5  # noqa: B015


def test_conditions_join():
    either = (col("age") < 5) | (col("age") > 60) | col("pay").missing()
    assert len(either.parts) == 3
    both = Query().where("age > 5").where(either).where(~col("adult").isin([True])).agg(**N).checked(SCHEMA)
    assert len(both.condition.parts) == 3
    long = col("age") == 0
    for value in range(1, 300):
        long = long | (col("age") == value)
    Query().where(long).agg(**N).checked(SCHEMA)


def test_depth_is_bounded():
    deep = col("age") == 1
    for _ in range(100):
        deep = Not(deep)
    refused(Query().where(deep).agg(**N), "where")
    entry = {"column": "age", "is": "==", "value": 1}
    for _ in range(5000):
        entry = {"not": entry}
    with pytest.raises(InputError):
        predicate_from(entry)
    with pytest.raises(InputError):
        Query.from_json('{"where":' * 100_000, SCHEMA)


@pytest.mark.parametrize(
    "entry",
    [
        [],
        {"nothing": 1},
        {"outputs": []},
        {"outputs": {"n": 5}},
        {"outputs": {"n": {"of": "mode", "column": "age"}}},
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


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: bins("age"), "bins"),
        (lambda: bins("age", [1, 2], width=1), "bins"),
        (lambda: bins("age", [1]), "bins.edges"),
        (lambda: bins("age", "12"), "bins.edges"),
        (lambda: bins("age", 5), "bins.edges"),
        (lambda: key("county", "Ash"), "group_by"),
        (lambda: key("county", 5), "group_by"),
        (lambda: total("age", bounds=(5, 1)), "bounds"),
        (lambda: total("age", bounds=5), "bounds"),
        (lambda: total("age", bounds=(float("nan"), 1)), "bounds"),
        (lambda: mean("age", bounds="ab"), "bounds"),
    ],
)
def test_parts_of_questions_are_checked_where_they_are_made(make, field):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_regular_bins_cover_the_declared_range():
    assert bins("age", width=50).checked(SCHEMA).edges == (0, 50, 100, 150)
    assert bins("pay", width=250).checked(SCHEMA).edges == (0, 250, 500, 750, 1000)
    months = bins("day", every="month").checked(SCHEMA)
    assert months.edges[0] == date(2024, 1, 1)
    assert months.edges[-1] == date(2025, 1, 1)
    assert len(months.labels(SCHEMA)) == 12
    assert len(bins("day", every="day").checked(SCHEMA).labels(SCHEMA)) == 366
    assert len(bins("day", width=100).checked(SCHEMA).labels(SCHEMA)) == 4
    ages = Schema("t", {"d": Date("9000-01-01", "9999-12-31", nullable=False)})
    assert bins("d", every="year").checked(ages).edges[-1] == date.max
    assert len(bins("d", width=10**30).checked(ages).labels(ages)) == 1


def test_a_query_is_frozen_and_so_are_its_parts():
    query = Query().group_by("county").agg(n=count())
    for thing, field in ((query, "keys"), (query.keys[0], "column"), (count(), "column"), (col("a") == 1, "value")):
        with pytest.raises(AttributeError):
            setattr(thing, field, None)
    assert isinstance(query.keys[0], Key)


@given(st.sampled_from(sorted(COLUMNS)))
def test_numbers_are_read_as_written(name):
    if isinstance(COLUMNS[name], (Integer, Real)):
        a, b = (checked(Compare(name, "==", v), schema_for()) for v in (0.1, Decimal("0.1")))
        assert a == b


def test_text_columns_are_for_names_only():
    schema = Schema("t", {"note": Text(), "n": Integer(0, 1, nullable=False)})
    refused(Query().group_by("note").agg(n=count()), "group_by", schema)
    refused(Query().where("note = 'x'").agg(n=count()), "where", schema)
    with pytest.raises(InputError):
        Sum("note").measures(schema)


@pytest.mark.parametrize("condition", ["age < 1e400", "pay IN (1, -1e301)", "NOT pay > 1e309"])
def test_a_number_that_no_float_holds_is_refused_in_a_condition(condition):
    with pytest.raises(InputError, match="between -1e"):
        Query().where(condition).agg(n=count()).checked(SCHEMA)


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("age > 120", "age"),
        ("NOT age <= 120", "age"),
        ("age = 30.5", "age"),
        ("age IN (121, 130)", "age"),
        ("pay > 10 AND day < '2024-01-01'", "day"),
        ("age < 0 OR pay > 1000", "age"),
        ("NOT (age >= 0 AND pay <= 1000)", "age"),
        ("age >= 120", None),
        ("age <> 5", None),
        ("age < 0 OR pay > 10", None),
        ("NOT (age >= 0 AND pay <= 10)", None),
        ("age > 120 OR age IS NULL", None),
        ("NOT age IN (121, 130)", None),
        ("county = 'Ash' AND adult", None),
    ],
)
def test_a_condition_that_no_declared_value_meets_is_recognized(condition, column):
    found = Query().where(condition).agg(n=count()).checked(SCHEMA)
    assert beyond(found.condition, SCHEMA) == column
