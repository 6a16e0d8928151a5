"""What is counted of groups: rows that overlap, and how far one unit moves all their numbers."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from group_desk import GROUPS, REGIONS, ask, curator, rows

from discreet import Unit
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours
from discreet.noise.bits import SystemBits
from discreet.trees.detail.count import GroupTabulation

INSIDE = {"a": {0, 1}, "ab": {1, 2}, "b": {2}, "c": set()}
# Rows of six persons, one in each county: in one cell and different groups, in several cells, in several tracts.
PERSONS = [
    [("0", "f", 10, "a"), ("0", "f", 10, "b")],
    [("0", "f", 10, "a"), ("0", "f", 10, "ab")],
    [("0", "f", 10, "ab"), ("1", "m", 50, "ab")],
    [("0", "f", 10, "a"), ("0", "f", 50, "b")],
    [("0", "f", 10, "a"), ("1", "f", 10, "a"), ("0", "f", 10, "b"), ("1", "m", 70, "ab")],
    [("1", "m", 70, "ab")],
]
UNITS = [
    Unit(rows=4),
    Unit("who", groups=1, rows=1),
    Unit("who", groups=2, rows=1),
    Unit("who", groups=1, rows=2),
    Unit("who", groups=3, rows=2, rows_total=2),
]


def counted(desk, offer):
    """The exact counts of a plan: leaf regions, groups, finest cells."""
    with desk.desk.data_with(offer.plan.columns).open() as data:
        return offer.plan.counted.count(data, SystemBits())


def test_a_row_counts_in_every_group_that_it_is_in(tmp_path):
    desk = curator(tmp_path)
    found = counted(desk, ask(desk).plan(epsilon=1))
    expected = Counter(
        (REGIONS.index(tract), group, "fm".index(sex) * 2 + (age >= 40))
        for _, tract, sex, age, race in rows()
        for group in INSIDE[race]
    )
    assert found.shape == (12, 3, 4)
    assert {place: found[place] for place in np.ndindex(found.shape) if found[place]} == expected


def test_a_row_in_more_groups_than_may_overlap_counts_in_none(tmp_path):
    desk = curator(tmp_path)
    found = counted(desk, ask(desk, overlap=1).plan(epsilon=1))
    alone = [race for *_, race in rows() if len(INSIDE[race]) == 1]
    assert found.sum(axis=(0, 2)).tolist() == [0, 0, alone.count("b")]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("overlap", [2, 1])
def test_no_unit_moves_more_than_is_stated(tmp_path, unit, overlap):
    """Nobody else lives in a county: what is counted there is what one unit moves, at every level of regions."""
    listed = [
        (f"p{county}", f"{county}{tract}", *rest) for county, person in enumerate(PERSONS) for tract, *rest in person
    ]
    desk = curator(tmp_path, unit, listed)
    offer = ask(desk, overlap=overlap).plan(epsilon=1)
    moved, exact = offer.plan.counted.moved(), counted(desk, offer)
    for county in exact.reshape(6, 2, *exact.shape[1:]):
        for level in (county, county.sum(axis=0)):  # tracts; the county
            for numbers in (level, level.sum(axis=-1)):  # cells; totals
                assert numbers.sum() <= moved.l1
                assert (numbers.astype(float) ** 2).sum() <= moved.l2_squared
                assert numbers.max() <= moved.each


def test_groups_that_are_charged_as_if_each_person_were_in_few_are_caught(tmp_path):
    """A planted bug: what a row is limited to, taken for what a person is limited to."""
    by_row = mock.patch.object(GroupTabulation, "moved", lambda self: Sensitivity(1, self.overlap))
    with by_row, pytest.raises(AssertionError):
        test_no_unit_moves_more_than_is_stated(tmp_path, Unit("who", groups=1, rows=1), 2)


def test_replacing_a_unit_moves_twice_as_many_numbers(tmp_path):
    plan = ask(curator(tmp_path, Unit(neighbours=Neighbours.REPLACE)), overlap=2).plan(epsilon=1).plan
    assert plan.counted.moved() == Sensitivity(1, 4)
    assert replace(plan.counted, overlap=1).moved() == Sensitivity(1, 2)


def test_a_person_whose_rows_are_cut_in_each_group_is_charged_for_every_group(tmp_path):
    desk = curator(tmp_path, Unit("who", groups=1, rows=1))
    assert ask(desk, overlap=1).plan(epsilon=1).plan.counted.moved() == Sensitivity(1, len(GROUPS))


def test_rows_that_may_be_in_too_many_groups_have_a_note(tmp_path):
    desk = curator(tmp_path)
    assert any("more than 2 groups" in note.text for note in ask(desk, overlap=2).plan(epsilon=1).plan.notes)
    assert not any("groups" in note.text for note in ask(desk).plan(epsilon=1).plan.counted.notes)
