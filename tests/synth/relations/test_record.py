"""Tables of codes as plain values and back, and the values that are drawn for them."""

from __future__ import annotations

import json

import numpy as np
from clinic_desk import SCHEMA

from discreet.core.packing import pack
from discreet.synth.relations.levels import read_levels
from discreet.synth.relations.record import level_from, level_to

LEVELS = read_levels(SCHEMA, ["age", "sex"], ["ward", "cost"], "day", 4)


def stored(codes: np.ndarray, owner: list[int], times: list[int]) -> dict:
    entry = level_to(SCHEMA, LEVELS.child, LEVELS.child_columns, codes, LEVELS.clock)
    return json.loads(json.dumps(entry | {"owner": pack(owner), "times": pack(times)}))


def test_a_table_comes_back_as_it_was():
    codes = np.array([[10, 0, 3], [20, 2, LEVELS.child_columns.sizes[2] - 1]])
    level = level_from(stored(codes, [0, 0], [10, 20]))
    assert np.array_equal(level.codes, codes)
    assert [one.name for one in level.parts] == ["day", "ward", "cost"]
    assert level.domain.sizes == LEVELS.child_columns.sizes
    values = level.values()
    assert values["cost"].missing.tolist() == [False, True]
    assert values["ward"].values.tolist() == [0, 2]


def test_times_are_those_of_the_sequence_and_not_of_their_codes():
    codes = np.array([[0, 0, 0], [5, 0, 0]])
    days = level_from(stored(codes, [0, 0], [100, 200])).values()["day"].values
    start = np.datetime64("2024-01-01").astype("datetime64[D]").astype(int)
    assert (days - start).tolist() == [100, 200]


def test_parents_have_no_times():
    entry = level_to(SCHEMA, LEVELS.parent, LEVELS.parent_columns, np.array([[30, 1], [99, 2]]))
    level = level_from(json.loads(json.dumps(entry)))
    assert (level.times, level.owner, level.clock) == (None, None, None)
    assert level.values()["age"].values.tolist() == [30, 99]
    assert level.values()["sex"].missing.tolist() == [False, True]


def test_a_table_without_rows_keeps_its_columns():
    level = level_from(stored(np.zeros((0, 3), np.int64), [], []))
    assert set(level.values()) == {"day", "ward", "cost"}
