"""What a question groups by: bins cover what is declared, and mistakes are refused where they are made."""

from __future__ import annotations

from datetime import date

import pytest
from question_schema import SCHEMA, N

from discreet.core.unit import Unit
from discreet.data.column import Date, Integer, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import mean, total
from discreet.query.key import bins, key
from discreet.query.question import Query
from discreet.query.sql import parse_sql


def test_a_column_with_a_space_can_be_grouped_by():
    assert Query().group_by("zip code").agg(**N).checked(SCHEMA).groups(SCHEMA) == 2


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: bins("age"), "bins"),
        (lambda: bins("age", [1, 2], width=1), "bins"),
        (lambda: bins("age", [1]), "bins.edges"),
        (lambda: bins("age", "12"), "bins.edges"),
        (lambda: bins("age", 5), "bins.edges"),
        (lambda: key("county", "Ash"), "group_by"),
        (lambda: key("county", 5), "group_by"),
        (lambda: total("age", bounds=(5, 1)), "bounds"),
        (lambda: total("age", bounds=5), "bounds"),
        (lambda: total("age", bounds=(float("nan"), 1)), "bounds"),
        (lambda: mean("age", bounds="ab"), "bounds"),
    ],
)
def test_parts_of_questions_are_checked_where_they_are_made(make, field):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_regular_bins_cover_the_declared_range():
    assert bins("age", width=50).checked(SCHEMA).edges == (0, 50, 100, 150)
    assert bins("pay", width=250).checked(SCHEMA).edges == (0, 250, 500, 750, 1000)
    months = bins("day", every="month").checked(SCHEMA)
    assert months.edges[0] == date(2024, 1, 1)
    assert months.edges[-1] == date(2025, 1, 1)
    assert len(months.labels(SCHEMA)) == 12
    assert len(bins("day", every="day").checked(SCHEMA).labels(SCHEMA)) == 366
    assert len(bins("day", width=100).checked(SCHEMA).labels(SCHEMA)) == 4
    ages = Schema("t", {"d": Date("9000-01-01", "9999-12-31", nullable=False)})
    assert bins("d", every="year").checked(ages).edges[-1] == date.max
    assert len(bins("d", width=10**30).checked(ages).labels(ages)) == 1


def test_bins_of_a_histogram_have_names_that_differ():
    schema = Schema("t", {"x": Real(1_000_000, 1_000_001, nullable=False)})
    (key,) = Query().histogram("x", width="0.1").checked(schema).keys
    names = [str(label) for label in key.labels(schema)]
    assert len(set(names)) == len(names) == 10
    assert names[0] == "1000000..1000000.1"
    assert bins("x", [0, "1/3", 1]).checked(schema).edges[1].denominator == 3


def test_groups_are_counted_before_they_are_listed():
    wide = Schema("t", {"n": Integer(-(2**52), 2**52), "m": Integer(0, 10**15)}, Unit("m", groups=1, rows=1))
    for column in ("n", "m"):
        with pytest.raises(InputError, match="at most 1,000,000 groups"):
            key(column).labels(wide)
        with pytest.raises(InputError, match="at most 1,000,000 groups"):
            key(column).checked(wide)
    with pytest.raises(InputError, match="at most 1,000,000 groups"):
        parse_sql("SELECT n, COUNT(*) AS c FROM t WHERE n BETWEEN 0 AND 10000000 GROUP BY n", wide)
    with pytest.raises(InputError):
        parse_sql("SELECT b, COUNT(*) AS c FROM (SELECT m, MAX(n) AS b FROM t GROUP BY m) GROUP BY b", wide)


@pytest.mark.parametrize(
    ("every", "second", "many"), [("week", date(2024, 1, 8), 53), ("quarter", date(2024, 4, 1), 4), ("day", None, 364)]
)
def test_days_are_grouped_by_the_weeks_and_quarters_of_a_calendar(every, second, many):
    schema = Schema("t", {"day": Date("2024-01-03", "2024-12-31", nullable=False)})
    made = bins("day", every=every).checked(schema)
    assert len(made.labels(schema)) == many
    assert made.edges[1] == (second or date(2024, 1, 4))
