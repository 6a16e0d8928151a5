"""Statements that are refused, and what their hints say to write instead."""

from __future__ import annotations

from sql_schema import SCHEMA as PEOPLE

from discreet.core.unit import Unit
from discreet.data.column import Category, Date, Integer
from discreet.data.schema import Schema
from discreet.data.view import Lookup
from discreet.query.sql import parse_sql
from hint_cases import VISITS, Case, at_once

PUBLIC = Schema(
    "people",
    {"age": Integer(0, 100), "sex": Category(["f", "m"]), "county": Category(["Ash", "Oak"])},
    Unit("person", groups=1, rows=1),
    lookups={"counties": Lookup("county", {"county": ["Ash", "Oak"], "area": [1, 2]}, {"area": Integer(0, 9)})},
)
LONG = Schema("t", {"day": Date("0001-01-01", "9999-12-31")})
GOOGLE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({})"
CLOCKS = (
    "SELECT COUNT(*) FROM visits WHERE CAST(at AS TIME) >= TIME '18:30'",
    "SELECT COUNT(*) FROM visits WHERE HOUR(at) >= 18",
)


def sql(text: str, *followed: str, schema: Schema = PEOPLE, dialect: str = "duckdb") -> list[Case]:
    """A statement that is refused, and those that its hint leads to."""
    return at_once(
        lambda: parse_sql(text, schema, dialect), *(lambda one=one: parse_sql(one, schema, dialect) for one in followed)
    )


