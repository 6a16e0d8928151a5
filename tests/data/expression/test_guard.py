"""Divisions that a condition keeps away from zero."""

from __future__ import annotations

import pytest

from discreet.data.column import Integer, Real
from discreet.data.expression import col, read_expression, resolve, when
from discreet.data.expression.domain import domain_of, domain_of_column
from discreet.errors import InputError

COLUMNS = {"cost": Real(0, 100), "gain": Real(-10, 10, nullable=False), "hours": Integer(0, 20), "rate": Real(1, 2)}
DOMAINS = {name: domain_of_column(column) for name, column in COLUMNS.items()}


def resolved(text):
    return resolve(read_expression(text), COLUMNS)


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("CASE WHEN cost >= 0.5 THEN hours / cost END", 0, 40),
        ("CASE WHEN 4 < COST AND hours > 2 THEN hours / Cost ELSE 0 END", 0, 5),
        ("CASE WHEN gain <= -2 THEN hours / gain WHEN gain > 5 THEN 1 / gain END", -10, 1),
        ("CASE WHEN cost > 1 THEN CASE WHEN hours > 1 THEN (hours + 1) / cost END END", 0, 21),
    ],
)
def test_a_divisor_is_bounded_as_its_branch_says(text, lower, upper):
    found = domain_of(resolved(text), DOMAINS)
    assert lower <= found.lower <= found.upper <= upper


@pytest.mark.parametrize(
    "text",
    [
        "CASE WHEN cost > 0 THEN hours / cost END",
        "CASE WHEN cost <> 0 THEN hours / cost END",
        "CASE WHEN cost >= 1 OR hours > 3 THEN hours / cost END",
        "CASE WHEN NOT cost >= 1 THEN hours / cost END",
        "CASE WHEN cost >= 1 THEN 1 ELSE hours / cost END",
        "CASE WHEN cost >= 1 THEN hours / gain END",
        "CASE WHEN gain < 2 THEN hours / gain END",
    ],
)
def test_a_condition_that_lets_zero_near_is_none(text):
    with pytest.raises(InputError, match="near zero"):
        resolved(text)


def test_what_was_allowed_before_is_as_it_was_and_python_says_the_same():
    for text in ("CASE WHEN rate >= 1.5 THEN cost / rate END", "CASE WHEN hours > 0 THEN cost / hours END"):
        assert str(resolved(text)) == str(read_expression(text))
    made = resolve(when(col("cost") >= 0.5).then(col("hours") / col("cost")).otherwise(None), COLUMNS)
    assert str(made) == str(resolved("CASE WHEN cost >= 0.5 THEN hours / cost END"))
    assert str(resolved(str(made))) == str(made)
