"""Declarations are read as they are meant, or refused."""

import pytest

from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import mean, total
from discreet.query.question import Query

KINDS = {
    "integer": lambda **how: Integer(0, 1, **how),
    "real": lambda **how: Real(0, 1, **how),
    "category": lambda **how: Category(["a"], **how),
    "boolean": Boolean,
    "date": lambda **how: Date("2024-01-01", "2024-12-31", **how),
    "text": Text,
}


@pytest.mark.parametrize("nullable", ["no", "false", None, 0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_whether_a_column_may_be_missing_is_true_or_false_and_nothing_like_it(kind, nullable):
    with pytest.raises(InputError, match=r"`nullable` .*must be true or false"):
        KINDS[kind](nullable=nullable)


def test_a_missing_value_is_no_category():
    with pytest.raises(InputError, match="values that can occur"):
        Category(["a", None])
    assert Category(name for name in "ab").values == ("a", "b")


def test_something_else_than_a_name_is_refused_without_showing_it():
    """Whoever passes a column of a frame instead of its name sees no value of it in the message."""
    schema = Schema("t", {"x": Real(0, 1)})
    with pytest.raises(InputError, match="the name of a column, as text; got a list") as problem:
        Query().agg(m=total(["secret"])).checked(schema)
    assert "secret" not in str(problem.value)
    assert "Such as 'x'" in str(problem.value)
    with pytest.raises(InputError, match="given with a list of columns") as problem:
        mean(["secret"])
    assert "secret" not in str(problem.value)
