"""Totals beside groups, and aliases of columns: as DuckDB has them at a huge epsilon, with intervals that hold."""

import datetime
import random

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sql_schema import SCHEMA

import discreet
from discreet.core.release import ALL
from discreet.data.expression.read import read_expression
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.formula import Formula
from discreet.query.over import Over
from discreet.query.sql import parse_sql
from discreet.query.union import Union

SOURCE = random.Random(7)
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(366)]
ROWS = pa.Table.from_pylist(
    [
        {
            "person": index // 2,
            "age": SOURCE.randint(0, 100),
            "sex": SOURCE.choice(["female", "male"]),
            "hours": SOURCE.randint(0, 80),
            "pay": SOURCE.randint(0, 1000) / 1,
            "day": SOURCE.choice(DAYS),
            "county": SOURCE.choice(["Ash", "Oak"]),
        }
        for index in range(300)
    ]
)


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    schema = Schema.from_dict({**SCHEMA.to_dict(), "unit": {"column": "person", "groups": 400, "rows": 2}})
    ledger = tmp_path_factory.mktemp("totals") / "ledger.db"
    budget = discreet.Budget(epsilon=10**15)
    return discreet.open(ROWS, schema, ledger=ledger, budget=budget, create=True)


def answers(curator, text, dialect="duckdb"):
    made = curator.sql(text, dialect=dialect).plan(epsilon=10**9).release()
    names = [name for name in made.columns if not name.endswith(("_lower", "_upper"))]
    rows = [tuple(row[name] for name in names) for row in made.rows()]
    return sorted([tuple(_plain(value) for value in row) for row in rows], key=str)


def _plain(value):
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    return round(float(value), 3) if isinstance(value, int | float) and not isinstance(value, bool) else value


def same_as_duckdb(curator, text, meant="", dialect="duckdb"):
    with duckdb.connect() as database:
        database.register("people", ROWS)
        expected = [tuple(map(_plain, row)) for row in database.execute(meant or text).fetchall()]
    assert answers(curator, text, dialect) == sorted(expected, key=str)


TOTALS = [
    "SELECT sex, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM people) AS share FROM people GROUP BY sex",
    "SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM people) AS p FROM people WHERE age > 50",
    "SELECT sex, COUNT(*) * 1.0 / MAX(s.n) AS share FROM people CROSS JOIN (SELECT COUNT(*) AS n FROM people) s "
    "GROUP BY sex",
    "SELECT sex, COUNT(*) * 1.0 / s.n AS share FROM people, (SELECT COUNT(*) AS n FROM people) s GROUP BY sex, s.n",
    "SELECT g.sex, g.n * 1.0 / s.n AS share FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) g "
    "CROSS JOIN (SELECT COUNT(*) AS n FROM people) s",
    "WITH s AS (SELECT SUM(pay) AS paid FROM people) SELECT sex, SUM(pay) / s.paid AS share FROM people, s "
    "GROUP BY sex, s.paid",
    "WITH s AS (SELECT SUM(pay) AS paid FROM people) SELECT sex, SUM(pay) / (SELECT paid FROM s) AS share "
    "FROM people GROUP BY sex",
    "SELECT county, SUM(pay) AS p FROM people GROUP BY county HAVING SUM(pay) > (SELECT SUM(pay) * 0.1 FROM people)",
    "SELECT (SELECT COUNT(*) FROM people WHERE sex = 'female') * 1.0 / (SELECT COUNT(*) FROM people) AS share",
    "SELECT sex, AVG(pay) - (SELECT AVG(pay) FROM people) AS more, (SELECT COUNT(*) FROM people) AS n "
    "FROM people GROUP BY sex",
]
KEYS = [
    "SELECT COALESCE(sex, 'total') AS s, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex)",
    "SELECT CASE WHEN GROUPING(sex) = 1 THEN 'all' ELSE sex END AS s, COUNT(*) AS n FROM people GROUP BY CUBE (sex)",
    "SELECT sex, county, GROUPING(sex, county) AS g, COUNT(*) AS n FROM people GROUP BY CUBE (sex, county)",
    "SELECT UPPER(sex) AS s, COUNT(*) AS n FROM people GROUP BY sex",
]
MEMBERS = [
    "SELECT COUNT(DISTINCT person) AS n FROM people WHERE person IN (SELECT person FROM people GROUP BY person "
    "HAVING COUNT(*) > 1)",
    "SELECT COUNT(DISTINCT person) AS n FROM people WHERE person IN (SELECT person FROM people WHERE pay > 500)",
    "SELECT COUNT(DISTINCT p.person) AS n FROM people p WHERE EXISTS (SELECT 1 FROM people u WHERE "
    "u.person = p.person AND u.pay > 500)",
]
DAYS = [
    "SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) AS n FROM people GROUP BY m",
    "SELECT ISOYEAR(day) AS y, COUNT(*) AS n FROM people GROUP BY y",
]
ALIASES = [
    "SELECT a, COUNT(*) AS n FROM (SELECT sex, age + 1 FROM people) AS c(a, b) WHERE b > 50 GROUP BY a",
    "WITH c(a, b) AS (SELECT sex, age FROM people) SELECT a, AVG(b) AS m FROM c GROUP BY a",
    "SELECT s, n FROM (SELECT sex, COUNT(*) FROM people GROUP BY sex) AS t(s, n) WHERE n > 5",
    "SELECT c, COUNT(*) AS persons FROM (SELECT person, COUNT(*) FROM people GROUP BY person) AS t(p, c) "
    "WHERE c > 1 GROUP BY c HAVING COUNT(*) > 0",
]


