"""Groups by size, where the unit is a row, several rows, a person or the group itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow
import pytest

from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Unit
from discreet.data.column import Category, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.noise.bits import SystemBits
from discreet.trees.count import Sizes, Tabulation
from discreet.trees.sizes import move_sizes
from discreet.trees.tree import Hierarchy

LEAVES = ["a1", "a2", "b1"]
TREE = Hierarchy.from_prefixes(LEAVES, {"state": 1, "county": 2})
HOUSES = ["x", "y"]
COLUMNS = {"county": Category(LEAVES), "house": Text(), "who": Text()}

Row = tuple[str | None, str | None, str | None]  # region, house, person


def asked(unit: Unit, *, cumulative: bool = True, largest: int = 3) -> Tabulation:
    return Tabulation(
        Schema("t", COLUMNS, unit), TREE, "county", sizes=Sizes("house", largest, cumulative=cumulative)
    ).checked()


def counted(question: Tabulation, rows: list[Row]) -> np.ndarray:
    columns = zip(*rows, strict=True) if rows else [[], [], []]
    arrays = {
        name: pyarrow.array(list(values), pyarrow.string()) for name, values in zip(COLUMNS, columns, strict=True)
    }
    with source_of(pyarrow.table(arrays), None).open() as connection:
        return question.count(connection, SystemBits())


def houses_by_hand(rows: list[Row], largest: int, *, cumulative: bool, persons: bool) -> np.ndarray:
    """How many houses of each size every leaf has, where everybody is in few enough groups."""
    found = np.zeros((len(LEAVES), largest), np.int64)
    for leaf, house in itertools.product(range(len(LEAVES)), HOUSES):
        members = [who for county, name, who in rows if (county, name) == (LEAVES[leaf], house)]
        size = min(len({who for who in members if who is not None} if persons else members), largest)
        found[leaf, : size if cumulative else 0] += 1
        if size and not cumulative:
            found[leaf, size - 1] += 1
    return found


ROWS: list[Row] = [
    ("a1", "x", "1"), ("a1", "x", "1"), ("a1", "x", "2"), ("a1", "y", "2"), ("a2", "x", "3"), ("b1", "y", "4"),
    ("b1", "y", "5"), ("b1", "y", "6"), ("b1", "y", "7"), ("b1", "y", None), ("zz", "x", "8"), ("b1", None, "8"),
]  # fmt: skip


@pytest.mark.parametrize("cumulative", [True, False])
def test_a_person_counts_once_in_a_group(cumulative):
    found = counted(asked(Unit("who", groups=2, rows=1), cumulative=cumulative), ROWS)
    assert (found == houses_by_hand(ROWS, 3, cumulative=cumulative, persons=True)).all()


def test_a_person_counts_in_so_many_groups_as_the_unit_says():
    everywhere: list[Row] = [(county, house, "1") for county in LEAVES for house in HOUSES]
    for groups in (1, 2, 5, 6, 9):
        assert counted(asked(Unit("who", groups=groups, rows=1)), everywhere).sum() == min(groups, 6)


def test_a_group_that_is_the_unit_counts_in_its_first_region():
    spread: list[Row] = [("b1", "x", "1"), ("a2", "x", "2"), ("a2", "x", "3"), ("a1", "y", "4")]
    found = counted(asked(Unit("house", groups=3, rows=9), cumulative=False), spread)
    assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


UNITS = [
    Unit(neighbours=how, rows=groups) if kind is None else Unit(kind, neighbours=how, groups=groups, rows=2)
    for how in ("add-remove", "replace")
    for kind, groups in ((None, 1), (None, 2), ("who", 1), ("who", 2), ("house", 1))
]


def neighbouring(unit: Unit) -> Iterator[tuple[list[Row], list[Row]]]:
    """Tables that differ in one unit: all that counts of it, beside a few others."""
    others: list[Row] = [("a1", "x", "8"), ("a1", "x", "9"), ("a1", "y", "8"), ("b1", "y", "7"), ("a2", "y", "9")]
    if unit.column == "house":
        mine = [[(county, "x", str(i)) for i in range(size)] for county in ("a1", "a2", "b1") for size in range(5)]
        others = [("a1", "y", "8"), ("a1", "y", "9"), ("b1", "y", "7")]
    else:
        places = [(county, house, "1") for county in LEAVES for house in HOUSES]
        mine = [list(rows) for size in range(unit.most_groups + 1) for rows in itertools.combinations(places, size)]
    for one, other in itertools.product(mine, mine if str(unit.neighbours) == "replace" else [[]]):
        for base in ([], others[:2], others):
            yield [*base, *one], [*base, *other]


def far(unit: Unit, sizes: Sizes, claimed: Callable[..., tuple[Sensitivity, bool]] = move_sizes) -> bool:
    """Whether some neighbours are further apart than is claimed, on some level, in some norm."""
    persons = unit.column == "who"
    for pair in neighbouring(unit):
        exact = (houses_by_hand(rows, sizes.largest, cumulative=sizes.cumulative, persons=persons) for rows in pair)
        for one, other in zip(*(TREE.sums(counts) for counts in exact), strict=True):
            moved, (claim, merged) = np.abs(one - other), claimed(sizes, unit, one.size)
            if moved.sum() > claim.l1 or (moved**2).sum() > claim.l2_squared:
                return True
            if not merged and ((moved > 0).sum() > claim.outputs or moved.max() > claim.each):
                return True
    return False


@pytest.mark.parametrize("cumulative", [True, False])
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit}, {unit.most_groups}")
def test_no_unit_moves_sizes_further_than_claimed(unit, cumulative):
    assert not far(unit, Sizes("house", 3, cumulative))
    assert not far(unit, Sizes("house", 1, cumulative))


BUGS = {
    "groups that merge charged as apart": (
        Unit("who", groups=2, rows=1),
        lambda sizes, unit, outputs: (Sensitivity(1, 2), False),
    ),
    "several groups of a person charged as one": (
        Unit("who", groups=2, rows=1),
        lambda sizes, unit, outputs: move_sizes(sizes, Unit(), outputs),
    ),
    "a household charged as a member": (
        Unit("house", groups=1, rows=9),
        lambda sizes, unit, outputs: move_sizes(sizes, Unit(), outputs),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_claims_are_found(bug):
    unit, claimed = BUGS[bug]
    assert far(unit, Sizes("house", 3), claimed)
