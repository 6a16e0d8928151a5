"""Columns by name, and expressions by their text: both have a declaration, one name, and a place in the engine."""

from __future__ import annotations

import copy
import pickle

import pytest

from discreet.data.column import Boolean, Category, Integer, Real
from discreet.data.columns import Columns
from discreet.data.schema import Schema
from discreet.errors import InputError

COLUMNS = Columns({"age": Integer(0, 120), "cost": Real(0, 10), "a * b": Boolean(), "sex": Category(["f", "m"])})


def test_only_declared_columns_are_listed_and_an_expression_is_there_when_asked_for():
    assert list(COLUMNS) == ["age", "cost", "a * b", "sex"]
    assert "age * 2" not in COLUMNS
    assert COLUMNS["age * 2"] == Integer(0, 240)
    assert len(COLUMNS) == 4
    assert COLUMNS.get("age * 2") is None


def test_a_declared_name_comes_first_and_every_way_of_writing_has_one_name():
    assert COLUMNS.canonical("a * b", "x") == "a * b"
    assert COLUMNS["a * b"] == Boolean()
    assert COLUMNS.canonical("AGE*2", "x") == COLUMNS.canonical(" age  *2 ", "x") == "age * 2"
    assert COLUMNS.canonical("(AGE)", "x") == "age"
    assert COLUMNS.slot("age") == "age"
    assert COLUMNS.slot("age * 2") != COLUMNS.slot("age * 3")
    assert len(COLUMNS.slot("age * 2")) < 40
    assert COLUMNS.read_by("age * 2 + cost") == ["age", "cost"]


def test_a_misspelt_name_with_blanks_or_signs_is_named_as_it_was_written():
    odd = Columns({"height (m)": Real(0, 3), "mean radius": Real(0, 40), "cost": Real(0, 10)})
    for text, meant in (("heigth (m)", "height (m)"), ("maen radius", "mean radius"), ("Mean Raduis", "mean radius")):
        with pytest.raises(InputError) as refused:
            odd.column(text, "mean")
        assert f"got '{text}'. Did you mean `{meant}`?" in str(refused.value)
    with pytest.raises(InputError, match="got 'SINH"):  # no name of a column is near: what is wrong in the expression
        odd.column("sinh(cost) + 1", "mean")


def test_a_name_that_is_a_number_or_a_word_of_sql_is_to_be_quoted():
    odd = Columns({"2020": Integer(0, 30), "select": Integer(0, 4), "cost": Real(0, 10)})
    for text, name in (("2020 > 15", "2020"), ("select >= 2", "select"), ("2 * (2020 - 3)", "2020")):
        with pytest.raises(InputError) as refused:
            odd.column(text, "share")
        assert f'The column {name} is written "{name}" here.' in str(refused.value)
    assert odd['"2020" > 15'] == odd['"select" >= 2'] == Boolean()
    assert odd["cost > 2020"] == Boolean()  # beside a column it is the number


def test_what_is_neither_is_refused_with_the_names_there_are():
    for text, words in (("agee", "Did you mean `age`"), ("age +", "must be"), ("agee * 2", "Did you mean `age`")):
        with pytest.raises(InputError, match=words):
            COLUMNS.column(text, "where")


def test_a_schema_with_expressions_is_copied_and_pickled():
    schema = Schema("t", {"age": Integer(0, 120)})
    for other in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert other == schema
        assert other.column("age + 1") == Integer(1, 121)
