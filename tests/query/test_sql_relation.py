"""The rows a statement is about: tables under other names, public tables joined, subqueries that map and filter."""

from __future__ import annotations

import pytest

from discreet.data.column import Category, Integer, Real
from discreet.data.schema import Schema
from discreet.data.view import Lookup
from discreet.errors import InputError
from discreet.query.sql import parse_sql

REGIONS = Lookup(
    "county", {"county": ["Ash", "Elm"], "region": ["north", "south"]}, {"region": Category(["north", "south"])}
)
SCHEMA = Schema(
    "visits",
    {"county": Category(["Ash", "Elm", "Oak"]), "age": Integer(0, 120), "cost": Real(0, 100)},
    lookups={"regions": REGIONS},
)


def question(text):
    return parse_sql(text, SCHEMA).query.to_dict()


@pytest.mark.parametrize(
    "join",
    [
        "JOIN regions USING (county)",
        "JOIN regions ON visits.county = regions.county",
        "INNER JOIN regions r ON r.county = visits.county",
        "join REGIONS AS r on (VISITS.county = r.COUNTY)",
    ],
)
def test_a_public_table_is_joined_as_people_write_it(join):
    told = question(f"SELECT region, COUNT(*) AS n FROM visits {join} GROUP BY region")
    assert told["where"] == {"column": "county", "is": "in", "values": ["Ash", "Elm"]}
    left = question(f"SELECT region, COUNT(*) AS n FROM visits LEFT {join.replace('INNER ', '')} GROUP BY region")
    assert left["where"] is None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits JOIN regions ON visits.age = regions.county",
        "SELECT COUNT(*) FROM visits JOIN regions ON visits.county = regions.region",
        "SELECT COUNT(*) FROM visits JOIN regions ON visits.county <> regions.county",
        "SELECT COUNT(*) FROM visits RIGHT JOIN regions USING (county)",
        "SELECT COUNT(*) FROM visits FULL JOIN regions USING (county)",
        "SELECT COUNT(*) FROM visits CROSS JOIN regions",
        "SELECT COUNT(*) FROM visits, regions",
        "SELECT COUNT(*) FROM regions",
        "SELECT COUNT(*) FROM visits JOIN visits v USING (county)",
        "SELECT COUNT(*) FROM (SELECT age + 1 FROM visits) t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT age FROM visits) t",
        "SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY age LIMIT 3) t",
        "WITH visits AS (SELECT age FROM visits) SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM (SELECT age FROM visits UNION SELECT age FROM visits) t",
        "SELECT COUNT(*) FROM visits v WHERE visits.age > 3",
    ],
)
def test_other_rows_are_refused(text):
    with pytest.raises(InputError, match="must be"):
        parse_sql(text, SCHEMA)


def test_columns_of_a_subquery_stand_for_what_they_are():
    told = question(
        "WITH a AS (SELECT age / 10 AS tens, cost * 2 AS twice, county FROM visits WHERE age >= 20) "
        "SELECT county, AVG(twice) AS m FROM (SELECT * FROM a WHERE tens < 5) b WHERE b.twice > 3 GROUP BY county"
    )
    assert [part["column"] for part in told["where"]["all"]] == ["age", "age / 10", "cost * 2"]
    assert told["outputs"] == {"m": {"of": "mean", "column": "cost * 2"}}


def test_subqueries_that_double_a_column_again_and_again_are_refused():
    for doubled, first in (("x + x", "cost"), ("x || x", "county"), ("CASE WHEN x > 1 THEN x ELSE x END", "cost")):
        views = [f"t0 AS (SELECT {first} AS x FROM visits)"]
        views += [f"t{i} AS (SELECT {doubled} AS x FROM t{i - 1})" for i in range(1, 60)]
        with pytest.raises(InputError, match="at most 50,000 pieces"):
            parse_sql(f"WITH {', '.join(views)} SELECT COUNT(x) AS n FROM t59", SCHEMA)


def test_a_long_chain_of_subqueries_is_one_of_rows():
    views = ["t0 AS (SELECT * FROM visits)", *(f"t{i} AS (SELECT * FROM t{i - 1})" for i in range(1, 60))]
    plain = question("SELECT COUNT(*) AS n FROM visits")
    assert question(f"WITH {', '.join(views)} SELECT COUNT(*) AS n FROM t59") == plain
