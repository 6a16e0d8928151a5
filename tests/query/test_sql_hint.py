"""What is said of SQL that is not understood: the piece, where it stands, and what to write instead."""

import pytest
from sql_schema import SCHEMA

from discreet.errors import InputError
from discreet.query.sql import parse_sql


def test_a_refusal_points_at_the_place():
    with pytest.raises(InputError, match=r"line 2, column.*'pay'"):
        parse_sql("SELECT COUNT(*),\n  pay\nFROM people", SCHEMA)


INSTEAD = {
    "SELECT sex, COUNT(*) FROM people GROUP BY 9": "number of a column from 1 to 2",
    "SELECT\n  * FROM people": r"line 2, column 3\) .*Rows are not shown",
    "SELECT people.* FROM people": "Rows are not shown",
    "SELECT sex FROM people LIMIT 10": r"column 8\) .*Such as GROUP BY sex, or COUNT\(sex\)",
    "SELECT sex FROM people GROUP BY sex": r"declared ones are public.*COUNT\(\*\) in SQL",
    "SELECT DISTINCT sex FROM people": "declared ones are public",
    "SELECT COUNT(*) FROM people JOIN c ON people.county = c.county": "Declare it in the schema",
    "SELECT COUNT(*) OVER (PARTITION BY sex) FROM people": "Such as GROUP BY sex",
    "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people": "one after the other",
    "SELECT `sex`, COUNT(*) FROM people GROUP BY `sex`": "double quotes",
    "SELECT COUNT(*) FORM people": "up to line 1, column 27",
    'SELECT COUNT(*) FROM people WHERE sex = "male"': "single quotes",
    "SELECT COUNT(*) FROM people WHERE age = NULL": "IS NULL",
    "EXPLAIN SELECT COUNT(*) FROM people": "--plan",
    "DELETE FROM people": "begins with SELECT",
}


@pytest.mark.parametrize("text", INSTEAD)
def test_a_refusal_says_what_to_write_instead(text):
    with pytest.raises(InputError, match=INSTEAD[text]):
        parse_sql(text, SCHEMA)


# A refusal, what its hint says, and the statement that follows it.
FOLLOWED = [
    ("SELECT sex FROM people", "GROUP BY sex", "SELECT sex, COUNT(*) FROM people GROUP BY sex"),
    ("SELECT sex FROM people", "COUNT(sex)", "SELECT COUNT(sex) FROM people"),
    ("SELECT pay FROM people", "GROUP BY BIN(pay, 100)", "SELECT COUNT(*) FROM people GROUP BY BIN(pay, 100)"),
    (
        "SELECT pay, COUNT(*) FROM people GROUP BY pay",
        "BIN(pay, 100)",
        "SELECT COUNT(*) FROM people GROUP BY BIN(pay, 100)",
    ),
    (
        "SELECT * FROM people",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex",
    ),
    ("SELECT MIN(pay) FROM people", "QUANTILE_CONT(column, 0.01)", "SELECT QUANTILE_CONT(pay, 0.01) FROM people"),
    ("SELECT DISTINCT sex FROM people", "COUNT(*)", "SELECT sex, COUNT(*) FROM people GROUP BY sex"),
    ("SELECT AVG(hours / pay) FROM people", "GREATEST(x, 0.01)", "SELECT AVG(hours / GREATEST(pay, 0.01)) FROM people"),
    (
        "SELECT AVG(hours / NULLIF(pay, 0)) FROM people",
        "CASE WHEN x >= 0.01 THEN y / x END",
        "SELECT AVG(CASE WHEN pay >= 0.01 THEN hours / pay END) FROM people",
    ),
    ("SELECT COUNT(*) FROM people WHERE age = NULL", "IS NULL", "SELECT COUNT(*) FROM people WHERE age IS NULL"),
    (
        "SELECT STDDEV(pay) OVER () FROM people",
        "SUM(COUNT(*)) OVER ()",
        "SELECT SUM(COUNT(*)) OVER () FROM people",
    ),
    (
        "SELECT COUNT(*), SUM(pay) + 1, COUNT(*) FROM people",
        "Use AS",
        "SELECT COUNT(*) AS a, SUM(pay) + 1 AS b, COUNT(*) AS c FROM people",
    ),
    (
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) + 1 FROM people GROUP BY person)",
        "Use AS",
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) + 1 AS n FROM people GROUP BY person)",
    ),
    (
        "SELECT AVG(pay) FROM people WHERE person IN (SELECT person FROM people GROUP BY person HAVING COUNT(*) > 1)",
        "SELECT COUNT(*) FROM (SELECT person FROM people GROUP BY person HAVING COUNT(*) > 1) AS p",
        "SELECT COUNT(*) FROM (SELECT person FROM people GROUP BY person HAVING COUNT(*) > 1) AS p",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE pay > (SELECT AVG(pay) FROM people)",
        "a question of its own",
        "SELECT AVG(pay) FROM people",
    ),
    (
        "SELECT STRFTIME(day, '%c') AS m, COUNT(*) FROM people GROUP BY m",
        "STRFTIME(day, '%Y-%m')",
        "SELECT STRFTIME(day, '%Y-%m') AS m, COUNT(*) FROM people GROUP BY m",
    ),
    (
        "SELECT sex, COUNT(*) FROM people GROUP BY sex INTERSECT SELECT sex, COUNT(*) FROM people GROUP BY sex",
        "UNION ALL",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex UNION ALL SELECT sex, COUNT(*) FROM people GROUP BY sex",
    ),
    ("SELECT CUONT(*) FROM people", "`COUNT`", "SELECT COUNT(*) FROM people"),
    ("SELECT SUM(payy) FROM people", "`pay`", "SELECT SUM(pay) FROM people"),
    ("SELECT COUNT(*) FROM poeple", "`people`", "SELECT COUNT(*) FROM people"),
    (
        "SELECT sex, COUNT(*) AS many FROM people GROUP BY sex ORDER BY mny",
        "`many`",
        "SELECT sex, COUNT(*) AS many FROM people GROUP BY sex ORDER BY many",
    ),
    (
        "SELECT UPER(sex) AS u, COUNT(*) FROM people GROUP BY u",
        "`UPPER`",
        "SELECT UPPER(sex) AS u, COUNT(*) FROM people GROUP BY u",
    ),
]


@pytest.mark.parametrize(("text", "hint", "followed"), FOLLOWED)
def test_a_hint_that_is_followed_is_accepted(text, hint, followed):
    with pytest.raises(InputError) as refused:
        parse_sql(text, SCHEMA)
    assert hint in str(refused.value)
    parse_sql(followed, SCHEMA)


def test_a_misspelt_column_of_the_select_list_is_answered_with_the_one_that_was_meant():
    with pytest.raises(InputError, match="Did you mean `pay`"):
        parse_sql("SELECT payy FROM people", SCHEMA)
