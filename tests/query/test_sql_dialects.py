"""A statement means what it means in its dialect, or is refused: values of a few rows, computed by hand."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from discreet.data.expression.domain import value_of
from discreet.data.expression.node import Name
from discreet.data.schema import Schema
from discreet.data.text import DIALECTS, read_statement
from discreet.errors import InputError
from discreet.query.sql import parse_sql
from discreet.query.sql_relation import Relation, Relations

SCHEMA = Schema.from_dict(
    {
        "dataset": {"name": "visits"},
        "unit": {"column": "person", "groups": 1, "rows": 1},
        "columns": {
            "x": {"type": "real", "lower": -20, "upper": 20, "nullable": True},
            "k": {"type": "integer", "lower": -20, "upper": 20},
            "t": {"type": "category", "values": ["Ash", "ash tree", "Öl"], "nullable": True},
            "u": {"type": "category", "values": ["ash", "oak"]},
            "n": {"type": "category", "values": ["1", "2.5"]},
            "note": {"type": "text"},
            "b": {"type": "boolean"},
            "d": {"type": "date", "lower": "2022-01-01", "upper": "2025-12-31"},
            "e": {"type": "date", "lower": "2022-01-01", "upper": "2025-12-31"},
        },
    }
)
ROWS = [  # Saturday, Sunday, Monday, Sunday
    {"x": 2.5, "k": 7, "t": "Ash", "u": "ash", "n": "1", "b": True, "d": "2022-01-01", "e": "2022-01-03"},
    {"x": -2.7, "k": -7, "t": "ash tree", "u": "oak", "n": "2.5", "b": False, "d": "2022-01-02", "e": "2022-01-09"},
    {"x": None, "k": 0, "t": "Öl", "u": "oak", "n": "1", "b": True, "d": "2024-12-30", "e": "2025-01-01"},
    {"x": 15.0, "k": 15, "t": None, "u": "ash", "n": "2.5", "b": False, "d": "2023-01-01", "e": "2023-01-01"},
]
ROWS = [{**row, "d": date.fromisoformat(row["d"]), "e": date.fromisoformat(row["e"])} for row in ROWS]


def expression(text: str, dialect: str):
    visible = {"visits": Relation({name: Name(name) for name in SCHEMA.columns})}
    node = read_statement(f"SELECT {text}", dialect=dialect).expressions[0]
    made = Relations(SCHEMA, dialect, visible=visible).reader().read(node)
    return SCHEMA.expression(SCHEMA.canonical(made.name if isinstance(made, Name) else str(made), "sql"), "sql")


def values(text: str, dialect: str, rows=ROWS):
    made = expression(text, dialect)
    return [value_of(made, row) for row in rows]


SUNDAY_0, SUNDAY_1, MONDAY_0, MONDAY_1 = [6, 0, 1, 0], [7, 1, 2, 1], [5, 6, 0, 6], [6, 7, 1, 7]
ISO, FROM_SUNDAY, FROM_MONDAY = [52, 52, 1, 52], [0, 1, 52, 1], [0, 0, 53, 0]
FIRST_WEEK = [1, 2, 53, 1]
ANY, ALL = [10, 10, 10, 15.0], [10, 10, None, 15.0]
CUT, EVEN, AWAY = [2, -2, None, 15], [2, -3, None, 15], [3, -3, None, 15]
YES, NO = True, False
MONTHS = ["2022-01", "2022-01", "2024-12", "2023-01"]

MEANINGS = [
    # days of the week
    ("WEEKDAY(d)", "duckdb", SUNDAY_0),
    ("WEEKDAY(d)", "mysql spark", MONDAY_0),
    ("DAYOFWEEK(d)", "duckdb snowflake", SUNDAY_0),
    ("DAYOFWEEK(d)", "mysql spark", SUNDAY_1),
    ("DAYOFWEEKISO(d)", "snowflake", MONDAY_1),
    ("DAY_OF_WEEK(d)", "trino", MONDAY_1),
    ("EXTRACT(DOW FROM d)", "duckdb postgres snowflake", SUNDAY_0),
    ("EXTRACT(DOW FROM d)", "spark", SUNDAY_1),
    ("EXTRACT(DOW FROM d)", "trino", MONDAY_1),
    ("EXTRACT(DAYOFWEEK FROM d)", "bigquery", SUNDAY_1),
    ("EXTRACT(ISODOW FROM d)", "duckdb postgres", MONDAY_1),
    ("DATEPART(weekday, d)", "tsql", SUNDAY_1),
    ("DAYNAME(d)", "duckdb mysql", ["Saturday", "Sunday", "Monday", "Sunday"]),
    ("DAYNAME(d)", "snowflake spark", ["Sat", "Sun", "Mon", "Sun"]),
    ("MONTHNAME(d)", "duckdb", ["January", "January", "December", "January"]),
    ("MONTHNAME(d)", "snowflake spark", ["Jan", "Jan", "Dec", "Jan"]),
    # numbers of weeks
    ("WEEK(d)", "duckdb snowflake trino", ISO),
    ("WEEK(d)", "mysql", FROM_SUNDAY),
    ("WEEK(d, 0)", "mysql", FROM_SUNDAY),
    ("WEEK(d, 1)", "mysql", [0, 0, 53, 0]),
    ("WEEK(d, 3)", "mysql", ISO),
    ("WEEK(d, 5)", "mysql", FROM_MONDAY),
    ("WEEKOFYEAR(d)", "mysql spark snowflake", ISO),
    ("EXTRACT(WEEK FROM d)", "duckdb postgres spark snowflake trino", ISO),
    ("EXTRACT(WEEK FROM d)", "bigquery mysql", FROM_SUNDAY),
    ("EXTRACT(WEEK(MONDAY) FROM d)", "bigquery", FROM_MONDAY),
    ("EXTRACT(ISOWEEK FROM d)", "bigquery", ISO),
    ("DATEPART(week, d)", "tsql", FIRST_WEEK),
    ("DATEPART(iso_week, d)", "tsql", ISO),
    # weeks that a day is in
    ("DAY(DATE_TRUNC('week', d))", "duckdb postgres spark snowflake trino", [27, 27, 30, 26]),
    ("DAY(DATE_TRUNC(d, WEEK))", "bigquery", [26, 2, 29, 1]),
    ("DAY(DATE_TRUNC(d, ISOWEEK))", "bigquery", [27, 27, 30, 26]),
    ("DAY(DATE_TRUNC(d, WEEK(TUESDAY)))", "bigquery", [28, 28, 24, 27]),
    ("DAY(DATETRUNC(week, d))", "tsql", [26, 2, 29, 1]),
    ("DAY(DATETRUNC(iso_week, d))", "tsql", [27, 27, 30, 26]),
    ("EXTRACT(ISOYEAR FROM d)", "duckdb postgres bigquery", [2021, 2021, 2025, 2022]),
    ("ISOYEAR(d)", "duckdb", [2021, 2021, 2025, 2022]),
    ("YEARWEEK(d)", "duckdb", [202152, 202152, 202501, 202252]),
    ("YEARWEEK(d, 1)", "mysql", [202152, 202152, 202501, 202252]),
    ("YEARWEEK(d)", "mysql", [202152, 202201, 202452, 202301]),
    # days as text
    ("STRFTIME(d, '%Y-%m')", "duckdb", MONTHS),
    ("STRFTIME('%Y-%m', d)", "sqlite", MONTHS),
    ("TO_CHAR(d, 'YYYY-MM')", "postgres snowflake", MONTHS),
    ("FORMAT_DATE('%Y-%m', d)", "bigquery", MONTHS),
    ("DATE_FORMAT(d, 'yyyy-MM')", "spark", MONTHS),
    ("DATE_FORMAT(d, '%Y-%m')", "mysql trino", MONTHS),
    ("FORMAT(d, 'yyyy-MM')", "tsql", MONTHS),
    ("DATE_FORMAT(d, '%W %e')", "mysql", ["Saturday 1", "Sunday 2", "Monday 30", "Sunday 1"]),
    ("TO_CHAR(d, 'IYYY-IW')", "postgres", ["2021-52", "2021-52", "2025-01", "2022-52"]),
    # differences of days
    ("DATEDIFF(e, d)", "mysql spark", [2, 7, 2, 0]),
    ("DATEDIFF(day, d, '2025-01-01')", "tsql", [1096, 1095, 2, 731]),
    ("DATEDIFF(day, d, e)", "tsql snowflake spark", [2, 7, 2, 0]),
    ("DATE_DIFF(e, d, DAY)", "bigquery", [2, 7, 2, 0]),
    ("DATE_DIFF('week', d, e)", "duckdb", [1, 1, 0, 0]),
    ("DATE_DIFF('week', d, e)", "trino", [0, 1, 0, 0]),
    ("DATEDIFF(week, d, e)", "snowflake", [1, 1, 0, 0]),
    ("DATEDIFF(week, d, e)", "tsql", [1, 1, 0, 0]),
    ("DATEDIFF(week, e, d)", "tsql", [-1, -1, 0, 0]),
    ("DATEDIFF(week, d, e)", "spark", [0, 1, 0, 0]),
    ("DATE_DIFF(e, d, WEEK)", "bigquery", [1, 1, 0, 0]),
    ("DATE_DIFF(d, DATE '2022-01-01', WEEK)", "bigquery", [0, 1, 157, 53]),
    ("DATE_DIFF(d, DATE '2022-01-01', ISOWEEK)", "bigquery", [0, 0, 157, 52]),
    ("TIMESTAMPDIFF(WEEK, d, e)", "mysql", [0, 1, 0, 0]),
    ("DATEDIFF(year, d, e)", "tsql snowflake", [0, 0, 1, 0]),
    ("DATE_DIFF('second', d, e)", "duckdb", [172800, 604800, 172800, 0]),
    ("e - d", "duckdb postgres snowflake", [2, 7, 2, 0]),
    ("DAY(d + 1)", "duckdb postgres snowflake", [2, 3, 31, 2]),
    # missing values
    ("GREATEST(x, 10)", "duckdb postgres spark tsql", ANY),
    ("GREATEST(x, 10)", "bigquery mysql snowflake trino", ALL),
    ("GREATEST_IGNORE_NULLS(x, 10)", "snowflake", ANY),
    ("MAX(x, 10)", "sqlite", ALL),
    ("LEAST(x, 10)", "duckdb postgres spark tsql", [2.5, -2.7, 10, 10]),
    ("LEAST(x, 10)", "bigquery mysql snowflake trino", [2.5, -2.7, None, 10]),
    ("MIN(x, 10)", "sqlite", [2.5, -2.7, None, 10]),
    ("CONCAT(t, '!')", "duckdb postgres tsql sqlite", ["Ash!", "ash tree!", "Öl!", "!"]),
    ("CONCAT(t, '!')", "bigquery mysql snowflake spark trino", ["Ash!", "ash tree!", "Öl!", None]),
    ("t || '!'", "duckdb postgres bigquery snowflake spark sqlite trino", ["Ash!", "ash tree!", "Öl!", None]),
    ("t + '!'", "tsql", ["Ash!", "ash tree!", "Öl!", None]),
    ("CONCAT_WS('-', u, t)", "duckdb postgres mysql", ["ash-Ash", "oak-ash tree", "oak-Öl", "ash"]),
    ("CONCAT_WS('-', u, t)", "snowflake", ["ash-Ash", "oak-ash tree", "oak-Öl", None]),
    ("NVL(x, 0)", "snowflake spark", [2.5, -2.7, 0, 15]),
    ("ISNULL(x, 0)", "tsql", [2.5, -2.7, 0, 15]),
    ("IFNULL(x, 0)", "mysql bigquery sqlite", [2.5, -2.7, 0, 15]),
    # whole numbers
    ("CAST(x AS INT)", "spark tsql sqlite", CUT),
    ("CAST(x AS INT)", "duckdb postgres", EVEN),
    ("CAST(x AS INT)", "bigquery snowflake trino", AWAY),
    ("CAST(x AS SIGNED)", "mysql", EVEN),
    ("CAST(b AS INT)", "spark tsql sqlite trino bigquery duckdb", [1, 0, 1, 0]),
    ("CAST(x > 0 AS INT)", "spark sqlite", [1, 0, None, 1]),
    ("CAST(n AS INT)", "spark sqlite", [1, 2, 1, 2]),
    ("CAST(b AS VARCHAR)", "duckdb postgres trino", ["true", "false", "true", "false"]),
    ("CAST(b AS VARCHAR)", "sqlite tsql", ["1", "0", "1", "0"]),
    ("CAST(x AS DECIMAL(10, 1))", "duckdb postgres mysql tsql", [2.5, -2.7, None, 15]),
    ("CAST(x AS DECIMAL)", "spark tsql mysql trino snowflake", AWAY),
    ("CAST(x AS DECIMAL(10))", "duckdb postgres mysql", AWAY),
    ("CAST(x AS DECIMAL(10, 0))", "sqlite", [2.5, -2.7, None, 15]),
    ("k / 2", "postgres tsql sqlite trino", [3, -3, 0, 7]),
    ("k / 2", "duckdb spark bigquery mysql snowflake", [3.5, -3.5, 0, 7.5]),
    ("k DIV 2", "mysql spark", [3, -3, 0, 7]),
    ("DIV(k, 2)", "bigquery", [3, -3, 0, 7]),
    ("k % 4", "duckdb postgres spark mysql tsql snowflake sqlite trino", [3, -3, 0, 3]),
    ("MOD(k, 4)", "bigquery postgres trino", [3, -3, 0, 3]),
    ("ROUND(x)", "duckdb spark bigquery snowflake sqlite trino", AWAY),
    ("ROUND(k, -1)", "duckdb postgres spark bigquery tsql mysql snowflake trino", [10, -10, 0, 20]),
    ("ROUND(k, -1)", "sqlite", [7, -7, 0, 15]),
    # text
    ("t LIKE 'a%'", "duckdb postgres spark bigquery snowflake trino", [NO, YES, NO, None]),
    ("t LIKE 'a%'", "mysql sqlite tsql", [YES, YES, NO, None]),
    ("t NOT LIKE 'a%'", "mysql sqlite tsql", [NO, NO, YES, None]),
    ("t = 'ASH'", "duckdb postgres spark bigquery snowflake sqlite trino", [NO, NO, NO, None]),
    ("t = 'ASH'", "mysql", [YES, NO, NO, None]),
    ("t <> 'ASH'", "mysql", [NO, YES, YES, None]),
    ("t IN ('ASH', 'x')", "mysql", [YES, NO, NO, None]),
    ("t = 'ol'", "mysql", [NO, NO, YES, None]),
    ("CASE t WHEN 'ASH' THEN 1 ELSE 0 END", "mysql tsql", [1, 0, 0, 0]),
    ("CASE t WHEN 'ASH' THEN 1 ELSE 0 END", "postgres", [0, 0, 0, 0]),
    ("IIF(t IN ('ASH ', 'x'), 1, 0)", "tsql", [1, 0, 0, 0]),
    ("NULLIF(t, 'ASH')", "mysql tsql", [None, "ash tree", "Öl", None]),
    ("NULLIF(t, 'ASH')", "duckdb", ["Ash", "ash tree", "Öl", None]),
    ("INSTR(t, 'A')", "sqlite", [1, 0, 0, None]),
    ("INSTR(t, 'A')", "mysql", [1, 1, 0, None]),
    ("CHARINDEX('A', t)", "tsql", [1, 1, 0, None]),
    ("LENGTH(t)", "duckdb postgres bigquery snowflake spark sqlite trino", [3, 8, 2, None]),
    ("CHAR_LENGTH(t)", "mysql", [3, 8, 2, None]),
    ("LENGTH(u)", "mysql", [3, 3, 3, 3]),
    ("LEN(t + '  ')", "tsql", [3, 8, 2, None]),
    ("SUBSTR(t, 0, 2)", "duckdb postgres sqlite", ["A", "a", "Ö", None]),
    ("SUBSTR(t, 0, 2)", "spark bigquery snowflake", ["As", "as", "Öl", None]),
    ("SUBSTRING(t, 0, 2)", "tsql", ["A", "a", "Ö", None]),
    ("SUBSTR(t, -3)", "duckdb spark bigquery sqlite", ["Ash", "ree", "Öl", None]),
    ("SUBSTR(t, -3)", "mysql trino", ["Ash", "ree", "", None]),
    ("LEFT(t, 2)", "snowflake tsql mysql postgres", ["As", "as", "Öl", None]),
]


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [(text, dialect, expected) for text, dialects, expected in MEANINGS for dialect in dialects.split()],
)
def test_a_piece_means_what_it_means_in_its_dialect(text, dialect, expected):
    assert values(text, dialect) == expected


REFUSALS = [
    ("WEEKDAY(d)", "postgres bigquery tsql snowflake sqlite trino"),
    ("WEEK(d, 2)", "mysql"),
    ("WEEK(d, 1)", "duckdb snowflake"),
    ("note LIKE 'a%'", "mysql sqlite tsql"),
    ("note = 'Ada'", "mysql tsql"),
    ("note IN ('Ada')", "mysql tsql"),
    ("t = u", "mysql tsql"),
    ("t < 'B'", "mysql tsql"),
    ("t LIKE 'ö%'", "sqlite"),
    ("t LIKE 'o%'", "mysql"),
    ("t LIKE '[ab]%'", "tsql"),
    ("REPLACE(t, 'a', 'b')", "tsql"),
    ("LENGTH(t)", "mysql"),
    ("SUBSTR(t, 0, 2)", "mysql trino"),
    ("SUBSTR(t, -1)", "postgres snowflake"),
    ("SUBSTR(t, -3, 2)", "spark sqlite"),
    ("LEFT(t, -1)", "mysql spark"),
    ("CAST(t AS SIGNED)", "mysql"),
    ("CAST(t AS INT)", "sqlite"),
    ("d + 1", "mysql sqlite"),
    ("e - d", "mysql sqlite"),
    ("t || '!'", "mysql"),
    ("k ^ 2", "mysql bigquery spark tsql"),
    ("DATEDIFF(month, d, e)", "spark mysql"),
    ("DATE_DIFF('month', d, e)", "trino"),
    ("TIMESTAMPDIFF(MONTH, d, e)", "mysql spark"),
]


@pytest.mark.parametrize(
    ("text", "dialect"), [(text, dialect) for text, dialects in REFUSALS for dialect in dialects.split()]
)
def test_what_a_dialect_means_otherwise_and_cannot_be_said_is_refused(text, dialect):
    with pytest.raises(InputError):
        expression(text, dialect)


@pytest.mark.parametrize(
    ("text", "dialect", "counted"),
    [
        ("WEEK(d)", "mysql", lambda day: int(day.strftime("%U"))),
        ("EXTRACT(WEEK FROM d)", "bigquery", lambda day: int(day.strftime("%U"))),
        ("EXTRACT(WEEK(MONDAY) FROM d)", "bigquery", lambda day: int(day.strftime("%W"))),
        (
            "DATEPART(week, d)",
            "tsql",
            lambda day: 1 + sum((date(day.year, 1, 1) + timedelta(n)).weekday() == 6 for n in range(1, _nth(day) + 1)),
        ),
    ],
)
def test_weeks_are_counted_right_on_every_day_of_four_years(text, dialect, counted):
    days = [date(2022, 1, 1) + timedelta(n) for n in range(4 * 365 + 1)]
    assert values(text, dialect, [{"d": day} for day in days]) == [counted(day) for day in days]


def _nth(day: date) -> int:
    """How many days of its year are before a day."""
    return (day - date(day.year, 1, 1)).days


@pytest.mark.parametrize("dialect", DIALECTS)
def test_spreads_are_of_samples_but_in_mysql(dialect):
    names = "STDEV(k) AS s" if dialect == "tsql" else "STDDEV(k) AS s, VARIANCE(k) AS v"
    query = parse_sql(f"SELECT {names} FROM visits", SCHEMA, dialect).query
    assert {output.sample for _, output in query.outputs} == {dialect != "mysql"}


@pytest.mark.parametrize(
    ("dialects", "rising", "falling"),
    [
        ("duckdb trino", False, False),
        ("postgres snowflake", False, True),
        ("spark bigquery tsql mysql sqlite", True, False),
    ],
)
def test_missing_groups_stand_where_the_dialect_sorts_them(dialects, rising, falling):
    for dialect in dialects.split():
        for way, first in (("ASC", rising), ("DESC", falling)):
            text = f"SELECT t, COUNT(*) AS n FROM visits GROUP BY t ORDER BY t {way}"
            assert [step.missing_first for step in parse_sql(text, SCHEMA, dialect).presentation.order] == [first]
