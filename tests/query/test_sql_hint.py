"""What is said of SQL that is not understood: the piece, where it stands, and what to write instead."""

import pytest
from sql_schema import SCHEMA

from discreet.errors import InputError
from discreet.query.sql import parse_sql


def test_a_refusal_points_at_the_place():
    with pytest.raises(InputError, match=r"line 2, column.*'pay'"):
        parse_sql("SELECT COUNT(*),\n  pay\nFROM people", SCHEMA)


INSTEAD = {
    "SELECT sex, COUNT(*) FROM people GROUP BY 1": r"column 43\) .*: GROUP BY sex\.",
    "SELECT BIN(age, 10) d, COUNT(*) FROM people GROUP BY 1": r": GROUP BY BIN\(age, 10\)\.",
    "SELECT sex, COUNT(*) FROM people GROUP BY 9": "Name the column instead of its number",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY 2": r": ORDER BY n\.",
    "SELECT sex AS s, COUNT(*) FROM people GROUP BY s": r"GROUP BY sex\.",
    "SELECT\n  * FROM people": r"line 2, column 3\) .*Rows are not shown",
    "SELECT people.* FROM people": "Rows are not shown",
    "SELECT sex FROM people LIMIT 10": r"column 8\) .*Such as GROUP BY sex, or COUNT\(sex\)",
    "SELECT sex FROM people GROUP BY sex": "Such as COUNT",
    "SELECT DISTINCT sex FROM people": "GROUP BY gives every group once",
    "SELECT COUNT(*) FROM people LIMIT 5 OFFSET 5": "cut it yourself",
    "SELECT p.sex, COUNT(*) FROM people AS p GROUP BY p.sex": "Leave out the alias",
    "SELECT COUNT(*) FROM people WHERE people.age > 3": r"Leave out the table: age\.",
    "SELECT AVG(people.age) FROM people": r"Leave out the table: age\.",
    "SELECT COUNT(*) FROM main.people": "Leave out the schema",
    "SELECT COUNT(*) FROM People": "Upper and lower case matter",
    "SELECT COUNT(*) FROM (SELECT * FROM people WHERE age > 3)": "Put the condition into WHERE",
    "SELECT COUNT(*) FROM people JOIN c ON people.county = c.county": r"Write USING \(key\)",
    "SELECT COUNT(1) FROM people": r"COUNT\(\*\) counts rows",
    "SELECT AVG(age) + 1 FROM people": "that is free",
    "SELECT ROUND(AVG(age), 1) FROM people": "that is free",
    "SELECT SUM(age * 2) FROM people": r"under \[derived\]",
    "SELECT SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM people": "into WHERE",
    "SELECT COUNT(*) FILTER (WHERE age > 3) FROM people": "into WHERE",
    "SELECT COUNT(*) OVER (PARTITION BY sex) FROM people": "use GROUP BY",
    "SELECT FLOOR(age / 10), COUNT(*) FROM people GROUP BY FLOOR(age / 10)": r"Such as BIN\(age, 10\)",
    "SELECT YEAR(day), COUNT(*) FROM people GROUP BY YEAR(day)": r"Such as DATE_TRUNC\('year', day\)",
    "SELECT sex, COUNT(*) FROM people GROUP BY ALL": "Name the columns",
    "SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex)": "discreet tree",
    "SELECT COUNT(*) FROM people;": "Leave out the semicolon at the end",
    "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people": "one after the other",
    "SELECT COUNT(*) FROM people -- all": "Leave out the comment",
    "SELECT `sex`, COUNT(*) FROM people GROUP BY `sex`": "double quotes",
    "SELECT COUNT(*) FORM people": "up to line 1, column 27",
    'SELECT COUNT(*) FROM people WHERE sex = "male"': "single quotes",
    "SELECT COUNT(*) FROM people WHERE age = NULL": "IS NULL",
    "SELECT COUNT(*) FROM people WHERE sex LIKE 'f%'": "List the values",
    "EXPLAIN SELECT COUNT(*) FROM people": "--plan",
    "DELETE FROM people": "begins with SELECT",
}


@pytest.mark.parametrize("text", INSTEAD)
def test_a_refusal_says_what_to_write_instead(text):
    with pytest.raises(InputError, match=INSTEAD[text]):
        parse_sql(text, SCHEMA)
