"""What one unit can move on every level, found by moving it, and what the engine counts."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow
import pytest

from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.data.view import Lookup
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.query.key import Key, bins
from discreet.trees.count import Sizes, Tabulation
from discreet.trees.tree import Hierarchy

LEAVES = ["a1", "a2", "b1", "b2"]
TREE = Hierarchy.from_prefixes(LEAVES, {"state": 1, "county": 2})
SEX = ["f", "m"]


def schema(unit: Unit | None = None, **more) -> Schema:
    columns = {"county": Category(LEAVES, nullable=False), "sex": Category(SEX, nullable=False), **more}
    if unit is not None and unit.column is not None:
        columns[unit.column] = Integer(0, 99, nullable=False)
    return Schema("t", columns, Unit() if unit is None else unit)


def counted(asked: Tabulation, rows: list[dict]) -> np.ndarray:
    names = {name: [row.get(name) for row in rows] for name in asked.schema.columns}
    kinds = {"person": pyarrow.int64(), "age": pyarrow.int64()}
    table = pyarrow.table({n: pyarrow.array(v, type=kinds.get(n, pyarrow.string())) for n, v in names.items()})
    with source_of(table, None).open() as connection:
        return asked.count(connection, SystemBits())


def moves(one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
    return [np.abs(b - a).ravel() for a, b in zip(one, other, strict=True)]


def levels_of(asked: Tabulation, exact: np.ndarray) -> list[np.ndarray]:
    """Counts of every level, then totals of every level."""
    sums = asked.tree.sums(exact)
    return [*sums, *(level.sum(axis=1) for level in sums)]


def claims(asked: Tabulation) -> list[tuple[Sensitivity, bool]]:
    depth = asked.tree.depth
    return [asked.moved(level, totals=totals) for totals in (False, True) for level in range(depth)]


def holds(moved: np.ndarray, claim: tuple[Sensitivity, bool]) -> bool:
    sensitivity, merged = claim
    norms = moved.sum() <= sensitivity.l1 and (moved**2).sum() <= sensitivity.l2_squared
    if merged:
        return bool(norms)
    return bool(norms and (moved > 0).sum() <= sensitivity.outputs and moved.max(initial=0) <= sensitivity.each)


def vectors(groups: int, rows: int) -> list[np.ndarray]:
    """All that one person may add: at most so many leaf cells, each at most so many rows."""
    found = []
    for places in itertools.combinations(range(8), groups):
        for sizes in itertools.product(range(rows + 1), repeat=groups):
            vector = np.zeros(8, np.int64)
            vector[list(places)] = sizes
            found.append(vector.reshape(4, 2))
    return found


UNITS = [
    Unit(neighbours=how) if person is None else Unit(person, neighbours=how, groups=groups, rows=rows)
    for how in ("add-remove", "replace")
    for person, groups, rows in ((None, 1, 1), ("person", 1, 1), ("person", 1, 3), ("person", 2, 2), ("person", 3, 1))
]


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_unit_moves_a_level_further_than_claimed(unit):
    asked = Tabulation(schema(unit), TREE, "county", (Key("sex"),)).checked()
    can = vectors(unit.groups, unit.rows)
    others = can if str(unit.neighbours) == "replace" else [np.zeros((4, 2), np.int64)]
    of_one, of_other = ([levels_of(asked, vector) for vector in some] for some in (can, others))
    for place, (sensitivity, merged) in enumerate(claims(asked)):
        one, other = (np.array([levels[place].ravel() for levels in some]) for some in (of_one, of_other))
        moved = np.abs(one[:, None] - other[None])
        l1, l2_squared = moved.sum(axis=2).max(), (moved**2).sum(axis=2).max()
        assert l1 <= sensitivity.l1
        assert l2_squared <= sensitivity.l2_squared
        # And it is no looser than need be.
        assert l1 == sensitivity.l1 or l2_squared == sensitivity.l2_squared
        if not merged:
            assert (moved > 0).sum(axis=2).max() <= sensitivity.outputs
            assert moved.max() <= sensitivity.each


def test_leaf_sensitivity_would_be_wrong_where_cells_merge():
    # The mutant: what holds for leaves is used for the root.
    unit = Unit("person", groups=3, rows=1)
    asked = Tabulation(schema(unit), TREE, "county", (Key("sex"),)).checked()
    leaf = asked.moved(2, totals=False)
    one = next(v for v in vectors(3, 1) if v[:, 0].sum() == 3)
    moved = moves(levels_of(asked, one), levels_of(asked, np.zeros((4, 2), np.int64)))
    assert holds(moved[2], leaf)
    assert not holds(moved[0], leaf)


HOUSES = ["x", "y", "z"]


def tables_of_groups() -> list[list[dict]]:
    rng = np.random.default_rng(7)
    return [
        [{"county": LEAVES[rng.integers(4)], "house": HOUSES[rng.integers(3)]} for _ in range(size)]
        for size in (0, 1, 3, 6, 6, 9)
    ]


def sizes_by_hand(rows: list[dict], largest: int, cumulative: bool) -> np.ndarray:
    """Reference: groups of each leaf by size."""
    found = np.zeros((4, largest), np.int64)
    for leaf, code in enumerate(LEAVES):
        for house in HOUSES:
            size = min(sum(row["county"] == code and row["house"] == house for row in rows), largest)
            if size:
                found[leaf, size - 1] += 1
    return np.array([[row[s:].sum() for s in range(largest)] for row in found]) if cumulative else found


@pytest.mark.parametrize("cumulative", [True, False])
def test_groups_are_counted_by_size(cumulative):
    asked = Tabulation(schema(house=Text()), TREE, "county", sizes=Sizes("house", 3, cumulative)).checked()
    for rows in tables_of_groups():
        assert (counted(asked, rows) == sizes_by_hand(rows, 3, cumulative)).all()
    stray = [{"county": "a1", "house": None}, {"county": "zz", "house": "x"}, {"county": None, "house": "x"}]
    assert counted(asked, stray).sum() == 0


@pytest.mark.parametrize("how", ["add-remove", "replace"])
@pytest.mark.parametrize("cumulative", [True, False])
def test_one_member_moves_sizes_no_further_than_claimed(cumulative, how):
    asked = Tabulation(
        schema(Unit(neighbours=how), house=Text()), TREE, "county", sizes=Sizes("house", 3, cumulative)
    ).checked()
    places = [{"county": code, "house": house} for code in LEAVES for house in HOUSES]
    met = False
    for rows in tables_of_groups():
        without = [rows[:i] + rows[i + 1 :] for i in range(len(rows))]
        neighbours = without if how == "add-remove" else [[*less, new] for less in without for new in places]
        exact = levels_of(asked, sizes_by_hand(rows, 3, cumulative))[:3]
        for other in neighbours:
            for level, moved in enumerate(moves(exact, levels_of(asked, sizes_by_hand(other, 3, cumulative))[:3])):
                assert holds(moved, asked.moved(level, totals=False))
                met = met or moved.sum() == asked.moved(level, totals=False)[0].l1
    assert met


def test_counting_from_the_other_end_would_be_wrong():
    # The mutant: groups of at most s members. A new group moves every such count.
    asked = Tabulation(schema(house=Text()), TREE, "county", sizes=Sizes("house", 3)).checked()
    empty, one = (sizes_by_hand(rows, 3, False).cumsum(axis=1) for rows in ([], [{"county": "a1", "house": "x"}]))
    assert not holds(np.abs(one - empty).ravel(), asked.moved(2, totals=False))


def test_plain_sizes_move_two_in_one_place_when_a_member_changes_groups():
    # The mutant: four places by one each. Two groups of two; a member of one goes to the other.
    unit = Unit(neighbours="replace")
    asked = Tabulation(schema(unit, house=Text()), TREE, "county", sizes=Sizes("house", 3, False)).checked()
    pairs = [{"county": "a1", "house": house} for house in ("x", "x", "y", "y")]
    after = [*pairs[1:], {"county": "a1", "house": "y"}]
    moved = np.abs(sizes_by_hand(pairs, 3, False) - sizes_by_hand(after, 3, False)).ravel()
    assert (moved**2).sum() > Sensitivity(1, 4).l2_squared
    assert holds(moved, asked.moved(2, totals=False))


def test_the_engine_counts_rows_by_leaf_and_cell():
    rng = np.random.default_rng(3)
    rows = [
        {"county": [*LEAVES, "zz", None][rng.integers(6)], "sex": [*SEX, "x"][rng.integers(3)], "age": int(a)}
        for a in rng.integers(0, 90, 500)
    ]
    whole = schema(age=Integer(0, 99, nullable=False))
    asked = Tabulation(whole, TREE, "county", (Key("sex"), bins("age", [0, 18, 65, 99]))).checked()
    assert asked.cells == 6
    assert asked.labels == [("sex", SEX), ("age", ["0..18", "18..65", "65..99"])]
    wanted = np.zeros((4, 2, 3), np.int64)
    for row in rows:
        if row["county"] in TREE.codes[2] and row["sex"] in SEX:
            age = 0 if row["age"] < 18 else 1 if row["age"] < 65 else 2
            wanted[TREE.codes[2].index(row["county"]), SEX.index(row["sex"]), age] += 1
    assert (counted(asked, rows) == wanted.reshape(4, 6)).all()


def test_text_codes_are_matched_with_the_listed_regions():
    tree = Hierarchy.from_prefixes([f"{i:05d}" for i in range(700)], {"state": 2, "county": 5})
    asked = Tabulation(Schema("t", {"county": Text()}), tree, "county").checked()
    found = counted(asked, [{"county": "00003"}, {"county": "3"}, {"county": "00003"}, {"county": "00699"}])
    assert found.sum() == 3
    assert found[3, 0] == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"column": "nowhere"}, "levels"),
        ({"column": "age"}, "levels"),
        ({"by": (Key("county"),)}, "by"),
        ({"by": (Key("sex"), Key("sex"))}, "by"),
        ({"by": ("sex",)}, "by"),
        ({"by": (Key("sex"),), "sizes": Sizes("sex", 3)}, "by"),
        ({"sizes": Sizes("nowhere", 3)}, "sizes"),
        ({"sizes": Sizes("sex", 0)}, "largest"),
        ({"tree": Hierarchy.from_prefixes(["a9"], {"county": 2})}, "geography.county"),
        # Named as a level, or as a column that every table has: one of the two would be lost.
        ({"by": (Key("state"),)}, "by"),
        ({"by": (Key("count"),)}, "by"),
        ({"tree": Hierarchy.from_prefixes(LEAVES, {"count": 1, "county": 2})}, "levels"),
        ({"tree": Hierarchy.from_prefixes(LEAVES, {"size": 1, "county": 2}), "sizes": Sizes("sex", 3)}, "levels"),
        # What a run would find out, after spending.
        ({"column": "text", "tree": Hierarchy.from_prefixes(["a\n"], {"text": 2})}, "geography.text"),
        ({"column": "found"}, "levels"),
        (
            {"column": "person", "schema": Schema("t", {"person": Text()}, Unit("person", groups=1, rows=1))},
            "columns.person.type",
        ),
    ],
)
def test_wrong_descriptions_are_refused(change, field):
    more = {"state": Category(["a", "b"], nullable=False), "count": Category(SEX, nullable=False), "text": Text()}
    columns = {**schema(age=Integer(0, 9, nullable=False)).columns, **more}
    lookups = {"places": Lookup("sex", {"sex": SEX, "found": ["a1", "b1"]}, {"found": Text()})}
    good = {"schema": Schema("t", columns, lookups=lookups), "tree": TREE, "column": "county"}
    with pytest.raises(InputError) as problem:
        Tabulation(**(good | change)).checked()
    assert problem.value.field == field


def test_it_is_said_where_numbers_would_lose_the_zeros_of_codes(curator):
    said = curator.tree(["state", "county"]).plan(epsilon=1).explain()
    assert "Data that hold 01000 as a number hold 1000, which is none of them." in said
