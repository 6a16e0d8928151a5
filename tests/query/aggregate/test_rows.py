"""How many rows: all of them, or those with a value in a column."""

from __future__ import annotations

import pytest
import sqlglot
from sql_schema import scope_of

from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import count
from discreet.query.aggregate.rows import Count
from discreet.query.measure import Rows

SCHEMA = Schema("t", {"age": Integer(0, 120, nullable=False), "pay": Integer(0, 9, nullable=True)})


def read(text):
    return Count.read_sql(sqlglot.parse_one(f"SELECT {text}", read="duckdb").expressions[0], scope_of(SCHEMA))


def test_rows_of_a_complete_column_are_all_rows():
    assert count().measures(SCHEMA) == count("age").measures(SCHEMA) == (Rows(None),)
    assert count("pay").measures(SCHEMA) == (Rows("pay"),)
    with pytest.raises(InputError) as caught:
        count("nothing").measures(SCHEMA)
    assert caught.value.field == "count"


def test_in_sql_it_is_of_a_star_or_of_a_column():
    assert read("COUNT(*)") == count()
    assert read("COUNT(pay)") == count("pay")
    assert read("COUNT(DISTINCT id)") is None
    assert read("SUM(pay)") is None
    assert read("COUNT(1)") == count()
    assert read("COUNT(pay + 1)") == count("pay + 1")
    assert read("COUNT_IF(pay > 1)") == count("CASE WHEN pay > 1 THEN 1 END")
    with pytest.raises(InputError):
        read("COUNT(nothing)")


def test_a_limit_on_rows_is_said_of_it():
    kind, text = count().limited("person", "2 rows")
    assert kind == "rows"
    assert "at most 2 rows" in text
