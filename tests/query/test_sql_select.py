"""What one statement asks: levels of groups, unions, windows, and subqueries about public tables."""

from datetime import date

import pyarrow
import pytest
from sql_schema import SCHEMA

import discreet
from discreet import Budget
from discreet.data.column import Date, Integer
from discreet.data.expression.domain import metered
from discreet.data.schema import Schema
from discreet.data.view import Lookup
from discreet.errors import InputError
from discreet.query.key import key
from discreet.query.predicate import IsIn
from discreet.query.sql import parse_sql
from discreet.query.union import Union

AREAS = Lookup("county", {"county": ["Ash", "Oak", "Elm"], "size": ["3", "9", None]}, {"size": Integer(0, 10)})
WIDE = Schema(SCHEMA.name, SCHEMA.stored, SCHEMA.unit, {"areas": AREAS})


def query(text, schema=SCHEMA, dialect="duckdb"):
    return parse_sql(text, schema, dialect).query


def levels(text, dialect="duckdb"):
    found = query(f"SELECT sex, county, COUNT(*) AS n FROM people GROUP BY {text}", dialect=dialect)
    return [[each.column for each in part.query.keys] for part in found.parts]


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("ROLLUP (sex, county)", "duckdb", [["sex", "county"], ["sex"], []]),
        ("sex, county WITH ROLLUP", "mysql", [["sex", "county"], ["sex"], []]),
        ("CUBE (sex, county)", "duckdb", [["sex", "county"], ["sex"], ["county"], []]),
        ("GROUPING SETS ((sex, county), sex, ())", "duckdb", [["sex", "county"], ["sex"], []]),
        ("sex, ROLLUP (county)", "duckdb", [["sex", "county"], ["sex"]]),
        ("ROLLUP ((sex, county))", "duckdb", [["sex", "county"], []]),
    ],
)
def test_levels_of_groups_are_several_questions(text, dialect, expected):
    assert levels(text, dialect) == expected


def test_grouping_says_which_key_is_rolled_up():
    found = query("SELECT sex, GROUPING(sex) AS g, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex)")
    assert [part.constants for part in found.parts] == [(("grouping_1", 0),), (("grouping_1", 1),)]


def test_a_union_takes_the_names_of_its_first_select():
    found = parse_sql(
        "SELECT 'a' AS what, sex AS k, COUNT(*) AS n FROM people GROUP BY sex "
        "UNION ALL SELECT 'b', county, COUNT(*) FROM people GROUP BY county ORDER BY n DESC LIMIT 3",
        SCHEMA,
    )
    assert isinstance(found.query, Union)
    assert [part.query.keys[0].title for part in found.query.parts] == ["k", "k"]
    assert [dict(part.constants) for part in found.query.parts] == [{"what": "a"}, {"what": "b"}]
    assert found.presentation.limit == 3
    assert found.presentation.order[0].column == "n"


def test_what_stands_before_a_union_is_known_to_all_of_it():
    found = query(
        "WITH a AS (SELECT * FROM people WHERE age > 20) SELECT COUNT(*) AS n FROM a "
        "UNION ALL SELECT COUNT(*) FROM a WHERE sex = 'male'"
    )
    assert [part.query.condition is not None for part in found.parts] == [True, True]


def test_subqueries_about_public_tables_are_lists():
    count = "SELECT COUNT(*) AS n FROM people WHERE county"
    small = IsIn("county", ("Ash",))
    assert query(f"{count} IN (SELECT county FROM areas WHERE size < 5)", WIDE).condition == small
    exists = (
        "SELECT COUNT(*) AS n FROM people p WHERE EXISTS (SELECT 1 FROM areas a WHERE a.county = p.county AND size < 5)"
    )
    assert query(exists, WIDE).condition == small
    largest = query("SELECT COUNT(*) AS n FROM people WHERE hours < (SELECT MAX(size) FROM areas)", WIDE).condition
    assert largest.value == 9
    nobody = query(f"{count} IN (SELECT county FROM areas WHERE size > 50)", WIDE)
    assert nobody.condition is not None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELECT sex, COUNT(*) FROM people GROUP BY CUBE (sex, county, age, hours, day, pay, person)", "64"),
        ("SELECT COUNT(*) FROM people UNION ALL SELECT sex, COUNT(*) FROM people GROUP BY sex", "1 columns"),
        ("SELECT sex, COUNT(*) FROM people GROUP BY sex UNION ALL SELECT COUNT(*), SUM(pay) FROM people", "column 1"),
        ("SELECT COUNT(*) n FROM people UNION ALL SELECT COUNT(*) * 2 FROM people", "plain SELECT"),
        ("SELECT COUNT(*) n FROM people UNION ALL SELECT COUNT(*) FROM people ORDER BY m", "ORDER BY"),
        ("SELECT COUNT(*) FROM people WHERE county IN (SELECT county FROM people)", "public table"),
        ("SELECT COUNT(*) FROM people WHERE pay > (SELECT AVG(pay) FROM people)", "public table"),
        ("SELECT GROUPING(sex), COUNT(*) FROM people GROUP BY sex", "GROUPING"),
        ("SELECT RANK() OVER (), COUNT(*) FROM people", "ORDER BY"),
        ("SELECT REGR_COUNT(pay, age) OVER (ORDER BY sex) FROM people GROUP BY sex", "RANK"),
        (
            "SELECT SUM(COUNT(*)) OVER (ORDER BY sex ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) "
            "FROM people GROUP BY sex",
            "PRECEDING",
        ),
        ("SELECT pay, RANK() OVER (ORDER BY pay) FROM people", "GROUP BY"),
    ],
)
def test_what_is_not_understood_is_refused(text, word):
    with pytest.raises(InputError, match=word):
        query(text)


def test_names_of_keys_are_published():
    assert key("age // 10", name="decade").title == "decade"


def test_a_column_of_days_is_grouped_by_its_declared_days(tmp_path):
    table = pyarrow.table({"day": [date(2024, 2, 28), date(2024, 3, 1), date(2024, 3, 1), None]})
    schema = Schema("visits", {"day": Date("2024-02-28", "2024-03-01")})
    desk = discreet.open(table, schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**6), create=True)
    found = desk.sql("SELECT day, COUNT(*) AS n FROM visits GROUP BY day").plan(epsilon=10**5).release()
    assert (found["day"], found["n"]) == (["2024-02-28", "2024-02-29", "2024-03-01", None], [1, 0, 2, 1])


def test_a_statement_of_very_many_computed_columns_is_refused_and_fewer_are_read_once():
    schema = Schema("t", {"n": Integer(0, 99)})
    sums = [f"SUM(CASE WHEN n > {i} THEN ABS(n - {i}) ELSE n * {i} END) AS s{i}" for i in range(60)]
    with metered(20_000), pytest.raises(InputError, match="fewer computed columns"):
        parse_sql(f"SELECT {', '.join(sums)} FROM t", schema)
    with metered(20_000):
        assert len(parse_sql(f"SELECT {', '.join(sums[:3])} FROM t", schema).query.outputs) == 3
    assert len(parse_sql(f"SELECT {', '.join(sums)} FROM t", schema).query.outputs) == 60
