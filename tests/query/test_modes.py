"""The most frequent value as an output: of which columns, in JSON, in SQL and on the command line."""

from __future__ import annotations

import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.modes import Mode, mode
from discreet.query.notation import read_outputs
from discreet.query.question import Query
from discreet.query.sql import parse_sql

SCHEMA = Schema(
    "visits",
    {
        "ward": Category(["a", "b", "c"], nullable=True),
        "age": Integer(0, 9, nullable=False),
        "new": Boolean(nullable=False),
        "day": Date("2024-01-30", "2024-02-02", nullable=True),
        "pay": Real(0, 9, nullable=False),
        "note": Text(),
        "at": Timestamp("2024-01-01", "2024-01-02", "UTC"),
        "far": Integer(0, 10**6, nullable=False),
    },
    Unit("id", groups=1, rows=1),
)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("ward", ["a", "b", "c"]),
        ("age", list(range(10))),
        ("new", [False, True]),
        ("day", ["2024-01-30", "2024-01-31", "2024-02-01", "2024-02-02"]),
        ("age // 5 * 5", [0, 5]),
        ("upper(ward)", ["A", "B", "C"]),
        ("month(day)", [1, 2]),
    ],
)
def test_it_is_chosen_from_declared_values_and_a_missing_one_is_none(column, values):
    ((_, output),) = Query().agg(m=mode(column)).checked(SCHEMA).ordered
    labels = output.values(SCHEMA).labels(SCHEMA)
    assert [str(label) if hasattr(label, "year") else label for label in labels] == values


def test_what_a_condition_rules_out_is_not_chosen():
    checked = Query().where("ward <> 'b'").agg(m=mode("ward")).checked(SCHEMA)
    assert checked.ordered[0][1].values(SCHEMA, checked.condition).labels(SCHEMA) == ["a", "c"]


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        ("note", r'top\(discover\("note"\), k=1\)'),
        ("pay", r'mode\("round\(pay\)"\)'),
        ("at", "date_trunc"),
        ("far", "far // 100"),
        ("war", "ward"),
    ],
)
def test_other_columns_are_refused_with_what_would_do(column, hint):
    with pytest.raises(InputError, match=f"(?s)`mode` must be.*{hint}"):
        Query().agg(m=mode(column)).checked(SCHEMA)


@pytest.mark.parametrize("column", ["round(pay)", "date_trunc('day', at)", "far // 100"])
def test_what_hints_say_is_accepted(column):
    assert Query().agg(m=mode(column)).checked(SCHEMA).ordered


def test_json_is_read_back():
    query = Query().group_by("new").agg(m=mode("ward")).checked(SCHEMA)
    assert query.to_dict()["outputs"] == {"m": {"of": "mode", "column": "ward"}}
    assert Query.from_json(query.to_json(), SCHEMA) == query
    for strange in ({"of": "mode"}, {"of": "mode", "column": 3}, {"of": "mode", "column": "ward", "q": 1}):
        with pytest.raises(InputError, match="outputs"):
            Mode.from_dict(strange)


@pytest.mark.parametrize(
    "words", ["MODE(ward)", "mode() WITHIN GROUP (ORDER BY ward)", "MODE() WITHIN GROUP (ORDER BY ward DESC)"]
)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_sql_has_a_word_for_it(words, dialect):
    assert parse_sql(f"SELECT {words} FROM visits", SCHEMA, dialect).query.ordered == (("mode_ward", Mode("ward")),)


def test_sql_filters_it_and_computes_with_it():
    ((_, output),) = parse_sql("SELECT MODE(ward) FILTER (WHERE age > 3) FROM visits", SCHEMA).query.ordered
    assert output.values(SCHEMA).labels(SCHEMA) == ["a", "b", "c"]
    parse_sql("SELECT new, MODE(ward) m FROM visits GROUP BY new HAVING MODE(ward) = 'a' ORDER BY m", SCHEMA)
    parse_sql("SELECT MODE(age) + 1 FROM visits", SCHEMA)


@pytest.mark.parametrize(
    "words", ["MODE()", "MODE(DISTINCT age)", "MODE(age) WITHIN GROUP (ORDER BY age)", "MODE(note)"]
)
def test_sql_refuses_others(words):
    with pytest.raises(InputError):
        parse_sql(f"SELECT {words} FROM visits", SCHEMA)


def test_the_command_line_has_a_word_for_it():
    assert read_outputs(["mode(ward)", "usual=mode(age)"]) == {"mode_ward": Mode("ward"), "usual": Mode("age")}


def test_a_window_that_computes_with_labels_is_refused_before_anything_is_spent():
    with pytest.raises(InputError, match="a window over numbers"):
        parse_sql("SELECT new, SUM(MODE(ward)) OVER () FROM visits GROUP BY new", SCHEMA)
    parse_sql("SELECT new, RANK() OVER (ORDER BY MODE(ward)) FROM visits GROUP BY new", SCHEMA)
    parse_sql("SELECT new, SUM(MODE(age)) OVER () FROM visits GROUP BY new", SCHEMA)
