"""Spellings of aggregates that are computed of others, or called otherwise elsewhere; what is refused has a way out."""

from __future__ import annotations

import re

import numpy as np
import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Boolean, Category, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import mean, std, variance
from discreet.query.quantile import quantile
from discreet.query.sql import parse_sql

SCHEMA = Schema(
    "t",
    {
        "x": Real(0, 100, nullable=True),
        "y": Integer(0, 50, nullable=True),
        "g": Category(["a", "b", "c"], nullable=True),
        "f": Boolean(nullable=False),
        "s": Text(),
    },
)


@pytest.fixture(scope="module")
def table():
    chance = np.random.default_rng(4)
    x = [None if chance.random() < 0.1 else float(each) for each in chance.uniform(0, 100, 3000)]
    y = [None if chance.random() < 0.1 else int(each) for each in chance.integers(0, 51, 3000)]
    g = [["a", "b", None][int(each)] for each in chance.integers(0, 3, 3000)]
    return pyarrow.table({"x": x, "y": y, "g": g, "f": [label == "a" for label in g], "s": ["z"] * 3000})


@pytest.fixture(scope="module")
def curator(table, tmp_path_factory):
    ledger = tmp_path_factory.mktemp("regression") / "books.db"
    return open_curator(table, SCHEMA, ledger=ledger, budget=Budget(epsilon=10**9), create=True)


@pytest.mark.parametrize("name", ["REGR_SXX", "REGR_SXY", "REGR_SYY"])
def test_sums_of_squares_and_products_are_those_of_complete_pairs(curator, table, name):
    pairs = [(y, x) for x, y in zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True) if None not in (x, y)]
    y, x = (np.array(each, dtype=float) - np.mean(each) for each in zip(*pairs, strict=True))
    truth = {"REGR_SXX": (x * x).sum(), "REGR_SXY": (x * y).sum(), "REGR_SYY": (y * y).sum()}[name]
    (row,) = curator.sql(f"SELECT {name}(y, x) AS o FROM t").plan(epsilon=10**5).release().rows()
    assert row["o"] == pytest.approx(truth, rel=1e-3, abs=2000)
    assert row["o_lower"] <= row["o"] <= row["o_upper"]


@pytest.mark.parametrize(
    ("written", "output"),
    [
        ("VARP(x)", variance("x")),
        ("VAR(x)", variance("x", sample=True)),
        ("STDEVP(x)", std("x")),
        ("STDEV(x)", std("x", sample=True)),
        ("MEAN(x)", mean("x")),
        ("PERCENTILE(x, 0.9)", quantile("x", 0.9)),
        ("APPROX_PERCENTILE(x, 0.9)", quantile("x", 0.9)),
        ("QUANTILE_CONT(x, 0.9)", quantile("x", 0.9)),
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "tsql", "postgres"])
def test_other_spellings_mean_the_same(written, output, dialect):
    query = parse_sql(f"SELECT {written} FROM t", SCHEMA, dialect).query
    assert [each for _, each in (*query.outputs, *query.ordered)] == [output]


@pytest.mark.parametrize("words", ["g, f", "(g, f)", "f, g", "g, y // 10", "g, f, y // 25"])
def test_combinations_of_values_are_counted(curator, table, words):
    rows = table.to_pylist()
    parts = {"g": lambda row: row["g"], "f": lambda row: row["f"]}
    parts |= {f"y // {by}": lambda row, by=by: None if row["y"] is None else row["y"] // by for by in (10, 25)}
    seen = {tuple(parts[name](row) for name in words.strip("()").split(", ")) for row in rows}
    (row,) = curator.sql(f"SELECT COUNT(DISTINCT {words}) AS n FROM t").plan(epsilon=10**5).release().rows()
    assert row["n"] == len({each for each in seen if words.startswith("(") or None not in each})


def test_combinations_of_filtered_rows_are_counted(curator):
    asked = curator.sql("SELECT COUNT(DISTINCT g, f) FILTER (WHERE g = 'a') AS n FROM t")
    assert asked.plan(epsilon=10**5).release().rows()[0]["n"] == 1


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("COUNT(DISTINCT g, s)", "COUNT(DISTINCT s)"),
        ("COUNT(DISTINCT x, g)", "COUNT(DISTINCT x)"),
        ("SUM(DISTINCT y)", "COUNT(DISTINCT y)"),
        ("QUANTILE_CONT(x, [0.25, 0.5])", "QUANTILE_CONT(x, 0.25), QUANTILE_CONT(x, 0.5)"),
        ("PERCENTILE_CONT([0.25, 0.5]) WITHIN GROUP (ORDER BY x)", "QUANTILE_CONT(x, 0.25), QUANTILE_CONT(x, 0.5)"),
        ("KURTOSIS(x)", "QUANTILE_CONT(column, 0.1), MEDIAN(column), QUANTILE_CONT(column, 0.9)"),
        ("SKEWNESS(x)", "QUANTILE_CONT(column, 0.1), MEDIAN(column), QUANTILE_CONT(column, 0.9)"),
        ("GEOMEAN(x)", "AVG(column)"),
        ("PRODUCT(x)", "MEDIAN(column)"),
        ("BOOL_OR(f)", "COUNT_IF(condition)"),
        ("STD(x)", "STDDEV_POP(column)"),
        ("SEM(x)", "STDDEV(column)"),
        ("TOTAL(x)", "SUM(column)"),
        ("SUM_IF(x, f)", "SUM(column) FILTER (WHERE condition)"),
        ("APPROX_TOP_COUNT(g, 2)", "COUNT(*)"),
    ],
)
def test_what_is_refused_has_a_hint_that_is_accepted(statement, words):
    with pytest.raises(InputError) as caught:
        parse_sql(f"SELECT {statement} FROM t", SCHEMA)
    assert words in caught.value.hint
    assert "Did you mean" not in str(caught.value)
    assert "CASE WHEN" not in str(caught.value)
    parse_sql(f"SELECT {re.sub('column', 'x', words).replace('condition', 'f')} FROM t", SCHEMA)


def test_pieces_with_other_columns_are_refused():
    for words in ("REGR_SXX(y)", "REGR_SXY(y, s)", "COUNT(DISTINCT *)", "REGR_SXX(DISTINCT y, x)"):
        with pytest.raises(InputError):
            parse_sql(f"SELECT {words} FROM t", SCHEMA)


def test_a_person_among_others_is_refused_with_a_way_out():
    schema = Schema("t", dict(SCHEMA.columns), Unit("p", groups=1, rows=1))
    with pytest.raises(InputError):
        parse_sql("SELECT COUNT(DISTINCT p, g) FROM t", schema)
