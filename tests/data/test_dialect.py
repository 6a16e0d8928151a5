"""Engines that cannot run here: what they would be told is SQL of their own, and means what it should.

The text for BigQuery, Snowflake and Trino is read back in its own dialect and uses only functions the engine documents.
Translated by sqlglot, with the few functions DuckDB lacks defined from their documentation, it runs on DuckDB and gives
the very integers of tests/query/test_engines.py.
"""

from __future__ import annotations

import functools
import re

import duckdb
import ibis
import ibis.expr.operations as ops
import pytest
import sqlglot
from engine_cases import KINDS as EVERY_KIND
from engine_cases import Case, on_duckdb, parquet, rows, schema
from sqlglot import exp

from dirty import SALT
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Text
from discreet.data.schema import Schema
from discreet.data.view import Lookup, widened
from discreet.query.aggregate import count, people, total
from discreet.query.compile import compile_query
from discreet.query.grid import grid_for
from discreet.query.key import key
from discreet.query.question import Query
from discreet.query.tally import compile_tally

OLD = int(sqlglot.__version__.split(".")[0]) < 30
pytestmark = pytest.mark.skipif(OLD, reason="translating these dialects takes sqlglot 30 or newer")
DIALECTS = ["bigquery", "snowflake", "trino"]
LONG = ["aggregates", "tables of persons", "keys of rows"]
KINDS = [kind for kind in EVERY_KIND if kind != "times"]  # how these engines have seconds is still to be looked up

# What each engine documents, of what a question needs. A new name here is a function someone looked up.
COMMON = {"CAST", "SUM", "COUNT", "LEAST", "GREATEST", "FLOOR", "ABS", "LOWER", "COALESCE"}
COMMON |= {"DENSE_RANK", "ROW_NUMBER", "LEAD", "MIN", "MAX"}
DOCUMENTED = {
    "bigquery": COMMON
    | {"IF", "IS_NAN", "IEEE_DIVIDE", "MOD", "DATE", "UNIX_SECONDS", "FARM_FINGERPRINT", "TRUNC"}
    | {"REPLACE"},
    "snowflake": COMMON
    | {"IFF", "BITAND", "BITOR", "BITXOR", "BITSHIFTRIGHT", "BITSHIFTLEFT", "HASH", "DATE_FROM_PARTS", "DATE_PART"}
    | {"TRUNC", "REPLACE", "TO_BINARY"},
    "trino": COMMON
    | {"IF", "IS_NAN", "BITWISE_AND", "BITWISE_OR", "BITWISE_XOR", "BITWISE_RIGHT_SHIFT", "BITWISE_LEFT_SHIFT"}
    | {"TO_UNIXTIME", "FROM_BIG_ENDIAN_64", "XXHASH64", "TO_UTF8", "DATE", "FROM_ISO8601_DATE", "REPLACE"},
}
# Functions DuckDB lacks, as their documentation has them; hashes may be any.
MACROS = """
CREATE MACRO bitwise_right_shift(x, n) AS ((x >> n) & ((1::BIGINT << (64 - n)) - 1));
CREATE MACRO bitwise_left_shift(x, n) AS (x::BIGINT << n);
CREATE MACRO ieee_divide(a, b) AS (a::DOUBLE / b::DOUBLE);
CREATE MACRO farm_fingerprint(x) AS ((hash(x) >> 1)::BIGINT - (1::BIGINT << 61));
CREATE MACRO to_utf8(x) AS encode(x);
CREATE MACRO to_binary(x, form) AS encode(x);
CREATE MACRO xxhash64(x) AS x;
CREATE MACRO from_big_endian_64(x) AS ((hash(x) >> 1)::BIGINT - (1::BIGINT << 61));
"""


class Elsewhere:
    """Stands for an engine that is not here."""

    def __init__(self, name: str) -> None:
        self.name = name


@functools.cache
def table_on(dialect: str):
    with on_duckdb().open() as connection:
        columns = connection.table.schema()
    return ops.DatabaseTable(
        name="visits", schema=columns, source=Elsewhere(dialect), namespace=ops.Namespace()
    ).to_expr()


@functools.cache
def statement(dialect: str, kind: str, place: int) -> str:
    case = cases(kind)[place]
    return str(
        ibis.to_sql(compile_query(case.checked, case.schema, case.measures, table_on(dialect), SALT), dialect=dialect)
    )


@functools.cache
def parsed(sql: str, dialect: str) -> exp.Expression:
    """The text read back; to be looked at, not changed."""
    return sqlglot.parse_one(sql, read=dialect)


@functools.cache
def cases(kind: str) -> list[Case]:
    return EVERY_KIND[kind]()


@functools.cache
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = 'UTC'; CREATE TABLE visits AS SELECT * FROM '{parquet()}'")
    connection.execute(MACROS)
    return connection


def _encoded(node: exp.Expression) -> exp.Expression:
    """BigQuery casts text to its bytes in UTF-8, where DuckDB would read escapes."""
    if isinstance(node, exp.Cast) and node.to.is_type("binary", "varbinary", "blob"):
        return exp.Anonymous(this="encode", expressions=[node.this])
    return node


def translated(sql: str, dialect: str) -> dict[int, list[int]]:
    text = parsed(sql, dialect).transform(_encoded).sql("duckdb")
    return {place: list(values) for place, *values in database().execute(text).fetchall()}


def places(dialect: str, kind: str) -> list[int]:
    """The cases of a kind that are tried; of those with very long texts each dialect has some, and together all."""
    every = range(len(cases(kind)))
    return list(every[DIALECTS.index(dialect) :: 3] if kind in LONG else every)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_text_means_what_it_should(dialect, kind):
    for place in places(dialect, kind):
        case = cases(kind)[place]
        assert translated(statement(dialect, kind, place), dialect) == case.expected(), case.query


