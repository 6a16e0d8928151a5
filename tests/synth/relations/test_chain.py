"""Child rows for made-up parents: as many as each has, in order, each told by the one before it."""

from __future__ import annotations

import numpy as np
from clinic_desk import SCHEMA

from discreet.synth.relations import chain
from discreet.synth.relations.chain import child_rows, deck_size
from discreet.synth.relations.coarse import child_bins
from discreet.synth.relations.levels import GAP, read_levels

LEVELS = read_levels(SCHEMA, ["age"], ["ward"], "day", 4)


def parents_of(fan: list[int], ward: int = 0, day: int = 10) -> np.ndarray:
    """Parents of age 30 with a first row; none where they have no rows."""
    none = LEVELS.parents.sizes
    rows = [[30, many, day if many else none[2] - 1, ward if many else none[3] - 1] for many in fan]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def pool_of(moves: dict[int, int], gap: int = 5) -> np.ndarray:
    """A pool in which every ward is followed by one other, always after so many days."""
    bins = child_bins(LEVELS, [])
    rows = []
    for last, ward in moves.items():
        for fan in range(5):
            days = range(LEVELS.groups[0].max() + 1)
            rows += [[bins[0][30], fan, ward, gap, day, last] for day in days]
    assert LEVELS.children.names[3] == GAP
    return np.array(rows * 10, dtype=np.int64)


def test_rows_follow_the_pool():
    parents = parents_of([1, 4, 0, 2])
    made = child_rows(LEVELS, parents, child_bins(LEVELS, []), pool_of({0: 1, 1: 2, 2: 0}))
    assert made.owner.tolist() == [0, 1, 1, 1, 1, 3, 3]
    ward = LEVELS.child_columns.place("ward")
    assert made.codes[:, ward].tolist() == [0, 0, 1, 2, 0, 0, 1]
    first = LEVELS.clock.cut.starts[10]
    assert made.times is not None
    assert (np.diff(made.times[1:5]) == 5).all()
    assert first <= made.times[0] <= LEVELS.clock.cut.ends[10]


def test_nothing_lies_beyond_the_last_time():
    last = LEVELS.clock.cut.size - 1
    made = child_rows(LEVELS, parents_of([4, 4], day=last), child_bins(LEVELS, []), pool_of({0: 0}, gap=40))
    assert made.times.max() <= LEVELS.clock.cut.last
    assert len(made.owner) == 8


def test_a_parent_whose_first_row_noise_left_out_gets_that_of_another():
    parents = parents_of([2, 2])
    parents[1, 2:] = np.array(LEVELS.parents.sizes[2:]) - 1
    made = child_rows(LEVELS, parents, child_bins(LEVELS, []), pool_of({0: 1}))
    assert made.owner.tolist() == [0, 0, 1, 1]
    assert made.codes[2].tolist() == made.codes[0].tolist()


def test_where_there_is_nothing_to_draw_from():
    none = np.zeros((0, len(LEVELS.children)), dtype=np.int64)
    bins = child_bins(LEVELS, [])
    made = child_rows(LEVELS, parents_of([3]), bins, none)
    assert made.owner.tolist() == [0, 0, 0]  # the first row again: a pool without rows says nothing else
    lost = parents_of([2])
    lost[:, 2:] = np.array(LEVELS.parents.sizes[2:]) - 1
    assert len(child_rows(LEVELS, lost, bins, none).owner) == 0
    assert len(child_rows(LEVELS, parents_of([]), bins, none).owner) == 0
    free = read_levels(SCHEMA, ["age"], ["ward"], None, 4)
    empty = np.zeros((0, len(free.children)), dtype=np.int64)
    assert len(child_rows(free, np.array([[30, 2]]), child_bins(free, []), empty).owner) == 0


def test_the_same_again():
    parents, pool = parents_of([3] * 50), pool_of({0: 1, 1: 0})
    one, two = (child_rows(LEVELS, parents, child_bins(LEVELS, []), pool) for _ in range(2))
    assert np.array_equal(one.codes, two.codes)
    assert np.array_equal(one.times, two.times)


def test_a_deck_is_neither_too_small_nor_too_large():
    assert deck_size(0) == 60_000
    assert deck_size(30_000) == 120_000
    assert deck_size(10**7) == 400_000


def test_parents_are_taken_until_their_child_rows_are_as_many_as_there_may_be(monkeypatch):
    monkeypatch.setattr(chain, "MOST_CHILD_ROWS", 6)
    assert chain.bearable_parents(np.array([3, 0, 3, 0, 1, 2])) == 4
    assert chain.bearable_parents(np.array([7, 1])) == 0
    assert chain.bearable_parents(np.array([], dtype=np.int64)) == 0