@pytest.mark.parametrize("text", [*TOTALS, *KEYS, *MEMBERS, *DAYS, *ALIASES])
def test_numbers_are_those_of_duckdb(curator, text):
    same_as_duckdb(curator, text)


def test_a_total_is_a_question_of_its_own_and_merged_where_it_is_the_same():
    apart = parse_sql(TOTALS[0], SCHEMA).query
    assert isinstance(apart, Union)
    assert len(apart.parts) == 2
    text = "SELECT SUM(pay) / (SELECT COUNT(*) FROM people) AS m FROM people"
    assert not isinstance(parse_sql(text, SCHEMA).query, Union)


def test_a_row_about_all_values_is_told_from_a_missing_value(curator):
    made = curator.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex)").plan(epsilon=1).release()
    assert [cells[0] for cells in made.cells()] == ["female", "male", ALL]
    assert made.to_dict()["absent"] == {"sex": [2]}
    again = curator.release(made.id)
    assert [cells[0] for cells in again.cells()][-1] == ALL


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT sex, (SELECT COUNT(*) FROM people GROUP BY sex) FROM people GROUP BY sex", "a subquery of one number"),
        ("SELECT COUNT(*) * 1.0 / (SELECT sex FROM people) FROM people", "GROUP BY sex"),
        ("SELECT COALESCE(hours, 'total'), COUNT(*) FROM people GROUP BY ROLLUP (hours)", "values of one type"),
        ("SELECT a FROM (SELECT sex, age FROM people) AS c(a, b, d)", "at most 2 different names"),
        ("SELECT a FROM (SELECT sex, age FROM people) AS c(a, a)", "different names"),
        (
            "SELECT sex, COUNT(*) / (SELECT COUNT(*) FROM people u WHERE u.sex = p.sex) FROM people p GROUP BY sex",
            "FROM",
        ),
    ],
)
def test_what_is_no_total_and_no_alias_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        parse_sql(text, SCHEMA)


def test_sums_of_shares_move_with_the_total_they_have_in_common():
    statement = parse_sql(
        "SELECT sex, SUM(COUNT(*) * 1.0 / (SELECT COUNT(*) FROM people)) OVER () AS s FROM people GROUP BY sex", SCHEMA
    )
    assert [over.common for each in statement.presentation.formulas for over in each.overs] == [True]
    source, misses = np.random.default_rng(5), {True: 0, False: 0}
    truth = np.array([900.0, 100.0])
    for _ in range(400):
        noisy, total = truth + source.normal(0, 1, 2), 1000 + source.normal(0, 40)
        half = 1.96 * np.sqrt((1 / total) ** 2 + (noisy * 40 / total**2) ** 2)
        rows = [
            {"f": n / total, "f_lower": n / total - h, "f_upper": n / total + h}
            for n, h in zip(noisy, half, strict=True)
        ]
        for common in misses:
            over = Over("w", "f", common=common)
            made = Formula("s", read_expression("w"), (over,)).columns(rows, ["f"])
            misses[common] += not made["s_lower"][0] <= 1 <= made["s_upper"][0]
    assert misses[True] <= 0.09 * 400
    assert misses[False] > misses[True]


@pytest.mark.parametrize(
    "chosen",
    [
        "person IN (SELECT person FROM people GROUP BY person, county HAVING COUNT(*) > 3)",
        "person IN (SELECT person FROM people GROUP BY ALL)",
        "person IN (SELECT person FROM people HAVING COUNT(*) > 3)",
        "EXISTS (SELECT COUNT(*) FROM people q WHERE q.person = p.person AND q.age > 90)",
        "EXISTS (SELECT MAX(age) FROM people q WHERE q.person = p.person)",
    ],
)
def test_a_subquery_in_which_persons_are_not_once_or_always_is_refused(chosen):
    """Pairs are no persons, and an aggregate without GROUP BY is one row about anybody."""
    with pytest.raises(InputError, match="subquery"):
        parse_sql(f"SELECT COUNT(DISTINCT p.person) AS n FROM people p WHERE {chosen}", SCHEMA)


def test_a_row_of_values_counts_where_one_is_missing_and_several_columns_do_not(tmp_path):
    rows = pa.table({"a": ["x", "y", None] * 4, "b": [1, None, 2, 3] * 3})
    schema = Schema("t", {"a": discreet.Category(["x", "y"]), "b": discreet.Integer(0, 5)})
    curator = discreet.open(
        rows, schema, ledger=tmp_path / "b.db", budget=discreet.Budget(10**9), who="ann", create=True
    )
    expected = duckdb.sql("SELECT COUNT(DISTINCT (a, b)) FROM rows").fetchall()[0][0]
    for text, known in (("(a, b)", expected), ("a, b", 6)):
        release = curator.sql(f"SELECT COUNT(DISTINCT {text}) AS n FROM t").plan(epsilon=10**5).release()
        assert release["n"] == [known]
