"""Small random tables and their neighbours: what the laws of neighbours are tried on.

Values are those where bugs live: missing, NaN, two zeros, infinities, numbers beyond every bound, ids beyond 2**53,
text that differs in case, in spaces and in how an accent is written.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow

from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp

NAN, INF = float("nan"), float("inf")
REALS = [None, NAN, 0.0, -0.0, INF, -INF, 1e300, -1e300, 5e-324, 0.25, 1.5, -1.75, 3.5, 2.0**53 + 2, -2.0, 250.0]
WHOLE = [None, 0, 1, -3, 5, 4, 2**63 - 1, -(2**63), 2]
WORDS = [None, "a", "A", "b", "\u00e9", "e\u0301", "", "a ", "zz"]
DAYS = [None, date(2020, 1, 1), date(2020, 2, 29), date(2020, 12, 31), date(1999, 1, 1), date(2020, 6, 30)]
_MOMENT = datetime(2020, 3, 29, 0, 59, 59, 999_999)  # before clocks are put forward in Vienna
MOMENTS = [None, *(_MOMENT + timedelta(microseconds=1, minutes=30 * step) for step in range(5)), _MOMENT]
MOMENTS += [datetime(2020, 10, 25, hour, 30) for hour in range(4)]  # they are put back
MOMENTS += [datetime(2020, 1, 1), datetime(2020, 12, 31, 23, 59, 59, 1), datetime(1, 1, 2), datetime(9999, 12, 30)]
CODES = ["11", "12", "21", "22", "31", None, "99"]

IDS: dict[str, tuple[list[Any], pyarrow.DataType]] = {
    "whole": ([0, 1, 2, 2**53, 2**53 + 1, 2**62, -(2**63), 7], pyarrow.int64()),
    "text": (["ann", "Ann", "ann ", "\u00e9", "e\u0301", "", "ANN"], pyarrow.string()),
    "float": ([0.0, 1.5, 2.0**53, 1e300, INF, -7.25, 3.0], pyarrow.float64()),
}
NOBODY: dict[str, list[Any]] = {"whole": [None], "text": [None], "float": [None, NAN]}

COLUMNS: dict[str, Any] = {
    "g": Category(["a", "b", "\u00e9"], nullable=True),
    "n": Integer(-3, 5, nullable=False),
    "x": Real(-2, 3.5, nullable=True),
    "y": Real(1, 100, nullable=False),
    "f": Boolean(nullable=True),
    "d": Date("2020-01-01", "2020-12-31", nullable=True),
    "s": Timestamp("2020-03-28", "2020-12-31", "America/New_York", nullable=True),
    "l": Timestamp("2020-01-01", "2020-10-25 02:45", "Europe/Vienna", nullable=False),
    "t": Text(nullable=True),
    "h": Text(),
    "o": Category(["a", "b"], nullable=False),
    "e": Category(["a", "b", "zz"], nullable=False),
}
_POOLS: dict[str, tuple[list[Any], pyarrow.DataType]] = {
    "g": (WORDS, pyarrow.string()),
    "n": (WHOLE, pyarrow.int64()),
    "x": (REALS, pyarrow.float64()),
    "y": ([*REALS, 40.5, 99.0, 100.0], pyarrow.float64()),
    "f": ([True, False, None], pyarrow.bool_()),
    "d": (DAYS, pyarrow.date32()),
    "s": ([each and each.replace(tzinfo=UTC) for each in MOMENTS], pyarrow.timestamp("us", "UTC")),
    "l": (MOMENTS, pyarrow.timestamp("us")),
    "t": (WORDS, pyarrow.string()),
    "h": (CODES, pyarrow.string()),
    "o": (WORDS, pyarrow.string()),
    "e": (WORDS, pyarrow.string()),
}
_BESIDE: dict[str, tuple[list[Any], pyarrow.DataType]] = {
    "w": (REALS, pyarrow.float64()),
    "c": (WORDS, pyarrow.string()),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class World:
    """Rows of the table and of the one that is joined to it; the person of a row is its value of `p`."""

    ids: str
    rows: tuple[Row, ...]
    beside: tuple[Row, ...] = ()

    def arrow(self) -> pyarrow.Table:
        return _arrow(self.rows, {"p": IDS[self.ids], **_POOLS})

    def other(self) -> pyarrow.Table:
        return _arrow(self.beside, {"p": IDS[self.ids], **_BESIDE})


def _arrow(rows: tuple[Row, ...], pools: dict[str, tuple[list[Any], pyarrow.DataType]]) -> pyarrow.Table:
    return pyarrow.table({name: pyarrow.array([row[name] for row in rows], kind) for name, (_, kind) in pools.items()})


def person_row(chance: random.Random, person: Any) -> Row:
    return {"p": person, **{name: chance.choice(pool) for name, (pool, _) in _POOLS.items()}}


def beside_row(chance: random.Random, person: Any) -> Row:
    return {"p": person, **{name: chance.choice(pool) for name, (pool, _) in _BESIDE.items()}}


def world(chance: random.Random, ids: str) -> World:
    """Up to seven persons with up to six rows each, some nearly alike, and rows of nobody."""
    rows: list[Row] = []
    beside: list[Row] = []
    for person in chance.sample(IDS[ids][0], chance.randint(1, 5)) + NOBODY[ids]:
        mine, theirs = _of_person(chance, person)
        rows += mine
        beside += theirs
    chance.shuffle(rows)
    chance.shuffle(beside)
    return World(ids, tuple(rows), tuple(beside))


def _of_person(chance: random.Random, person: Any) -> tuple[list[Row], list[Row]]:
    rows = [person_row(chance, person) for _ in range(chance.randint(1, 6))]
    if chance.random() < 0.5:  # many rows in one group
        same = chance.choice(["g", "h", "d", "n"])
        rows = [{**row, same: rows[0][same]} for row in rows]
    if chance.random() < 0.3:
        rows += rows[:2]
    spelt = [
        {**row, "p": -0.0} if person == 0.0 and isinstance(person, float) and i % 2 else row
        for i, row in enumerate(rows)
    ]
    return spelt, [beside_row(chance, person) for _ in range(chance.randint(0, 4))]


def neighbours(chance: random.Random, whole: World, unit: Unit) -> Iterator[World]:
    """Tables that differ from this one in one unit, rows in another order."""
    replaced = unit.neighbours is Neighbours.REPLACE
    if unit.promised:  # any so many rows are somebody's
        for _ in range(6):
            many = min(unit.rows, len(whole.rows))
            gone = set(chance.sample(range(len(whole.rows)), many))
            rest = [row for place, row in enumerate(whole.rows) if place not in gone]
            new = [person_row(chance, None) for _ in range(unit.rows)]
            same = chance.random() < 0.5  # all of them in one group
            new = [dict(new[0]) for _ in new] if same else new
            yield _shuffled(chance, whole.ids, rest + (new if replaced else []), list(whole.beside))
            if not replaced:
                yield _shuffled(chance, whole.ids, [*whole.rows, *new], list(whole.beside))
        return
    if unit.column is None:
        for place in range(len(whole.rows)):
            rest = [*whole.rows[:place], *whole.rows[place + 1 :]]
            new = [person_row(chance, whole.rows[place]["p"])] if replaced else []
            yield _shuffled(chance, whole.ids, rest + new, list(whole.beside))
        if not replaced:
            yield _shuffled(chance, whole.ids, [*whole.rows, person_row(chance, None)], list(whole.beside))
        return
    pool = IDS[whole.ids][0]
    for person in pool:
        there = any(_same(row["p"], person) for row in (*whole.rows, *whole.beside))
        if replaced and not there:
            continue
        rest = [row for row in whole.rows if not _same(row["p"], person)]
        others = [row for row in whole.beside if not _same(row["p"], person)]
        if replaced or not there:
            mine, theirs = _of_person(chance, person)
            rest, others = rest + mine, others + theirs
        yield _shuffled(chance, whole.ids, rest, others)


def _same(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one == other


def _shuffled(chance: random.Random, ids: str, rows: list[Row], beside: list[Row]) -> World:
    chance.shuffle(rows)
    chance.shuffle(beside)
    return World(ids, tuple(rows), tuple(beside))
