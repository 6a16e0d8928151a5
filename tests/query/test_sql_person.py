"""Subqueries that are grouped by the person: what they are read as, and what is refused."""

import pytest
from sql_schema import SCHEMA

from discreet.errors import InputError
from discreet.query.aggregate import count, mean
from discreet.query.question import Query
from discreet.query.sql import parse_sql


def read(text):
    return parse_sql(text, SCHEMA).query


def test_a_subquery_grouped_by_the_person_is_a_table_of_persons():
    query = read("SELECT AVG(n) AS a FROM (SELECT person, COUNT(*) AS n FROM people WHERE age > 20 GROUP BY person) p")
    expected = Query().where("age > 20").per_person(n="count(*)").agg(a=mean("n"))
    assert query == expected.checked(SCHEMA)


def test_with_and_having_and_names_are_read():
    query = read("""
        WITH p AS (SELECT person AS who, LEAST(COUNT(*), 9) AS n, SUM(pay) / COUNT(pay) AS typical FROM people
                   GROUP BY 1 HAVING COUNT(DISTINCT county) > 1)
        SELECT CASE WHEN n > 2 THEN 'many' ELSE 'few' END AS crowd, COUNT(*) AS k
        FROM p WHERE typical > 10 GROUP BY crowd""")
    assert [str(each) for _, each in query.persons.columns] == [
        "count(*)",
        "sum(pay)",
        "count(pay)",
        "distinct(county)",
    ]
    assert [name for name, _ in query.persons.columns] == ["n", "sum", "count", "distinct"]
    assert query.outputs == (("k", count()),)


def test_distinct_persons_are_a_table_of_persons():
    assert read("SELECT COUNT(*) AS n FROM (SELECT DISTINCT person FROM people)").persons.columns == ()
    keyed = read("SELECT sex, COUNT(*) AS n FROM (SELECT DISTINCT person, sex FROM people) GROUP BY sex")
    assert keyed.persons.keys == (("sex", "sex"),)


def test_a_subquery_of_a_subquery_keeps_its_persons():
    query = read("SELECT AVG(m) FROM (SELECT n * 2 AS m FROM (SELECT person, COUNT(*) n FROM people GROUP BY person))")
    assert query.persons.columns[0][0] == "n"
    assert query.outputs[0][1] == mean("n * 2")


def test_conditions_within_an_aggregate_are_read():
    query = read("""SELECT SUM(a) FROM (SELECT person, COUNT(*) FILTER (WHERE age > 50) AS a,
                    COUNT_IF(sex = 'male') AS b, MAX(CASE WHEN pay > 9 THEN 1 ELSE 0 END) AS c, BOOL_OR(age > 90) AS d
                    FROM people GROUP BY person)""")
    assert [each.of for _, each in query.persons.columns] == ["count", "count", "max", "max"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELECT AVG(n) FROM (SELECT sex, age FROM people GROUP BY sex, age) a JOIN b USING (c)", "SELECT keys"),
        ("SELECT AVG(n) FROM (SELECT person, MEDIAN(pay) AS n FROM people GROUP BY person)", "SUM, AVG"),
        ("SELECT AVG(n) FROM (SELECT person, COUNT(*) + 1 FROM people GROUP BY person)", "Use AS"),
        ("SELECT AVG(n) FROM (SELECT person, COUNT(*) n FROM people GROUP BY 3)", "from 1 to 2"),
        ("SELECT AVG(n) FROM (SELECT person, RANK() OVER () n FROM people GROUP BY person)", "windows"),
        ("SELECT AVG(m) FROM (SELECT person, COUNT(*) n FROM people GROUP BY person)", "declared column"),
        ("SELECT AVG(n) FROM (SELECT person, COUNT(*) n FROM people GROUP BY person LIMIT 5)", "SELECT keys"),
    ],
)
def test_what_is_no_table_of_persons_is_refused(text, word):
    with pytest.raises(InputError, match=word):
        read(text)