@pytest.mark.large
@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_long_texts_mean_it_in_every_dialect(dialect, kind):
    for place, case in enumerate(cases(kind)):
        assert translated(statement(dialect, kind, place), dialect) == case.expected(), case.query


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_documented_functions(dialect):
    for kind in KINDS:
        for place in places(dialect, kind):
            text = re.sub(r"'(?:[^'\\]|''|\\.)*'", "''", statement(dialect, kind, place))
            text = re.sub(r'"[^"]*"|`[^`]*`', "x", text)  # names may look like anything
            called = {name.upper() for name in re.findall(r"\b([A-Za-z_][A-Za-z_0-9]*)\(", text)}
            types = {"DECIMAL", "NUMERIC", "BIGNUMERIC", "VARCHAR", "OVER", "IN", "AND", "OR"}
            assert called - types <= DOCUMENTED[dialect], called - types - DOCUMENTED[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_persons_are_limited_in_the_text(dialect):
    case = Case(
        Query(None, (key("short"),), (("who", people()), ("n", count()), ("t", total("n")))),
        schema(Unit("who", groups=2, rows=3)),
    )
    expression = compile_query(case.checked, case.schema, case.measures, table_on(dialect), SALT)
    sql = str(ibis.to_sql(expression, dialect=dialect))
    tree = parsed(sql, dialect)
    windows = [w for w in tree.find_all(exp.Window) if isinstance(w.this, exp.DenseRank)]
    assert windows
    assert all(w.args["partition_by"][0].name == "person" and w.args["order"] is not None for w in windows)
    conditions = " ".join(where.sql() for where in tree.find_all(exp.Where))
    assert re.search(r'"place" < 2\b', conditions)
    for column in ("group", "person"):
        assert re.search(rf'(NOT [^()]*"{column}" IS NULL|"{column}" IS NOT NULL)', conditions)
    highest = {int(n.this) for node in tree.find_all(exp.Least) for n in node.find_all(exp.Literal) if n.this.isdigit()}
    assert {3, 15, 2**62} <= highest  # rows, their sum, and what noise has room around
    found = translated(sql, dialect)
    assert sum(values[0] for values in found.values()) > 0
    persons = {row["who"] for row in rows() if row["who"] is not None}
    assert sum(values[0] for values in found.values()) <= 2 * len(persons)
    assert all(values[1] <= 3 * values[0] for values in found.values())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_in_the_text_can_fail_on_a_row(dialect):
    for kind in KINDS:
        for place in places(dialect, kind):
            tree = parsed(statement(dialect, kind, place), dialect)
            # A division is by a constant or by one at least; a sum is of decimals, which have room.
            for divided in tree.find_all(exp.Div, exp.Mod):
                floors = [n.this for g in divided.expression.find_all(exp.Greatest) for n in g.expressions]
                assert not list(divided.expression.find_all(exp.Column)) or "1" in floors
            assert all(isinstance(s.this, exp.Cast) for s in tree.find_all(exp.Sum))
            assert not list(tree.find_all(exp.Limit, exp.Join, exp.Unnest, exp.TryCast))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_looked_up_columns_repeat_no_row(dialect):
    regions = Lookup(
        "short",
        {"short": ["a", "A", "é"], "region": ["n", "s", None]},
        {"region": Category(["n", "s"], nullable=False)},
    )
    declared = Schema("t", {"short": Text()}, lookups={"regions": regions})
    wide = widened(table_on(dialect), declared.lookups, {}, declared.columns)
    query = Query(None, (key("region"),), (("n", count()),)).checked(declared)
    measures = [m for _, a in query.outputs for m in a.measures(declared)]
    sql = str(ibis.to_sql(compile_query(query, declared, measures, wide, SALT), dialect=dialect))
    wanted = {0: [sum(r["short"] == "a" for r in rows())], 1: [sum(r["short"] == "A" for r in rows())]}
    assert translated(sql, dialect) == wanted


def test_a_change_of_meaning_is_caught():
    wanted = cases("keys of persons")[0].expected()
    text = statement("trino", "keys of persons", 0)
    assert translated(text, "trino") == wanted
    for old, new in [("< 2", "< 1"), ("IS_NAN", "NOT IS_NAN"), (">= ", "> "), ("BITWISE_XOR", "BITWISE_AND")]:
        assert old in text
        assert translated(text.replace(old, new), "trino") != wanted, old


@pytest.mark.parametrize("unit", [Unit(), Unit("p", groups=2, rows=3), Unit("p", groups=2, rows=3, rows_total=4)])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_bins_of_quantiles_mean_what_they_should(dialect, unit):
    """Persons are whole numbers here: of text, each engine has a hash of its own."""
    declared = Schema("t", {"m": Integer(0, 100, nullable=True), "n": Integer(-3, 5, nullable=False)}, unit)
    query = Query(None, (key("n"),), (("rows", count()),)).checked(declared)
    grid, salt = grid_for(declared.columns["m"], 16), list(range(1_000_003, 1_000_013))

    def tallied(table):
        return compile_tally(query, declared, "m", grid, table, salt)

    with on_duckdb().open() as connection:
        wanted = connection.integers(tallied(connection.table))
    sql = str(ibis.to_sql(tallied(table_on(dialect)), dialect=dialect))
    found = database().execute(parsed(sql, dialect).transform(_encoded).sql("duckdb")).fetchall()
    assert sorted(found) == sorted(zip(*(column.tolist() for column in wanted.values()), strict=True))
    assert len(found) > 9
