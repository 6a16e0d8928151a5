"""Expressions in Python: operators and methods build them, and each has one text."""

from __future__ import annotations

import pytest

from discreet.data.expression import col, when
from discreet.data.expression.node import columns_in
from discreet.errors import InputError


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (col("cost") * col("hours") + 1, "cost * hours + 1"),
        (1 - col("cost"), "1 - cost"),
        ((col("a") + 1) * (2 - col("b")), "(a + 1) * (2 - b)"),
        (col("a") - (col("b") - col("c")), "a - (b - c)"),
        (col("age") // 10 * 10, "FLOOR(age / 10) * 10"),
        ((col("a") > 1) & ~(col("b") == "x") | col("flag"), "a > 1 AND NOT b = 'x' OR flag"),
        (col("a").between(1, 2), "a >= 1 AND a <= 2"),
        (col("a").isin(["it's", "b"]), "a IN ('it''s', 'b')"),
        (col("a").missing(), "a IS NULL"),
        (col("a").fill_missing(0), "COALESCE(a, 0)"),
        (col("a").clip(0, 9), "CLIP(a, 0, 9)"),
        (abs(col("a")).round(1), "ROUND(ABS(a), 1)"),
        (col("a").cast("integer"), "CAST(a AS BIGINT)"),
        (col("day").dt.month, "MONTH(day)"),
        (col("day").dt.truncate("week"), "DATE_TRUNC('week', day)"),
        (col("s").str.upper().str.startswith("A"), "STARTS_WITH(UPPER(s), 'A')"),
        (col("s").str.slice(0, 2), "SUBSTRING(s, 1, 2)"),
        (col("zip code") == 1, '"zip code" = 1'),
        (col("select") == 1, '"select" = 1'),
        (
            when(col("a") < 1).then("x").when(col("a") < 2).then("y").otherwise(None),
            "CASE WHEN a < 1 THEN 'x' WHEN a < 2 THEN 'y' END",
        ),
    ],
    ids=str,
)
def test_an_expression_has_one_text(expression, text):
    assert str(expression) == repr(expression) == text


def test_an_expression_knows_its_columns_and_is_no_truth_value():
    assert columns_in((col("a") + col("b")) * col("a")) == ["a", "b"]
    with pytest.raises(InputError, match="joined with &"):
        bool(col("a") > 1)
    with pytest.raises(InputError, match="a column, a number"):
        col("a") + object()
    with pytest.raises(InputError, match="the name of a column"):
        col("")
    with pytest.raises(AttributeError, match="no part of a day"):
        col("day").dt.century  # noqa: B018


def test_a_choice_without_an_end_is_missing_where_no_condition_holds():
    open_ended = when(col("n") > 3).then(col("n"))
    assert str(open_ended) == "CASE WHEN n > 3 THEN n END"
    assert str(open_ended + 1) == "CASE WHEN n > 3 THEN n END + 1"
    assert str(open_ended.when(col("n") > 1).then(0).otherwise(9)) == str(
        when(col("n") > 3).then(col("n")).when(col("n") > 1).then(0).otherwise(9)
    )


def test_an_expression_that_doubles_again_and_again_is_counted_and_never_written_out():
    whole = col("age") + 0
    for _ in range(13):
        whole = whole + whole
    with pytest.raises(InputError, match="at most 50,000 pieces"):
        whole + whole
    listed = col("age").isin(range(60_000))  # the values of a public table
    assert listed.pieces < 2_000


def test_weekdays_are_counted_as_pandas_does():
    assert str(col("d").dt.weekday) == str(col("d").dt.dayofweek) == "ISODOW(d) - 1"


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("isnull", "missing()"),
        ("fillna", "fill_missing("),
        ("is_in", "isin("),
        ("upper", "str.upper"),
        ("flor", "floor"),
    ],
)
def test_what_other_libraries_call_it_is_answered_with_what_it_is_called_here(name, instead):
    with pytest.raises(AttributeError) as refused:
        getattr(col("x"), name)
    assert f"Did you mean `{instead}" in str(refused.value)
    with pytest.raises(AttributeError, match="Did you mean `startswith`"):
        col("x").str.starts_with("a")
    with pytest.raises(AttributeError, match="Did you mean `month`"):
        col("x").dt.moth  # noqa: B018
    assert not hasattr(col("x"), "__array__")
