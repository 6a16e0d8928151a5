"""The number of a row's group: the same by comparing, by look-up and by arithmetic; none for what is not declared."""

from __future__ import annotations

from datetime import date

import ibis
import pyarrow
import pytest

from discreet.data.column import Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.query import group
from discreet.query.group import group_codes, group_number
from discreet.query.key import bins, key

WORDS = [f"w{i}" for i in range(40)]
SCHEMA = Schema(
    "t",
    {
        "word": Category(WORDS, nullable=True),
        "n": Integer(-3, 30, nullable=False),
        "x": Real(-2, 2, nullable=True),
        "day": Date("2024-01-01", "2024-12-31", nullable=False),
    },
)
TABLE = pyarrow.table(
    {
        "i": range(8),
        "word": ["w0", "w39", "W0", None, "w7", "", "w12", "w1"],
        "n": [-3, 30, 31, -4, 0, 7, 7, 29],
        "x": [-2.0, 2.0, 2.1, None, 0.0, -0.0, 1.999, float("nan")],
        "day": [date(2024, m, 1) for m in range(1, 9)],
    }
)


def numbers(*keys, schema=SCHEMA, **how):
    """The place of each row among the labels of each key."""
    checked = [k.checked(schema) for k in keys]
    table, codes = group_codes(checked, schema, ibis.memtable(TABLE), **how)
    found = ibis.duckdb.connect().to_pyarrow(
        table.select("i", **{f"c{place}": code for place, code in enumerate(codes)}).order_by("i")
    )
    assert len(found) == 8  # no row is repeated or lost
    return [found[f"c{place}"].to_pylist() for place in range(len(keys))]


def test_labels_are_compared_byte_by_byte_and_what_is_undeclared_is_missing():
    assert numbers(key("word")) == [[0, 39, 40, 40, 7, 40, 12, 1]]
    assert numbers(key("word", ["w7", "w0"])) == [[1, None, None, None, 0, None, None, None]]
    assert numbers(key("word", ["w0", None])) == [[0, None, 1, 1, None, 1, None, None]]


def test_whole_numbers_outside_the_bounds_have_no_group_unless_clamped():
    assert numbers(key("n")) == [[0, 33, None, None, 3, 10, 10, 32]]
    assert numbers(key("n"), clamped=True) == [[0, 33, 33, 0, 3, 10, 10, 32]]


def test_the_last_edge_belongs_to_the_last_bin():
    assert numbers(bins("x", [-2, 0, 1, 2])) == [[0, 2, None, 3, 1, 1, 2, 3]]
    assert numbers(bins("day", every="month")) == [list(range(8))]


@pytest.mark.parametrize(
    "asked", [key("word"), bins("x", width="0.1"), bins("day", width=7), bins("n", width=2)], ids=str
)
def test_all_ways_give_the_same_numbers(asked, monkeypatch):
    usual = numbers(asked)
    monkeypatch.setattr(group, "_FEW", 10**6)  # all compared one by one
    assert numbers(asked) == usual


def test_keys_together_number_the_groups_in_the_order_of_their_labels():
    keys = [k.checked(SCHEMA) for k in (bins("x", [-2, 0, 2]), bins("day", every="month"))]
    table, number = group_number(keys, SCHEMA, ibis.memtable(TABLE))
    found = ibis.duckdb.connect().to_pyarrow(table.select("i", g=number).order_by("i"))["g"].to_pylist()
    first, second = numbers(bins("x", [-2, 0, 2]), bins("day", every="month"))
    assert found == [None if a is None else a * 12 + b for a, b in zip(first, second, strict=True)]
    _, alone = group_number([], SCHEMA, ibis.memtable(TABLE))
    assert ibis.duckdb.connect().execute(alone) == 0


def test_other_spellings_are_looked_up_and_not_rewritten():
    # By comparing and by look-up. To rewrite a text for every label it is compared with took minutes in wide tables.
    texts = ["1", "1.0", "1.00", "01", "TRUE", "true", "True", "tRUE", None, "-2.0"]
    for many in (1, 20):
        values = ["true", "-2", *(str(number) for number in range(1, many + 1))]
        schema = Schema("t", {"word": Category(values, nullable=False)})
        table = ibis.memtable(pyarrow.table({"i": range(len(texts)), "word": texts}))
        wide, (code,) = group_codes([key("word").checked(schema)], schema, table)
        answer = wide.select(i=wide["i"], code=code).order_by("i")
        assert answer.to_pyarrow()["code"].to_pylist() == [2, 2, None, None, 0, 0, 0, None, None, 1]
        assert "REPLACE" not in ibis.to_sql(answer, dialect="duckdb").upper()
