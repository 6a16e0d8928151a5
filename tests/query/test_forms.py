"""Forms of fields: what a person types, what JSON holds and what Python gives are one value."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.forms import (
    AMOUNT,
    CONDITION,
    CONDITIONS,
    KEY,
    KEYS,
    NAMES,
    PLACES,
    WEIGHTS,
    check_condition,
    names_in,
    pairs_in,
    sizes_in,
)
from discreet.query.key import bins, key
from discreet.query.predicate import col

SCHEMA = Schema("t", {"age": Integer(0, 120, nullable=False), "sex": Category(["f", "m"], nullable=False)})
GIVEN = [
    (AMOUNT, Fraction(1, 3)),
    (AMOUNT, 0.1),
    (NAMES, ["age", "sex"]),
    (NAMES, "age"),
    (CONDITION, "age > 5"),
    (CONDITION, col("age") > 5),
    (CONDITIONS, ["age > 5", col("sex") == "f"]),
    (KEY, "sex"),
    (KEY, bins("age", width=10)),
    (KEYS, ["sex", bins("age", [0, 18, 120])]),
    (WEIGHTS, {"cells": 2, "origins": Fraction(1, 3)}),
    (PLACES, {"mill": "east", "port": "west"}),
    (PLACES, {"mill": (0.0, 1.5), "port": (2.0, 0.0)}),
]


@pytest.mark.parametrize(("form", "value"), GIVEN)
def test_what_python_gives_comes_back_from_json(form, value):
    """Once it was read against the schema, writing and reading it changes nothing."""

    def sent(given):
        return form.settle(form.read(json.loads(json.dumps(form.write(form.settle(given)))), SCHEMA))

    assert sent(sent(value)) == sent(value)


@pytest.mark.parametrize(
    ("form", "typed", "value"),
    [
        (NAMES, "age, sex,", ["age", "sex"]),
        (WEIGHTS, "cells=2, origins=1", {"cells": "2", "origins": "1"}),
        (KEYS, ["sex, home", "age/0,18,65"], ["sex", "home", "age/0,18,65"]),  # bins have commas of their own
        (PLACES, "place,zone\nmill,east\nport,west\n", {"mill": "east", "port": "west"}),
        (PLACES, "place,rows\nmill,12\nport,-3\n", {"mill": 12, "port": -3}),
        (PLACES, "place,x,y\nmill,0,1.5\n", {"mill": [0, 1.5]}),
    ],
)
def test_what_is_typed_is_read(form, typed, value):
    assert form.parse(typed) == value


def test_a_file_of_places_is_read_and_one_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "zones.csv"
    path.write_bytes(b"\xef\xbb\xbfplace,zone\nmill,east\n")
    assert PLACES.load(str(path)) == {"mill": "east"}
    path.write_bytes(b"place,zone\nm\xfchle,east\n")
    with pytest.raises(InputError, match="UTF-8"):
        PLACES.load(str(path))
    with pytest.raises(InputError, match="exists"):
        PLACES.load(str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: pairs_in("cells", "weights", "a=1"),
        lambda: pairs_in("cells=", "weights", "a=1"),
        lambda: sizes_in("a=1.5", "sizes", "a=1"),
        lambda: PLACES.parse("place,zone\nmill\n"),
        lambda: PLACES.parse(""),
        lambda: PLACES.read(["mill"], SCHEMA),
    ],
)
def test_what_cannot_be_read_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_pairs_names_and_sizes():
    assert names_in(" a, ,b ") == ["a", "b"]
    assert names_in("SUBSTR(a, 1, 2), 'x,y' || b, c") == ["SUBSTR(a, 1, 2)", "'x,y' || b", "c"]
    assert names_in("it's, b") == ["it's", "b"]
    assert pairs_in("a=1,b = x", "f", "a=1") == {"a": "1", "b": "x"}
    assert sizes_in("a=1,b=20", "f", "a=1") == {"a": 1, "b": 20}


def test_a_condition_is_read_against_the_schema():
    assert check_condition(None, SCHEMA) is None
    assert check_condition("age > 5", SCHEMA) == check_condition(col("age") > 5, SCHEMA)
    with pytest.raises(InputError):
        check_condition("pay > 5", SCHEMA)
    assert KEY.read("age/10", SCHEMA) == bins("age", width="10")
    assert KEY.settle("sex") == key("sex")


def test_keys_are_divided_by_commas_and_edges_belong_to_their_bins():
    assert KEYS.parse(["age/0,18,65,sex", "day/month, FLOOR(age / 10)"]) == [
        "age/0,18,65",
        "sex",
        "day/month",
        "FLOOR(age / 10)",
    ]
