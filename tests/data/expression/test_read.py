"""Text as an expression: what is on the list is read in every dialect, all else is refused."""

from __future__ import annotations

import pytest

from discreet.data.expression import read_expression
from discreet.errors import InputError


@pytest.mark.parametrize(
    ("dialect", "text", "form"),
    [
        ("duckdb", "a / b", "a / b"),
        ("postgres", "a / b", "a // b"),
        ("spark", "a div b", "a // b"),
        ("mysql", "ifnull(a, 0) + if(b > 1, 2, 3)", "COALESCE(a, 0) + CASE WHEN b > 1 THEN 2 ELSE 3 END"),
        ("tsql", "iif([a b] > 1, 1, 0)", 'CASE WHEN "a b" > 1 THEN 1 ELSE 0 END'),
        ("tsql", "datepart(year, d)", "YEAR(d)"),
        ("bigquery", "safe_divide(`a b`, 2)", '"a b" / 2'),
        ("bigquery", "date_trunc(d, month)", "DATE_TRUNC('month', d)"),
        ("duckdb", "extract(dow from d)", "DAYOFWEEK(d)"),
        ("bigquery", "extract(dayofweek from d)", "DAYOFWEEK(d) + 1"),
        ("spark", "dayofweek(d)", "DAYOFWEEK(d) + 1"),
        ("postgres", "date_part('quarter', d)", "QUARTER(d)"),
        ("duckdb", "a::int", "CAST(a AS BIGINT)"),
        ("duckdb", "case a when 1 then 'x' end", "CASE WHEN a = 1 THEN 'x' END"),
        ("duckdb", "d - interval '3 weeks'", "d + -21"),
        ("duckdb", "a not in (1, 2)", "NOT a IN (1, 2)"),
        ("duckdb", "a is not null", "NOT a IS NULL"),
        ("duckdb", "a not between 1 and 2", "NOT (a >= 1 AND a <= 2)"),
    ],
)
def test_the_spelling_of_a_dialect_is_read(dialect, text, form):
    assert str(read_expression(text, dialect=dialect)) == form


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "a, b",
        "a FROM t",
        "*",
        "count(a)",
        "sum(a) over ()",
        "(select 1)",
        "a in (select 1)",
        "exists (select 1)",
        "read_csv('x')",
        "getenv('HOME')",
        "random()",
        "current_date",
        "now()",
        "a[1]",
        "{'a': 1}",
        "a -> 'b'",
        "$1",
        "?",
        "a collate nocase = 'x'",
        "cast(a as blob)",
        "cast(a as timestamp with time zone)",
        "regexp_matches(a, '(x+)+$')",
        "a like 'x' escape '!'",
        "d + interval '1 hour'",
        "extract(epoch from d)",
        "a = null",
        "round(a, b, c)",
        "substring(a)",
        "starts_with(c)",
        "add_months(d)",
        "truncate(d)",
        "coalesce()",
        "least()",
        "concat()",
        "1; drop table t",
        "t.a",
    ],
)
def test_all_else_is_refused(text):
    from discreet.data.column import Boolean, Date, Integer
    from discreet.data.expression import resolve

    columns = {"a": Integer(0, 9), "b": Integer(0, 9), "c": Boolean(), "d": Date("2020-01-01", "2020-12-31")}
    with pytest.raises(InputError, match="must be"):
        resolve(read_expression(text), columns)
