"""How many different persons: asked where a person is protected, and in SQL of the column that tells them apart."""

from __future__ import annotations

from dataclasses import replace

import pyarrow
import pytest
import sqlglot
from sql_schema import scope_of

from discreet.core.unit import Unit
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.noise.bits import SystemBits
from discreet.query.aggregate import people
from discreet.query.aggregate.persons import Persons
from discreet.query.composite_plan import plan_question
from discreet.query.measure import People, contribution, sensitivity
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.sql import parse_sql
from jobs import run_plan

COLUMNS = {"age": Integer(0, 120, nullable=False)}


def read(text, person="id"):
    schema = Schema("t", {**COLUMNS, "other": Integer(0, 9)}, Unit(person, groups=1, rows=1) if person else Unit())
    return Persons.read_sql(sqlglot.parse_one(f"SELECT {text}", read="duckdb").expressions[0], scope_of(schema))


def released(question, schema, table):
    """Values before noise: it is too small to see."""
    plan = plan_question(question, schema, Allotment("q", "pure", epsilon=10**9), Price.read(epsilon=10**8))
    with replace(source_of(table), view=schema.view_with(plan.columns)).open() as data:
        columns = run_plan(plan, data, SystemBits())["columns"]
    return {name: [round(value) for value in columns[name]] for name in question.names}


def test_each_person_counts_once_in_a_group():
    schema = Schema("t", COLUMNS, Unit("id", groups=2, rows=9))
    (measure,) = people().measures(schema)
    assert measure == People()
    assert measure.per_person
    assert people().step(schema) == 1
    assert people().never_negative


def test_a_schema_without_persons_is_refused_with_what_to_do():
    with pytest.raises(InputError, match="count") as caught:
        people().measures(Schema("t", COLUMNS))
    assert caught.value.field == "people"


def test_in_sql_it_is_the_count_of_distinct_persons():
    assert read("COUNT(DISTINCT id)") == people()
    assert read("COUNT(id)") is None
    assert read("COUNT(*)") is None
    assert read("APPROX_COUNT_DISTINCT(id)") == people()
    for text, person in (
        ("COUNT(DISTINCT age)", "id"),
        ("COUNT(DISTINCT id, age)", "id"),
        ("COUNT(DISTINCT other)", None),
    ):
        assert read(text, person) is None  # how many different values there are


def test_persons_with_a_row_that_meets_a_condition_count_once():
    schema = Schema("t", COLUMNS, Unit("id", groups=2, rows=9))
    old = people(where="age >= 65")
    (measure,) = old.measures(schema)
    assert contribution(measure, schema.unit) == (0, 1)
    assert sensitivity(measure, schema.unit, 5) == sensitivity(People(), schema.unit, 5)
    ids = ["a", "a", "a", "b", "b", "c", None]
    table = pyarrow.table({"id": ids, "age": [70, 80, 3, 3, None, 66, 99]})
    answer = released(Query().agg(old=old, all=people()), schema, table)
    assert answer == {"old": [2], "all": [3]}


@pytest.mark.parametrize("wrong", ["age", "shoe > 3", "age >", "age > 200"])
def test_a_condition_that_is_none_is_refused(wrong):
    schema = Schema("t", COLUMNS, Unit("id", groups=2, rows=9))
    with pytest.raises(InputError):
        Query().agg(n=people(where=wrong)).checked(schema)


def test_in_sql_a_filter_or_a_case_around_the_person_is_the_condition():
    schema = Schema("t", COLUMNS, Unit("id", groups=2, rows=9))
    for text in ("COUNT(DISTINCT id) FILTER (WHERE age >= 65)", "COUNT(DISTINCT CASE WHEN age >= 65 THEN id END)"):
        question = parse_sql(f"SELECT {text} AS n FROM t", schema).query
        assert question.outputs == (("n", people(where="age >= 65")),)
        assert Query.from_json(question.to_json(), schema) == question.checked(schema)
    two = "COUNT(DISTINCT CASE WHEN age >= 65 THEN id END) FILTER (WHERE age < 90)"
    assert parse_sql(f"SELECT {two} AS n FROM t", schema).query.outputs[0][1].where == "age < 90 AND age >= 65"
    other = parse_sql("SELECT COUNT(DISTINCT CASE WHEN age >= 65 THEN id ELSE 'x' END) AS n FROM t", schema).query
    assert not isinstance(other.outputs[0][1], Persons)
