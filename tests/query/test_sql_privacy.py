"""SQL that names its own price, limits and bounds, as Google's does: read alike, and the rest is plain SQL."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema, Text, Unit
from discreet.errors import InputError
from discreet.query.aggregate import total
from discreet.query.sql import parse_sql
from discreet.query.sql_privacy import read_private

COLUMNS = {
    "patient": Integer(0, 10**6),
    "county": Category(["a", "b"]),
    "cost": Integer(0, 1000, nullable=False),
    "town": Text(),
}
SCHEMA = Schema("visits", COLUMNS, Unit("patient", groups=2, rows=4))
CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({}) county, COUNT(*) AS n FROM visits GROUP BY county"


def read(text: str, dialect: str = "bigquery"):
    return parse_sql(text, SCHEMA, dialect)


@pytest.mark.parametrize("dialect", ["bigquery", "duckdb"])
def test_what_is_left_is_plain_sql(dialect):
    begun = "SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) county, "
    text = begun + "ANON_AVG(cost + 1 CLAMPED BETWEEN 0 AND 500) a FROM visits GROUP BY 1"
    plain = "SELECT county, AVG(CLIP(cost + 1, 0, 500)) a FROM visits GROUP BY 1"
    assert read(text, dialect).query == read(plain, dialect).query
    arrow = "SELECT county, AVG(cost + 1, contribution_bounds_per_row => (0, 500)) a FROM visits GROUP BY 1"
    assert read(arrow, dialect).query == read(plain, dialect).query
    untouched = "SELECT COUNT(*) AS clamped FROM visits"
    assert read_private(untouched, SCHEMA, dialect).text == untouched


def test_price_and_limits_are_those_of_the_statement():
    said = "epsilon = 0.5, delta = 1e-7, privacy_unit_column = v.`patient`, max_groups_contributed = 1"
    statement = read(CLAUSE.format(said))
    assert statement.price == {"epsilon": Fraction(1, 2)}  # declared groups take no delta
    assert statement.query.limited(SCHEMA).unit.groups == 1
    found = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = .5, delta = 1e-7) town, COUNT(*) FROM visits GROUP BY town"
    )
    assert read(found).price == {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**7)}
    assert (
        read(CLAUSE.format("kappa = 2, group_selection_strategy = PUBLIC_GROUPS")).query.limited(SCHEMA).unit.groups
        == 2
    )
    assert read(CLAUSE.format("max_rows_contributed = 5")).query.limited(SCHEMA).unit.rows_total == 5
    few = read("SELECT COUNT(*, contribution_bounds_per_group => (0, 3)) AS n FROM visits")
    assert few.query.limited(SCHEMA).unit.rows == 3


@pytest.mark.parametrize(
    "text",
    [
        CLAUSE.format("epsilon = 1, privacy_unit_column = doctor"),
        CLAUSE.format("epsilon = 1, secret = 3"),
        CLAUSE.format("epsilon"),
        CLAUSE.format("epsilon = 1, max_groups_contributed = 0"),
        CLAUSE.format("epsilon = one"),
        CLAUSE.format("epsilon = 1").replace("(epsilon = 1)", "(epsilon = 1"),
        "SELECT ANON_SUM(cost CLAMPED BETWEEN 0) FROM visits",
        "SELECT ANON_AVG(CLAMPED BETWEEN 0 AND 5) FROM visits",
        "SELECT AVG(cost, contribution_bounds_per_row => 5) FROM visits",
        "SELECT COUNT(*, contribution_bounds_per_group => (1, 3)) FROM visits",
        "SELECT COUNT(*) FROM (SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) cost FROM visits)",
        CLAUSE.format("epsilon = 1").replace("visits", "(SELECT WITH ANONYMIZATION cost FROM visits)"),
    ],
)
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(InputError):
        read(text)


def test_bounds_of_a_sum_are_of_a_persons_sum():
    for text in (
        "SELECT ANON_SUM(cost CLAMPED BETWEEN 0 AND 5) AS s FROM visits",
        "SELECT SUM(cost, contribution_bounds_per_group => (0, 5)) AS s FROM visits",
        "SELECT SUM(PERSON_BOUNDS(cost, 0, 5)) AS s FROM visits",
    ):
        assert dict(parse_sql(text, SCHEMA).query.outputs)["s"] == total("cost", person=(0, 5))
    row = parse_sql("SELECT SUM(cost, contribution_bounds_per_row => (0, 5)) AS s FROM visits", SCHEMA)
    assert dict(row.query.outputs)["s"].person is None
    with pytest.raises(InputError, match="PERSON_BOUNDS"):
        parse_sql("SELECT SUM(PERSON_BOUNDS(cost, 0)) AS s FROM visits", SCHEMA)


@pytest.mark.parametrize(
    "call", ["SUM(cost, contribution_bounds_per_group => (10, 100))", "ANON_SUM(cost CLAMPED BETWEEN 10 AND 100)"]
)
def test_a_grouped_sum_is_that_of_the_bounded_sums_of_persons(tmp_path, call):
    """As Google's rewriting has it: SUM by person and group, bounds, SUM; who has missing values only adds nothing."""
    schema = Schema("visits", {**COLUMNS, "cost": Integer(0, 1000)}, Unit("patient", groups=2, rows=4))
    rows = {"patient": [1, 1, 2, 2, 3, 4, 4], "county": list("aaabbba"), "cost": [90, 90, 3, None, 40, 5, None]}
    table = pyarrow.table({**rows, "town": ["x"] * 7})
    desk = discreet.open(table, schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**9), create=True)
    clause = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e8) county, {call} AS s FROM visits GROUP BY county"
    release = desk.sql(clause, dialect="bigquery").plan().release()
    database = duckdb.connect()
    database.register("visits", table)
    expected = """
        SELECT county, SUM(CASE WHEN s IS NOT NULL THEN LEAST(GREATEST(s, 10), 100) END) FROM
        (SELECT county, patient, SUM(cost) AS s FROM visits GROUP BY 1, 2) GROUP BY county ORDER BY county"""
    assert [(row["county"], row["s"]) for row in release.rows()][:2] == database.execute(expected).fetchall()


