"""Conditions on rows: to JSON and back, joined, bounded in depth, and known where no declared value meets them."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from question_schema import SCHEMA, N, refused

from dirty import COLUMNS, predicates, schema_for
from discreet.data.column import Integer, Real
from discreet.errors import InputError
from discreet.query.aggregate import count
from discreet.query.predicate import Compare, Not, beyond, checked, col, condition_of, predicate_from, predicate_to
from discreet.query.question import Query


@given(predicates)
def test_a_condition_comes_back_as_it_went(predicate):
    schema = schema_for()
    once = checked(predicate, schema)
    assert checked(predicate_from(json.loads(json.dumps(predicate_to(once)))), schema) == once


def test_a_condition_is_no_truth_value():
    with pytest.raises(InputError, match="&"):
        assert col("age") > 5
    with pytest.raises(InputError, match="&"):
        1 < col("age") < 5  # noqa: B015


def test_conditions_join():
    either = (col("age") < 5) | (col("age") > 60) | col("pay").missing()
    assert len(condition_of(either).parts) == 3
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


@given(st.sampled_from(sorted(COLUMNS)))
def test_numbers_are_read_as_written(name):
    if isinstance(COLUMNS[name], (Integer, Real)):
        a, b = (checked(Compare(name, "==", v), schema_for()) for v in (0.1, Decimal("0.1")))
        assert a == b


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
