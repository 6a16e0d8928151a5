"""How many different persons: asked where a person is protected, and in SQL of the column that tells them apart."""

from __future__ import annotations

import pytest
import sqlglot
from sql_schema import scope_of

from discreet.core.unit import Unit
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import people
from discreet.query.aggregate.persons import Persons
from discreet.query.measure import People

COLUMNS = {"age": Integer(0, 120, nullable=False)}


def read(text, person="id"):
    schema = Schema("t", {**COLUMNS, "other": Integer(0, 9)}, Unit(person, groups=1, rows=1) if person else Unit())
    return Persons.read_sql(sqlglot.parse_one(f"SELECT {text}", read="duckdb").expressions[0], scope_of(schema))


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
