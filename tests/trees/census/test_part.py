"""What one unit can move in every table of a census, found by moving it; wrong claims are found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from homes import RELATIONS, SEX, TYPES, homes, roster, row, tables_by_hand

from discreet import Unit
from discreet.core.sensitivity import Sensitivity
from discreet.trees.census.part import Part
from discreet.trees.census.roster import Roster

UNITS = [
    Unit(column, neighbours=how, **({} if column is None else {"groups": 2, "rows": 2}))
    for how in ("add-remove", "replace")
    for column in (None, "who", "home")
]

Tables = dict[str, np.ndarray]


def additions(made: Roster, county: str, home: str) -> Iterator[Tables]:
    """How tables change where a person comes to a household, whose type may change with that."""
    for before in homes(county, home):
        old = tables_by_hand(made, before)
        for kind, relation, sex, age in itertools.product(TYPES[:2], RELATIONS, SEX, (20, 50)):
            after = [{**one, "type": kind} for one in before]
            new = tables_by_hand(made, [*after, row(county, home, kind, relation, sex, age)])
            yield {name: new[name] - old[name] for name in new}


def moves(made: Roster) -> Iterator[Tables]:
    """What tables can move by for one unit. Households add up, so those of two may be put together."""
    twice = str(made.first.schema.unit.neighbours) == "replace"
    if made.first.whole:
        tables = [tables_by_hand(made, rows) for county in ("a1", "b1") for rows in homes(county, "x", 4)]
        for one, other in itertools.product(tables, tables if twice else tables[:1]):
            yield {name: one[name] - other[name] for name in one}
        return
    here = list({str(move): move for move in additions(made, "a1", "x")}.values())
    yield from here
    if twice:
        there = [*here, *list({str(move): move for move in additions(made, "b1", "y")}.values())[::7]]
        for one, other in itertools.product(here[::3], there):
            yield {name: other[name] - one[name] for name in one}


def far(made: Roster) -> set[str]:
    """The tables that some unit moves further than claimed, on some level, in cells or totals."""
    wrong: set[str] = set()
    found = list(moves(made))
    for name, part in made.parts.items():
        every = np.array([move[name] for move in found])
        levels = [np.array(level) for level in zip(*(part.tree.sums(move) for move in every), strict=True)]
        for level, exact in enumerate(levels):
            for totals in (False, True):
                if totals and part.chain:
                    continue
                moved = np.abs(exact.sum(axis=2) if totals else exact.reshape(len(exact), -1))
                claim, merged = part.moved(level, totals=totals)
                beyond = (moved.sum(axis=1) > claim.l1) | ((moved**2).sum(axis=1) > claim.l2_squared)
                if not merged:
                    beyond |= ((moved > 0).sum(axis=1) > claim.outputs) | (moved.max(axis=1) > claim.each)
                if beyond.any():
                    wrong.add(name)
    return wrong


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_unit_moves_a_table_further_than_claimed(unit):
    assert far(roster(unit)) == set()


@pytest.mark.parametrize("column", [None, "home"])
def test_the_claims_are_no_larger_than_need_be(column):
    unit = Unit(column, **({} if column is None else {"groups": 2, "rows": 2}))
    made = roster(unit)
    found = list(moves(made))
    for name, part in made.parts.items():
        most = max(int(np.abs(part.tree.sums(move[name])[0]).sum()) for move in found)
        assert most == part.moved(0)[0].l1, name


MOVED = Part.moved


def claimed(change: Callable[[Part, Any, bool], Any]) -> Any:
    def moved(part: Part, level: int, *, totals: bool = False, axes: Any = None) -> tuple[Sensitivity, bool]:
        return change(part, MOVED(part, level, totals=totals, axes=axes), totals)

    return mock.patch.object(Part, "moved", moved)


BUGS = {
    "a household that stays in its cell": (
        None,
        lambda part, claim, totals: (Sensitivity(1, 1), False) if part.counts == "households" else claim,
        {"types", "heads"},
    ),
    "a person without the household": (
        None,
        lambda part, claim, totals: (Sensitivity(1, 2), False) if part.universe == "members" else claim,
        {"members", "both"},
    ),
    "members that leave no cell": (
        None,
        lambda part, claim, totals: (Sensitivity(2, 1), True) if part.universe == "members" else claim,
        {"members", "both"},
    ),
    "a household charged as one person": (
        "home",
        lambda part, claim, totals: (Sensitivity(1, 1), False) if part.counts == "persons" else claim,
        {"people", "members", "both"},
    ),
    "a household's total charged as one": (
        "home",
        lambda part, claim, totals: (Sensitivity(1, 1), False) if totals else claim,
        {"people", "members", "both"},
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_claims_are_found(bug):
    column, change, wrong = BUGS[bug]
    with claimed(change):
        assert far(roster(Unit(column, **({} if column is None else {"groups": 2, "rows": 2})))) == wrong


def test_members_beyond_the_limit_are_found():
    # The mutant: everybody counts, however many there are.
    made = roster(Unit())
    with mock.patch.object(Part, "cut", property(lambda part: False)):
        assert far(made) >= {"members", "both"}


def test_sizes_of_households_that_are_the_unit_are_not_cumulative():
    assert roster(Unit("home", groups=1, rows=1)).parts["sizes"].chain is False
    assert roster(Unit()).parts["sizes"].chain is True
