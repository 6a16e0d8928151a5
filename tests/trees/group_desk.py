"""Small tables of people in overlapping groups, and plans for them."""

from __future__ import annotations

from typing import Any

import pyarrow

import discreet
from discreet import Budget, Category, Integer, Schema, Unit, bins

REGIONS = [f"{county}{tract}" for county in range(6) for tract in range(2)]
COLUMNS = {
    "tract": Category(REGIONS, nullable=False),
    "sex": Category(["f", "m"], nullable=False),
    "age": Integer(0, 79, nullable=False),
    "race": Category(["a", "b", "ab", "c"], nullable=False),
}
GROUPS = {"a alone": "race = 'a'", "a with others": "race in ('a', 'ab')", "b with others": "race in ('b', 'ab')"}
DETAILS: dict[str, Any] = {"sex": ["sex"], "sex by age": ["sex", bins("age", [0, 40, 80])]}
LEVELS = {"county": 1, "tract": 2}
Row = tuple[str, str, str, int, str]


def rows(many: int = 60) -> list[Row]:
    """Persons with one row or two."""
    races = ("a", "a", "ab", "b", "c")
    return [(f"p{i * 3 // 4}", REGIONS[i % 3], "fm"[i % 2], (i * 17) % 80, races[(i // 2) % 5]) for i in range(many)]


def curator(place, unit: Unit | None = None, listed: list[Row] | None = None, budget: Budget | None = None):
    """A curator over rows."""
    schema = Schema("people", COLUMNS, unit or Unit())
    names, values = ("who", "tract", "sex", "age", "race"), zip(*(listed or rows()), strict=True)
    data = pyarrow.table({name: list(column) for name, column in zip(names, values, strict=True)})
    return discreet.open(data, schema, ledger=place / "l.db", budget=budget or Budget(10**6), create=True, version="1")


def ask(desk, **changes):
    """The question about groups."""
    return desk.detail(LEVELS, **{"groups": GROUPS, "details": DETAILS, **changes})
