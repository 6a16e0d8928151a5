"""Parents and child rows as a schema and an ask make them: attributes, groups, and what is preserved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from clinic_desk import SCHEMA

from discreet import Category, Date, Integer, Schema, Timestamp, Unit
from discreet.errors import InputError
from discreet.synth.relations.levels import FANOUT, GAP, read_levels


def test_parents_have_their_columns_their_fan_out_and_the_first_row():
    levels = read_levels(SCHEMA, ["age", "sex"], None, "day", 6)
    assert levels.parents.names == ("age", "sex", FANOUT, "first: day", "first: ward", "first: cost")
    assert levels.parents.sizes[:3] == (100, 3, 7)
    ward = levels.child_columns.attributes[1]
    assert levels.parents.sizes[4] == ward.size + 1  # none, where there are no child rows
    assert levels.children.names == (
        "age",
        "sex",
        FANOUT,
        "ward",
        "cost",
        GAP,
        "before: day",
        "before: ward",
        "before: cost",
    )
    assert (levels.steps, levels.limit) == (5, 6)


def test_without_an_order_there_is_no_row_before():
    levels = read_levels(SCHEMA, ["age"], ["ward"], None, 4)
    assert levels.parents.names == ("age", FANOUT)
    assert levels.children.names == ("age", FANOUT, "ward")
    assert levels.steps == 4
    assert levels.targets == (2,)
    assert levels.conditions == (0, 1)


def test_long_columns_of_the_row_before_are_in_few_groups():
    levels = read_levels(SCHEMA, ["age"], ["ward", "cost"], "day", 3)
    for attribute, groups in zip(levels.child_columns.attributes, levels.groups, strict=True):
        assert len(groups) == attribute.size
        assert (np.diff(groups) >= 0).all()
        assert groups.max() < 24
        if attribute.missing:
            assert (groups == groups[-1]).sum() == 1  # what is missing is nobody's neighbour


def test_every_pair_is_preserved_and_those_that_are_drawn_weigh_more():
    levels = read_levels(SCHEMA, ["age", "sex"], ["ward"], "day", 3)
    pairs = levels.workload()
    width = len(levels.children)
    assert len(pairs) == width * (width - 1) // 2
    drawn = {pair for pair, weight in pairs.items() if weight == 1}
    assert drawn == {pair for pair in pairs if set(pair) & set(levels.targets)}


def test_a_clock_has_points_and_gaps():
    levels = read_levels(SCHEMA, ["age"], ["ward"], "day", 3)
    clock = levels.clock
    assert clock is not None
    assert clock.cut.last == clock.gaps.last == 730
    assert clock.points.size == 731
    assert clock.gaps.starts[:5].tolist() == [0, 1, 2, 3, 4]  # days are told apart where they are few


def test_a_timestamp_orders_by_its_day_and_its_time_of_day():
    columns = {"at": Timestamp("2024-01-01", "2024-02-01", "UTC"), "g": Category(["a"]), "n": Integer(0, 9, step=3)}
    schema = Schema("t", columns, Unit("who", groups=1, rows=3))
    clock = read_levels(schema, ["g"], ["at"], "at", None).clock
    assert clock is not None
    assert (clock.attribute, clock.minute) == ("CAST(at AS DATE)", "HOUR(at) * 60 + MINUTE(at)")
    whole = read_levels(schema, ["g"], ["n"], "n", None).clock
    assert whole is not None
    assert (whole.cut.unit, whole.cut.last) == (Fraction(3), 3)


def test_rows_without_a_time_have_no_code_for_it():
    schema = Schema(
        "t", {"d": Date("2024-01-01", "2024-02-01", nullable=True), "g": Category(["a"])}, Unit("w", groups=1, rows=1)
    )
    levels = read_levels(schema, ["g"], ["d"], "d", 2)
    assert levels.child_columns.attributes[0].missing is False
    assert levels.child_columns.sizes == (32,)
    assert read_levels(schema, ["g"], ["d"], None, 2).child_columns.sizes == (33,)


@pytest.mark.parametrize("limit", [None, 2])
def test_the_limit_is_that_of_the_schema_unless_it_is_said(limit):
    assert read_levels(SCHEMA, ["age"], ["ward"], None, limit).limit == (limit or SCHEMA.unit.most_total)


def test_a_difference_of_a_column_that_is_not_made_is_refused():
    with pytest.raises(InputError, match="`differences` must be a column that is made"):
        read_levels(SCHEMA, ["age"], ["ward"], "day", 3, {"nope": "age"})
