"""A statement about a released table: rows chosen, numbers computed and added up in a second step."""

from dataclasses import replace

import pytest
from sql_schema import SCHEMA

from discreet.core.release import Release
from discreet.errors import InputError
from discreet.query.sql import parse_sql

COUNTS = "(SELECT county, sex, COUNT(*) AS n FROM people GROUP BY county, sex) t"
TABLE = Release(
    id="r",
    dataset="people",
    columns={
        "county": ["Ash", "Ash", "Oak", "Oak"],
        "sex": ["female", "male"] * 2,
        "n": [5, 7, 20, 30],
        "n_lower": [4, 6, 19, 29],
        "n_upper": [6, 8, 21, 31],
    },
    keys=("county", "sex"),
    outputs=("n",),
    confidence=0.95,
    cost="",
    mechanism="",
    digest="",
)


def shown(text):
    statement = parse_sql(text, SCHEMA)
    made = statement.presentation.apply(TABLE)
    return [tuple(row[name] for name in (*made.keys, *made.outputs)) for row in made.rows()], made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT * FROM {COUNTS} WHERE n > 6 ORDER BY n DESC LIMIT 2", [("Oak", "male", 30), ("Oak", "female", 20)]),
        (f"SELECT county, SUM(n) AS s FROM {COUNTS} GROUP BY county", [("Ash", 12), ("Oak", 50)]),
        (f"SELECT county, COUNT(*) AS k FROM {COUNTS} WHERE n > 6 GROUP BY 1 ORDER BY k", [("Ash", 1), ("Oak", 2)]),
        (f"SELECT MAX(n) - MIN(n) AS d FROM {COUNTS}", [(25,)]),
        (f"SELECT county, AVG(n) AS a FROM {COUNTS} GROUP BY county HAVING SUM(n) > 20", [("Oak", 25)]),
        (f"SELECT sex FROM {COUNTS} QUALIFY RANK() OVER (ORDER BY n DESC) = 1", [("male",)]),
        (f"SELECT m FROM (SELECT n * 2 AS m FROM {COUNTS}) u WHERE m > 50", [(60,)]),
    ],
)
def test_what_is_done_with_a_released_table(text, expected):
    assert shown(text)[0] == expected


def test_sums_of_released_rows_have_an_interval():
    _, made = shown(f"SELECT county, SUM(n) AS s FROM {COUNTS} GROUP BY county")
    assert made["s_lower"] == [pytest.approx(12 - 2**0.5), pytest.approx(50 - 2**0.5)]


def test_the_question_is_that_of_the_subquery():
    with_name = f"WITH t AS {COUNTS[:-2]} SELECT SUM(n) AS s FROM t"
    inner = parse_sql("SELECT county, sex, COUNT(*) AS n FROM people GROUP BY county, sex", SCHEMA).query
    assert parse_sql(with_name, SCHEMA).query == inner


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (f"SELECT m FROM {COUNTS}", "Did you mean|released table"),
        (f"SELECT SUM(county) AS s FROM {COUNTS}", "not of its keys"),
        (f"SELECT MEDIAN(n) AS s FROM {COUNTS}", "SUM, AVG"),
        (f"SELECT sex, SUM(n) AS s FROM {COUNTS}", "GROUP BY"),
        (f"SELECT county FROM {COUNTS} WHERE n > 'x'", "one type"),
        (f"SELECT county FROM {COUNTS} WHERE SUM(n) > 3", "condition"),
        (f"SELECT county FROM {COUNTS} LIMIT 'x'", "LIMIT"),
        (f"SELECT county FROM {COUNTS} JOIN areas USING (county)", "SELECT"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_spent(text, word):
    with pytest.raises(InputError, match=word):
        parse_sql(text, SCHEMA)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"SELECT AVG(n) AS a, MIN(n) AS low, SUM(n) AS s, MAX(n) AS high FROM {COUNTS}", {"a", "low"}),
        (f"SELECT county, COUNT(*) AS k FROM {COUNTS} GROUP BY county", {"k"}),
        ("SELECT AVG(n) AS a FROM (SELECT COUNT(*) AS n FROM people GROUP BY county, sex) t", {"a"}),
        (
            "SELECT county, sex, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r, LAG(COUNT(*)) OVER (ORDER BY "
            "sex) AS l, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM people GROUP BY county, sex",
            {"r", "l"},
        ),
        (f"SELECT SUM(n) AS s FROM {COUNTS}", set()),
    ],
)
def test_numbers_over_groups_say_that_empty_groups_count(text, names):
    notes = [note for note in shown(text)[1].notes if note.kind == "empty"]
    assert {name for note in notes for name in note.outputs} == names
    assert all(note.text.startswith("Computed over the 4 groups") for note in notes)


def test_groups_that_were_found_have_rows_and_need_no_such_note():
    found = replace(TABLE, query={"group_by": [{"column": "county", "discover": True}]})
    made = parse_sql(f"SELECT AVG(n) AS a FROM {COUNTS}", SCHEMA).presentation.apply(found)
    assert made.notes == ()
