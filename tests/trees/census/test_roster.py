"""Households put together and counted by the engine, as they are by hand; rows in any order give the same."""

from __future__ import annotations

import random

import numpy as np
import pyarrow
import pytest
from homes import COLUMNS, HOME, LEAVES, RELATIONS, ROW, SEX, TYPES, WHO, Row, roster, tables_by_hand

from discreet.data.source import source_of
from discreet.trees.census.roster import Roster


def rows_of(many: int, seed: int) -> list[Row]:
    """Households in several counties, with several householders or none, regions and homes nobody knows."""
    chance = random.Random(seed)
    places = [*LEAVES, "zz"]
    return [
        {
            "county": chance.choice(places),
            "home": chance.choice(["x", "y", "z", "w", None]),
            "who": str(number),
            "type": chance.choice(TYPES),
            "relation": chance.choice(RELATIONS),
            "sex": chance.choice(SEX),
            "age": chance.randrange(100),
        }
        for number in range(many)
    ]


def counted(made: Roster, rows: list[Row]) -> dict[str, np.ndarray]:
    kinds = {"age": pyarrow.int64()}
    table = pyarrow.table(
        {name: pyarrow.array([one[name] for one in rows], kinds.get(name, pyarrow.string())) for name in COLUMNS}
    )
    with source_of(table, None).open() as connection:
        return made.count(connection)


@pytest.mark.parametrize("unit", [ROW, HOME, WHO], ids=str)
def test_the_engine_counts_as_by_hand_whatever_the_order_of_rows(unit):
    made, rows = roster(unit), rows_of(90, 4)
    wanted = tables_by_hand(made, rows)
    for given in (rows, rows[::-1]):
        found = counted(made, given)
        assert all((found[name] == wanted[name]).all() for name in wanted)


def test_a_person_with_several_rows_counts_once():
    rows = [{**one, "who": str(number % 7)} for number, one in enumerate(rows_of(60, 5))]
    found = counted(roster(WHO), rows)
    assert found["people"].sum() <= 7
    assert (found["people"].sum(axis=1) == counted(roster(WHO), rows[::-1])["people"].sum(axis=1)).all()


def test_tables_of_one_universe_have_the_same_true_totals_in_every_region():
    rows = [*rows_of(90, 6), *({**one, "age": 120, "type": "boat"} for one in rows_of(20, 7))]
    for unit in (ROW, HOME):
        found = counted(made := roster(unit), rows)
        households = found["sizes"][:, 0] if made.parts["sizes"].chain else found["sizes"].sum(axis=1)
        for name in ("types", "heads"):
            assert (found[name].sum(axis=1) == households).all()
        assert (found["members"].sum(axis=1) == found["both"].sum(axis=1)).all()
        assert (found["members"].sum(axis=1) <= found["people"].sum(axis=1)).all()


def test_a_row_that_fits_no_cell_of_one_table_is_in_none():
    strange = [{**one, "age": 120} for one in rows_of(9, 8)]
    assert all(not table.any() for table in counted(roster(ROW), strange).values())
