"""A schema with a column of every kind, for tests of questions, keys and conditions."""

from __future__ import annotations

import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import count

SCHEMA = Schema(
    "people",
    {
        "county": Category(["Ash", "Elm"], nullable=False),
        "adult": Boolean(nullable=False),
        "age": Integer(0, 120, nullable=False),
        "pay": Real(0, 1000, nullable=False),
        "day": Date("2024-01-01", "2024-12-31", nullable=False),
        "zip code": Category(["1", "2"], nullable=False),
    },
    Unit("id", groups=2, rows=2),
)


def refused(query, field, schema=SCHEMA):
    with pytest.raises(InputError) as caught:
        query.checked(schema)
    assert caught.value.field == field, caught.value
    assert caught.value.allowed
    return str(caught.value)


N = {"n": count()}