STATEMENTS = [
    *sql(
        "SELECT AVG([age, pay]) FROM people",
        "SELECT VECTOR_MEAN(age, 2, age, pay), VECTOR_MEAN(pay, 2, age, pay) FROM people",
    ),
    *sql("SELECT sex, FIRST_VALUE(pay) OVER () FROM people", "SELECT SUM(COUNT(*)) OVER () FROM people"),
    *sql(
        "SELECT AVG(n) FROM (SELECT person, RANK() OVER () AS n FROM people GROUP BY person)",
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM people GROUP BY person)",
    ),
    *sql(
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM people GROUP BY person) JOIN counties USING (county)",
        "SELECT AVG(n) FROM (SELECT person, SUM(area) AS n FROM people JOIN counties USING (county) GROUP BY person)",
        schema=PUBLIC,
    ),
    *at_once(
        lambda: parse_sql("SELECT COUNT(*) FROM people JOIN counties USING (county)", PEOPLE),
        lambda: parse_sql("SELECT COUNT(*) FROM people JOIN counties USING (county)", PUBLIC),
    ),
    *sql(
        "SELECT sex, FIRST_VALUE(COUNT(*)) OVER () FROM people GROUP BY sex",
        "SELECT sex, SUM(COUNT(*)) OVER () FROM people GROUP BY sex",
    ),
    *at_once(
        lambda: parse_sql("SELECT day, COUNT(*) FROM t GROUP BY day", LONG),
        lambda: parse_sql("SELECT COUNT(*) FROM t GROUP BY BIN(day, 365)", LONG),
        lambda: parse_sql("SELECT YEAR(day), COUNT(*) FROM t GROUP BY YEAR(day)", LONG),
    ),
    *sql(
        f"{GOOGLE.format('epsilon=1, epsilom=2')} COUNT(*) FROM people",
        f"{GOOGLE.format('epsilon=1')} COUNT(*) FROM people",
    ),
    *sql(
        f"{GOOGLE.format('epsilon=1, privacy_unit_column=sex')} COUNT(*) FROM people",
        f"{GOOGLE.format('epsilon=1')} COUNT(*) FROM people",
    ),
    *sql(
        "SELECT SUM(LENGTH(note)) FROM visits",
        "SELECT SUM(CHAR_LENGTH(sex)) FROM visits",
        schema=VISITS,
        dialect="mysql",
    ),
    *sql(
        "SELECT COUNT(*) FROM visits WHERE note LIKE 'a%'",
        "SELECT COUNT(*) FROM visits WHERE STARTS_WITH(note, 'a')",
        "SELECT COUNT(*) FROM visits WHERE sex LIKE 'f%'",
        schema=VISITS,
        dialect="mysql",
    ),
    *sql(
        "SELECT COUNT(*) FROM visits WHERE note = sex",
        "SELECT COUNT(*) FROM visits WHERE sex IN ('f', 'm')",
        schema=VISITS,
        dialect="mysql",
    ),
    *sql(
        "SELECT AVG(DATEDIFF(MONTH, day, '2024-12-31')) FROM people",
        "SELECT AVG((YEAR(day) - YEAR(day)) * 12 + MONTH(day) - MONTH(day)) FROM people",
        dialect="spark",
    ),
    *sql(
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) + 1 FROM people GROUP BY person)",
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) + 1 AS n FROM people GROUP BY person)",
    ),
    *sql("SELECT COUNT(*) FROM (SELECT age + 1 FROM people)", "SELECT COUNT(*) FROM (SELECT age + 1 AS a FROM people)"),
    *sql('SELECT COUNT(*) FROM people WHERE sex = "male"', "SELECT COUNT(*) FROM people WHERE sex = 'male'"),
    *sql("SELECT COUNT(*) FROM counties", "SELECT COUNT(*) FROM people JOIN counties USING (county)", schema=PUBLIC),
    *sql(
        "SELECT COUNT(*) FROM people WHERE age > (SELECT area FROM counties)",
        "SELECT COUNT(*) FROM people WHERE age > (SELECT MAX(area) FROM counties)",
        schema=PUBLIC,
    ),
    *sql("SELECT payy, COUNT(*) FROM people", "SELECT COUNT(*) FROM people GROUP BY BIN(pay, 100)"),
    *sql("SELECT sex FROM people", "SELECT sex, COUNT(*) FROM people GROUP BY sex", "SELECT COUNT(sex) FROM people"),
    *sql("SELECT 1 FROM people", "SELECT COUNT(*) FROM people"),
    *sql("SELECT pay, COUNT(*) FROM people GROUP BY pay", "SELECT COUNT(*) FROM people GROUP BY BIN(pay, 100)"),
    *sql(
        "SELECT SUM(DISTINCT pay) FROM people", "SELECT SUM(pay) FROM people", "SELECT COUNT(DISTINCT pay) FROM people"
    ),
    *sql(
        "SELECT county, SUM(MODE(sex)) OVER () FROM people GROUP BY county",
        "SELECT sex, RANK() OVER (ORDER BY COUNT(*)) FROM people GROUP BY sex",
    ),
    *sql("SELECT COUNT(DISTINCT pay, sex) FROM people", "SELECT COUNT(DISTINCT pay) FROM people"),
    *sql("SELECT COUNT(*) FROM visits WHERE CAST(at AS TIME) IS NULL", *CLOCKS, schema=VISITS),
    *sql("SELECT COUNT(*) FROM visits WHERE CAST(at AS TIME) > age", *CLOCKS, schema=VISITS),
    *sql(
        "SELECT MIN(pay) FROM people",
        "SELECT QUANTILE_CONT(pay, 0.01) FROM people",
        "SELECT QUANTILE_CONT(pay, 0.99) FROM people",
    ),
    *sql("SELECT COUNT(*) AS a, SUM(pay) AS a FROM people", "SELECT COUNT(*) AS a, SUM(pay) AS b FROM people"),
    *sql(
        "SELECT COUNT(*) FROM people WHERE age < 9 LIMIT 1 UNION ALL SELECT COUNT(*) FROM people WHERE age > 9",
        "SELECT COUNT(*) FROM people WHERE age < 9 UNION ALL SELECT COUNT(*) FROM people WHERE age > 9 LIMIT 1",
    ),
    *sql("SELECT COUNT(*) FROM people WHERE age = NULL", "SELECT COUNT(*) FROM people WHERE age IS NULL"),
    *sql("SELECT COUNT(*) FROM people WHERE UPER(sex) = 'A'", "SELECT COUNT(*) FROM people WHERE UPPER(sex) = 'A'"),
    *sql(
        "SELECT COUNT(*) FROM people WHERE WEEKDAY(day) = 1",
        "SELECT COUNT(*) FROM people WHERE ISODOW(day) = 1",
        "SELECT COUNT(*) FROM people WHERE DAYOFWEEK(day) = 1",
        dialect="postgres",
    ),
    *sql(
        "SELECT COUNT(*) FROM people WHERE DATEDIFF(day, '2024-01-01') > 3",
        "SELECT COUNT(*) FROM people WHERE DATEDIFF(`day`, DATE '2024-01-01') > 3",
        dialect="mysql",
    ),
    *sql(
        "SELECT COUNT(*) FROM people WHERE REPLACE(sex, 'male', 'm') = 'm'",
        "SELECT COUNT(*) FROM people WHERE CASE sex WHEN 'male' THEN 'm' END = 'm'",
        dialect="tsql",
    ),
    *sql(
        "SELECT SUM(CAST(sex AS SIGNED)) FROM people",
        "SELECT SUM(CASE sex WHEN 'male' THEN 1 END) FROM people",
        dialect="mysql",
    ),
    *sql(
        "SELECT COUNT(*) FROM people WHERE sex LIKE '[fm]%'",
        "SELECT COUNT(*) FROM people WHERE sex LIKE 'f%' OR sex LIKE 'm%'",
        dialect="tsql",
    ),
    *sql(
        "SELECT COUNT(*) FROM people WHERE SUBSTRING(sex, -3) = 'ale'",
        "SELECT COUNT(*) FROM people WHERE RIGHT(sex, 3) = 'ale'",
        dialect="postgres",
    ),
    *sql(
        "SELECT COUNT(*) FROM people WHERE day + 1 > '2024-02-02'",
        "SELECT COUNT(*) FROM people WHERE DATE_ADD(day, INTERVAL 1 DAY) > '2024-02-02'",
        dialect="mysql",
    ),
    *sql("SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people"),
    *sql("EXPLAIN SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people"),
    *sql(
        "SELECT SUM(pay * pay * pay * pay * pay * pay) FROM people",
        "SELECT SUM(LEAST(GREATEST(pay * pay * pay * pay * pay * pay, 0), 1000)) FROM people",
    ),
    *sql("SELECT SUM(NULLIF(1, 1)) FROM people", "SELECT SUM(NULLIF(1, 2)) FROM people"),
    *sql(
        "SELECT COUNT(*) FROM people WHERE person IN (SELECT person FROM people)",
        "SELECT COUNT(*) FROM people WHERE sex = 'male'",
    ),
]
