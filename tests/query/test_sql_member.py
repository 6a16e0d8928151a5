"""Persons chosen by a subquery about the table itself: each counts once, or the statement is refused."""

import pytest
from sql_schema import SCHEMA

from discreet.errors import InputError
from discreet.query.sql import parse_sql

COUNTED = "SELECT COUNT(DISTINCT person) AS n FROM people WHERE person IN (SELECT person FROM people {})"


@pytest.mark.parametrize(
    "rest", ["", "WHERE age > 20", "GROUP BY person HAVING COUNT(*) > 3", "GROUP BY 1 HAVING COUNT(*) > 3"]
)
def test_persons_of_a_subquery_are_a_table_of_persons_alone(rest):
    assert parse_sql(COUNTED.format(rest), SCHEMA).query.persons.keys == ()


@pytest.mark.parametrize(
    "text",
    [
        COUNTED.format("GROUP BY person, county HAVING COUNT(*) > 3"),
        COUNTED.format("GROUP BY 1, county"),
        COUNTED.format("HAVING COUNT(*) > 3"),
        "SELECT COUNT(DISTINCT p.person) FROM people p WHERE EXISTS "
        "(SELECT COUNT(*) FROM people q WHERE q.person = p.person AND q.age > 90)",
        "SELECT COUNT(DISTINCT p.person) FROM people p WHERE EXISTS "
        "(SELECT MAX(age) FROM people q WHERE q.person = p.person)",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person FROM people GROUP BY person, sex)",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person FROM people GROUP BY person, sex HAVING COUNT(*) > 2)",
        "SELECT sex, COUNT(*) FROM (SELECT DISTINCT person, sex FROM people GROUP BY person, sex, county) GROUP BY sex",
    ],
)
def test_groups_that_would_count_a_person_several_times_are_refused(text):
    with pytest.raises(InputError):
        parse_sql(text, SCHEMA)


def test_distinct_changes_nothing_where_all_groups_are_shown():
    plain = "SELECT sex, COUNT(*) AS n FROM (SELECT {}person, sex FROM people GROUP BY person, sex) GROUP BY sex"
    assert parse_sql(plain.format("DISTINCT "), SCHEMA).query == parse_sql(plain.format(""), SCHEMA).query
