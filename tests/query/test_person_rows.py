"""The table of persons as engines compute it: tests/query/test_engines.py compares three of them with plain Python."""

import math

import pyarrow

from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query.aggregate import count
from discreet.query.person_rows import person_rows
from discreet.query.question import Query

SCHEMA = Schema(
    "t",
    {"p": Text(), "x": Real(0, 10), "g": Category(["a", "b"]), "n": Integer(0, 5, nullable=False)},
    Unit("p", groups=2, rows=3),
)
ROWS = pyarrow.table(
    {
        "p": ["Ann", "Ann", "ANN", None, "Bob", "Bob", "Bob", "Bob"],
        "x": [1.0, math.nan, 50.0, 3.0, None, None, None, None],
        "g": ["b", "a", "c", "a", "a", "a", None, "b"],
        "n": [1, 2, 3, 4, 5, 5, 5, 5],
    }
)


def made(query):
    schema = query.agg(rows=count()).checked(SCHEMA).limited(SCHEMA)
    with source_of(ROWS).open() as data:
        found = data.values(person_rows(schema, data.table))
    return sorted(zip(*found.values(), strict=True), key=repr)


def test_each_row_is_of_one_person_whose_name_is_told_apart_byte_by_byte():
    assert made(Query().per_person(n="count(*)", s="sum(x)", k="count(distinct g)", m="min(g)")) == [
        ("ANN", 1, 10.0, 0, None),
        ("Ann", 2, 1.0, 2, "a"),
        ("Bob", 3, None, 2, "a"),
    ]


def test_a_condition_leaves_out_rows_and_persons_without_any():
    assert made(Query().where("n > 2").per_person(t="sum(n)", a="avg(n)", e="least(count(*), 9)")) == [
        ("ANN", 3, 3.0, 1),
        ("Bob", 15, 5.0, 4),
    ]


def test_keys_give_a_row_for_each_combination():
    assert made(Query().group_by("g").per_person(n="count(*)")) == [
        ("ANN", None, 1),
        ("Ann", "a", 1),
        ("Ann", "b", 1),
        ("Bob", "a", 2),
        ("Bob", "b", 1),
        ("Bob", None, 1),
    ]


def test_no_name_of_a_column_is_in_the_way():
    schema = Schema("t", {"a0": Text(), "b0": Category(["x"])}, Unit("a0", groups=2, rows=3))
    query = Query().group_by("b0").per_person(n="count(*)").agg(rows=count())
    with source_of(pyarrow.table({"a0": ["p", "p"], "b0": ["x", "x"]})).open() as data:
        found = data.values(person_rows(query.checked(schema).limited(schema), data.table))
    assert list(zip(*found.values(), strict=True)) == [("p", "x", 2)]
