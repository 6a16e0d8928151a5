"""A few households in a few counties, and their tables counted by hand."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from discreet import Category, Integer, Schema, Text, Unit, bins
from discreet.trees.census import CensusAsk
from discreet.trees.census.part import Part
from discreet.trees.census.roster import Roster

LEAVES = ["a1", "a2", "b1"]
SEX, TYPES, RELATIONS = ["f", "m"], ["single", "couple", "family"], ["head", "other"]
COLUMNS = {
    "county": Category(LEAVES, nullable=False),
    "home": Text(),
    "who": Text(),
    "type": Category(TYPES, nullable=False),
    "relation": Category(RELATIONS, nullable=False),
    "sex": Category(SEX, nullable=False),
    "age": Integer(0, 99, nullable=False),
}
AGES = bins("age", [0, 40, 99])
TABLES: dict[str, Any] = {
    "people": {"counts": "persons", "by": ["sex"]},
    "types": {"counts": "households", "by": ["type"]},
    "heads": {"counts": "households", "by": ["type", AGES]},
    "members": {"counts": "persons", "household": ["type"]},
    "both": {"counts": "persons", "by": ["sex"], "household": ["type"]},
    "sizes": {"counts": "sizes", "largest": 3},
}
ROW, HOME, WHO = Unit(), Unit("home", groups=3, rows=3), Unit("who", groups=2, rows=2)

Row = Mapping[str, Any]


def row(county: str, home: str, kind: str, relation: str, sex: str = "f", age: int = 30, who: str | None = None) -> Row:
    return dict(zip(COLUMNS, (county, home, who, kind, relation, sex, age), strict=True))


def asked(unit: Unit, tables: Mapping[str, Any] = TABLES, most: int = 2, **more: Any) -> CensusAsk:
    known = {"geography": LEAVES, "head": "relation = 'head'", "most": most, **more}
    return CensusAsk.of({"state": 1, "county": 2}, tables, "home", **known)


def roster(unit: Unit, **more: Any) -> Roster:
    return asked(unit, **more).checked(Schema("t", COLUMNS, unit)).roster


def _code(part: Part, column: str, one: Row) -> int:
    if column == "age":
        return int(one["age"] >= 40)
    return {"sex": SEX, "type": TYPES}[column].index(one[column])


def tables_by_hand(made: Roster, rows: Iterable[Row]) -> dict[str, np.ndarray]:
    """Every table, counted by the words of the proof. Every person has one row."""
    found = {name: np.zeros((len(LEAVES), part.cells), np.int64) for name, part in made.parts.items()}
    columns = [key.column for key in made.keys]
    first = made.first
    households: dict[tuple[int, str], list[Row]] = {}
    for one in rows:
        if one["county"] in LEAVES and one["home"] is not None and (not first.whole or one["who"] != "nobody"):
            households.setdefault((LEAVES.index(one["county"]), one["home"]), []).append(one)
    if first.whole:
        least = {home: min(leaf for leaf, other in households if other == home) for _, home in households}
        households = {place: members for place, members in households.items() if place[0] == least[place[1]]}
    for (leaf, _), unsorted in households.items():
        order = [(one["relation"] != "head", *(_code(first, name, one) for name in columns)) for one in unsorted]
        members = [unsorted[place] for place in sorted(range(len(order)), key=order.__getitem__)]
        for name, part in made.parts.items():
            counts = found[name][leaf]
            if part.sizes is not None:
                size = min(len(members), part.sizes.largest)
                counts[slice(0, size) if part.chain else size - 1] += 1
                continue
            counted = members[:1] if part.counts == "households" else members[: part.most] if part.cut else members
            for one in counted:
                cell = 0
                for place, key in enumerate(part.by):
                    holder = one if place < part.own else members[0]
                    cell = cell * part.shape[place] + _code(part, key.column, holder)
                counts[cell] += 1
    return found


def homes(county: str, home: str, most: int = 3) -> list[list[Row]]:
    """Households of up to so many, of every type and with and without a householder."""
    found: list[list[Row]] = [[]]
    for size, kind, headed in itertools.product(range(1, most + 1), TYPES[:2], (True, False)):
        sexes = itertools.combinations_with_replacement(SEX, size)
        for sex in sexes:
            relations = ["head" if headed and place == 0 else "other" for place in range(size)]
            found.append(
                [
                    row(county, home, kind, *pair, age=20 + 30 * (i % 2))
                    for i, pair in enumerate(zip(relations, sex, strict=True))
                ]
            )
    return found


def town(homes: int) -> list[dict]:
    chance, rows = random.Random(3), []
    for home in range(homes):
        size, county = chance.choice([1, 1, 2, 2, 3, 4]), chance.choice(LEAVES)
        kind = TYPES[0] if size == 1 else chance.choice(TYPES[1:])
        for place in range(size):
            relation, sex, age = ("other", "head")[place == 0], chance.choice(SEX), chance.randrange(100)
            rows.append(dict(zip(COLUMNS, (county, str(home), str(len(rows)), kind, relation, sex, age), strict=True)))
    return rows


def draft(curator, tables=TABLES, **more):
    return curator.census(
        {"state": 1, "county": 2}, tables, household="home", geography=LEAVES, head="relation = 'head'", most=3, **more
    )
