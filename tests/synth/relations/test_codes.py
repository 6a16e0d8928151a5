"""Parents and child rows as the engine has them: those of the rules, and no farther apart than is charged."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta

import pyarrow
import pytest

import discreet.synth.relations.codes as level_codes
from discreet import Category, Date, Integer, Schema, Timestamp, Unit
from discreet.core.unit import Neighbours
from discreet.data.source import source_of
from discreet.synth.relations.codes import child_moved, encode_levels, parent_moved
from discreet.synth.relations.levels import Levels, read_levels

SALT = [3, 1, 4, 1, 5, 9, 2, 6]
SCHEMA = Schema(
    "t",
    {
        "age": Integer(0, 3, nullable=False),
        "sex": Category(["f", "m"], nullable=True),
        "ward": Category(["a", "b", "c"], nullable=True),
        "day": Date("2024-01-01", "2024-01-09", nullable=True),
        "at": Timestamp("2024-01-01", "2024-01-10", "UTC", nullable=True),
    },
    Unit("who", groups=2, rows=2),
)
KINDS = {
    "who": pyarrow.string(),
    "age": pyarrow.int64(),
    "sex": pyarrow.string(),
    "ward": pyarrow.string(),
    "day": pyarrow.date32(),
    "at": pyarrow.timestamp("us"),
}
Rows = list[dict]


def some_rows(chance: random.Random, persons: int = 5) -> Rows:
    """Rows with gaps, undeclared words, rows that are nobody's, and equal ones."""
    rows = []
    for _ in range(chance.randint(persons, 5 * persons)):
        day = date(2024, 1, 1) + timedelta(chance.randint(0, 8))
        at = datetime(2024, 1, 1) + timedelta(minutes=chance.choice([0, 5, 20, 600, 1500, 1510, 9000]))
        rows.append(
            {
                "who": chance.choice([*map(str, range(persons)), None]),
                "age": chance.choice([0, 1, 2, 3, 7, None]),
                "sex": chance.choice(["f", "m", None, "x"]),
                "ward": chance.choice(["a", "b", "c", None, "z"]),
                "day": chance.choice([day, day, None]),
                "at": chance.choice([at, at, None]),
            }
        )
    return rows


def coded(levels: Levels, rows: Rows) -> tuple[Counter, Counter]:
    """How often every row of codes is among parents and child rows, by the engine."""
    table = pyarrow.table({name: pyarrow.array([row[name] for row in rows], kind) for name, kind in KINDS.items()})
    source = source_of(table)
    parts = [part for one in (*levels.parent, *levels.child) for part in one.parts]

    with replace(source, view=SCHEMA.view_with(parts)).open() as data:
        both = [data.integers(codes) for codes in encode_levels(levels, SCHEMA, data.table, SALT)]
    found = [Counter(zip(*(one[f"c{place}"].tolist() for place in range(len(one))), strict=True)) for one in both]
    return found[0], found[1]


def by_hand(rows: Rows, order: str | None, limit: int) -> tuple[Counter, Counter]:
    """The same from the rules, for parents of age and sex, and child rows of wards with a day or in no order."""
    parents, children = Counter(), Counter()
    people = {row["who"] for row in rows} - {None}
    for who in people:
        mine = [row for row in rows if row["who"] == who]
        ages = [min(row["age"], 3) for row in mine if row["age"] is not None]
        if not ages:
            continue
        sex = min({"f": 0, "m": 1}.get(row["sex"], 2) for row in mine)
        wards = [({"a": 0, "b": 1, "c": 2}.get(row["ward"], 3), row["day"]) for row in mine]
        if order is None:
            kept = [ward for ward, _ in wards if ward < 3]
            assert len(kept) <= limit  # which of more are kept is up to the salt
            head = (min(ages), sex, len(kept))
            parents[head] += 1
            children.update((*head, ward) for ward in kept)
            continue
        events = sorted(((day - date(2024, 1, 1)).days, ward) for ward, day in wards if day is not None)[:limit]
        head = (min(ages), sex, len(events))
        first = events[0] if events else (9, 4)
        parents[(*head, *first)] += 1
        for (then, last), (now, ward) in itertools.pairwise(events):
            children[(*head, ward, now - then, then, last)] += 1
    return parents, children


@pytest.mark.parametrize("seed", range(6))
def test_sequences_are_those_of_the_rules(seed):
    rows = some_rows(random.Random(seed))
    for limit in (1, 2, 4):
        levels = read_levels(SCHEMA, ["age", "sex"], ["ward"], "day", limit)
        expected = by_hand(rows, "day", limit)
        assert coded(levels, rows) == expected