def test_limits_beside_a_statement_do_not_contradict_it(tmp_path):
    table = pyarrow.table({"patient": [1], "county": ["a"], "cost": [5], "town": ["x"]})
    desk = discreet.open(table, SCHEMA, ledger=tmp_path / "l.db", budget=Budget(epsilon=10), create=True)
    question = desk.sql(CLAUSE.format("epsilon = 1, max_groups_contributed = 1"), dialect="bigquery")
    assert question.limits(groups=1, rows=2).query.person_limits.rows == 2
    with pytest.raises(InputError, match="as the statement says"):
        question.limits(groups=3)


def test_the_stated_price_is_paid_and_no_other(tmp_path):
    table = pyarrow.table({"patient": [1, 1, 2], "county": ["a", "a", "b"], "cost": [5, 6, 7], "town": ["x"] * 3})
    desk = discreet.open(table, SCHEMA, ledger=tmp_path / "l.db", budget=Budget(epsilon=10_000), create=True)
    question = desk.sql(CLAUSE.format("epsilon = 4000"), dialect="bigquery")
    assert question.plan().plan.charge.amount == 4000
    assert question.plan(epsilon=4000).release()["n"] == [2, 1, 0]
    with pytest.raises(InputError, match="as the statement says"):
        question.plan(epsilon=3)
    with pytest.raises(InputError, match="as the statement says"):
        question.plan(share=0.5)
    with pytest.raises(InputError, match="exactly one of"):
        desk.sql(CLAUSE.format("delta = 1e-6"), dialect="bigquery").plan()


def test_brackets_are_matched_once_and_nested_so_deep_at_most():
    wide = "SELECT ANON_SUM(" + "+".join(["(cost)"] * 500) + ") AS n FROM visits"
    assert read_private(wide, SCHEMA, "duckdb").text == wide.replace("ANON_", "")
    deep = "SELECT ANON_SUM(" + "ABS(" * 500 + "cost" + ")" * 500 + ") AS n FROM visits"
    with pytest.raises(InputError, match="nested at most 100 deep"):
        read(deep)
    with pytest.raises(InputError, match="not closed"):
        read("SELECT ANON_SUM(cost FROM visits")


@pytest.mark.parametrize(
    "said",
    [
        "epsilon = 0.5, epsilon = 7",
        "max_groups_contributed = 1, kappa = 2",
        "max_groups_contributed = " + "9" * 5000,
        "max_rows_contributed = " + "9" * 5000,
        "epsilon = 1e999999999",
        "epsilon = " + "9" * 5000,
    ],
)
def test_an_option_is_said_once_and_with_few_digits(said):
    with pytest.raises(InputError):
        read(CLAUSE.format(said))


def test_bounds_have_few_digits():
    for most in ("9" * 5000, "9" * 30):
        with pytest.raises(InputError):
            read(f"SELECT COUNT(*, contribution_bounds_per_group => (0, {most})) AS n FROM visits")
