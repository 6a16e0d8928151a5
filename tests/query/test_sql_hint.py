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
    "SELECT COUNT(*) OVER (PARTITION BY sex) FROM people": "use GROUP BY",
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
