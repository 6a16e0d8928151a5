"""What cannot be computed of released rows is refused while it is free, whichever branch the noise would take."""

import pytest
from sql_schema import SCHEMA

from discreet.errors import InputError
from discreet.query.sql import parse_sql

MIXED = [
    "SELECT sex, (SELECT MODE(county) FROM people) > 5 AS z, COUNT(*) AS n FROM people GROUP BY sex",
    "SELECT sex, (SELECT MODE(county) FROM people) * 2 AS z, COUNT(*) AS n FROM people GROUP BY sex",
    "SELECT (SELECT MODE(day) FROM people WHERE age > 3) + 1 AS z, COUNT(*) AS n FROM people",
    "SELECT n / (SELECT MODE(county) FROM people) AS z FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex)",
    "SELECT sex, CASE WHEN COUNT(*) > 100 THEN 'many' ELSE COUNT(*) END AS z FROM people GROUP BY sex",
    "SELECT sex, CASE WHEN COUNT(*) < 100 THEN '<100' ELSE COUNT(*) END AS z FROM people GROUP BY sex ORDER BY z",
    "SELECT sex, IF(COUNT(*) > 100, 'many', COUNT(*)) AS z FROM people GROUP BY sex",
    "SELECT sex, CASE WHEN COUNT(*) > 100 THEN DATE '2024-01-01' ELSE COUNT(*) END AS z FROM people GROUP BY sex",
    "SELECT sex, CASE WHEN COUNT(*) > 100 THEN sex ELSE COUNT(*) END AS z FROM people GROUP BY sex",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY CASE WHEN sex = 'male' THEN COUNT(*) ELSE sex END",
    "SELECT COALESCE(AVG(pay), 'none') AS z FROM people",
    "SELECT CASE WHEN COUNT(*) > 100 THEN TRUE ELSE COUNT(*) END AS z FROM people",
    "SELECT CASE WHEN n > 9 THEN 'x' ELSE n END AS z FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex)",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING COUNT(*) > 3 AND sex = 5",
    "SELECT 'a' AS w, COUNT(*) AS n FROM people UNION ALL SELECT 5, COUNT(*) FROM people ORDER BY w",
    "SELECT 'a' AS w, MODE(county) AS n FROM people UNION ALL SELECT 'b', COUNT(*) FROM people ORDER BY n",
]
OF_ONE_TYPE = [
    "SELECT sex, CASE WHEN COUNT(*) > 100 THEN 'many' ELSE 'few' END AS z FROM people GROUP BY sex",
    "SELECT (SELECT MODE(county) FROM people) || 'x' AS z, COUNT(*) AS n FROM people",
    "SELECT COALESCE(sex, 'all') AS s, county, COUNT(*) AS n FROM people GROUP BY ROLLUP(sex, county) ORDER BY s",
    "SELECT 'a' AS w, COUNT(*) AS n FROM people UNION ALL SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY w",
    "SELECT sex, CASE WHEN MEDIAN(day) > DATE '2024-05-01' THEN COUNT(*) END AS z FROM people GROUP BY sex",
]


@pytest.mark.parametrize("text", MIXED)
def test_values_of_several_types_are_refused_before_anything_is_spent(text):
    with pytest.raises(InputError, match="one type"):
        parse_sql(text, SCHEMA)


@pytest.mark.parametrize("text", OF_ONE_TYPE)
def test_values_of_one_type_are_computed(text):
    assert parse_sql(text, SCHEMA).query is not None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT county AS n_lower, COUNT(*) AS n FROM people GROUP BY county",
        "SELECT COUNT(*) + 1 AS x, SUM(pay) AS x_lower FROM people",
        "SELECT COUNT(*) AS x, SUM(pay) AS x_lower FROM people",
        "SELECT sex AS x_upper, COUNT(*) + 1 AS x FROM people GROUP BY sex",
        "SELECT 'a' AS x_lower, COUNT(*) AS x FROM people",
        "SELECT m + 1 AS x, s AS x_lower FROM (SELECT COUNT(*) AS m, SUM(pay) AS s FROM people)",
    ],
)
def test_names_that_ends_of_intervals_have_are_refused(text):
    with pytest.raises(InputError, match="an end of the interval of"):
        parse_sql(text, SCHEMA)
