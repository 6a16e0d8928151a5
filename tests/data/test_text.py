"""Pieces of SQL text: one statement is parsed, plain columns and constants are read, nothing is run or repeated."""

from __future__ import annotations

from decimal import Decimal

import pytest

from discreet.data.text import read_column, read_constant, read_statement
from discreet.errors import InputError


def piece(text):
    return read_statement(f"SELECT {text}").expressions[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT 1; SELECT 2", "one after the other"),
        ("DROP TABLE t", "begins with SELECT"),
        ("EXPLAIN SELECT 1", "--plan"),
        ("SELECT (1", "valid SQL"),
        ("SELECT `a b` FROM", "double quotes"),
        ("", "single statement"),
        ("SELECT " + "1 + " * 50_000 + "1", "characters long"),
    ],
)
def test_what_is_not_one_statement_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read_statement(text)


@pytest.mark.parametrize(
    "text", ["SELECT 1;", "SELECT 1 ; ;", "SELECT 1 -- all", "/* all */ SELECT 1", "select 1 ; -- x"]
)
def test_what_ends_a_statement_and_comments_are_left_out(text):
    assert read_statement(text).sql() == "SELECT 1"


def test_the_parsers_own_words_are_not_repeated():
    with pytest.raises(InputError) as caught:
        read_statement("SELECT (secret", field="where", shown="...")
    assert "secret" not in str(caught.value)
    assert caught.value.field == "where"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0.10", Decimal("0.10")),
        ("1e3", Decimal("1e3")),
        ("'it''s'", "it's"),
        ("TRUE", True),
        ("DATE '2024-12-31'", "2024-12-31"),
    ],
)
def test_constants_are_read_as_they_are_written(text, value):
    found = read_constant(piece(text))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NULL", "IS NULL"),
        ('"male"', "single quotes"),
        ("1 + 1", "a constant"),
        ("- 'a'", "a constant"),
        ("CAST('5' AS INTEGER)", "a constant"),
        ("now()", "a constant"),
    ],
)
def test_what_is_no_constant_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read_constant(piece(text))


def test_a_plain_column_is_read_by_its_name():
    assert read_column(piece("age")) == "age"
    assert read_column(piece('"zip code"')) == "zip code"
    for text, said in (("t.age", "Leave out the table"), ("age + 1", "plain"), ("*", "plain")):
        with pytest.raises(InputError, match=said):
            read_column(piece(text))