@pytest.mark.parametrize("seed", range(4))
def test_rows_in_no_order_are_those_of_the_rules(seed):
    rows = some_rows(random.Random(seed))
    levels = read_levels(SCHEMA, ["age", "sex"], ["ward"], None, 30)
    parents, children = coded(levels, rows)
    assert (parents, children) == by_hand(rows, None, 30)


def test_of_more_rows_than_the_limit_so_many_are_kept():
    rows = [{"who": "a", "age": 1, "sex": "f", "ward": ward, "day": None, "at": None} for ward in "abcabc"]
    parents, children = coded(read_levels(SCHEMA, ["age", "sex"], ["ward"], None, 4), rows)
    assert parents == {(1, 0, 4): 1}
    assert sum(children.values()) == 4


@pytest.mark.parametrize("order", [None, "day", "at"])
def test_the_order_of_rows_changes_nothing(order):
    chance = random.Random(7)
    rows = some_rows(chance, persons=3)
    levels = read_levels(SCHEMA, ["sex"], ["ward"], order, 2)
    first = coded(levels, rows)
    for _ in range(3):
        chance.shuffle(rows)
        assert coded(levels, rows) == first


def test_times_of_day_order_rows_of_one_day():
    at = [datetime(2024, 1, 2, 9, 14), datetime(2024, 1, 2, 9, 1), datetime(2024, 1, 5, 7, 0)]
    rows = [
        {"who": "a", "age": 1, "sex": "f", "ward": ward, "day": None, "at": when}
        for ward, when in zip("abc", at, strict=True)
    ]
    levels = read_levels(SCHEMA, ["age"], ["ward"], "at", 3)
    parents, children = coded(levels, rows)
    place = levels.parents.place("first: ward")
    assert [cell[place] for cell in parents] == [1]  # b was first
    ward, gap = levels.children.place("ward"), levels.children.place("time since the row before")
    assert sorted((cell[ward], cell[gap]) for cell in children) == [(0, 0), (2, 3)]


def apart(one: Counter, two: Counter) -> int:
    """By how many rows two tables differ: how far any marginal of them can."""
    return sum(((one - two) + (two - one)).values())


def largest_moves(order: str | None, limit: int, seeds: range) -> tuple[int, int]:
    """How far removing one person moved parents and child rows at most, through the engine."""
    most = [0, 0]
    for seed in seeds:
        rows = some_rows(random.Random(seed), persons=3)
        rows += [
            {**row, "who": "often", "ward": "a", "day": date(2024, 1, 2), "at": datetime(2024, 1, 2)}
            for row in rows[:4] * 2
        ]
        levels = read_levels(SCHEMA, ["sex"], ["ward"], order, limit)
        whole = coded(levels, rows)
        for who in sorted({row["who"] for row in rows} - {None}):
            less = coded(levels, [row for row in rows if row["who"] != who])
            most = [max(known, apart(*pair)) for known, pair in zip(most, zip(whole, less, strict=True), strict=True)]
    return most[0], most[1]


@pytest.mark.parametrize(("order", "limit"), [(None, 1), (None, 3), ("day", 2), ("day", 4), ("at", 3)])
def test_one_person_moves_both_tables_by_as_much_as_is_charged(order, limit):
    levels = read_levels(SCHEMA, ["sex"], ["ward"], order, limit)
    parents, children = largest_moves(order, limit, range(5))
    assert parents == parent_moved(SCHEMA.unit).l1 == 1
    assert children == child_moved(SCHEMA.unit, levels.steps).l1 == levels.steps  # it is reached, and not exceeded


def test_a_planted_bug_moves_them_farther(monkeypatch):
    """The first rows of the table instead of a person's: whom a row follows is then up to others."""
    coded_rows = level_codes._coded

    def nobody(levels, schema, table, condition):
        rows, above, below = coded_rows(levels, schema, table, condition)
        return rows.mutate(person=rows.person.cast("string").length()), above, below

    monkeypatch.setattr(level_codes, "_coded", nobody)
    parents, children = largest_moves("day", 3, range(5))
    assert parents > 1
    assert children > 2


def test_replaced_persons_count_twice():
    other = Unit("who", Neighbours.REPLACE, groups=1, rows=1)
    assert (parent_moved(other).l1, child_moved(other, 4).l1, child_moved(other, 4).l2_squared) == (2, 8, 32)
    assert child_moved(SCHEMA.unit, 4).l2_squared == 16
