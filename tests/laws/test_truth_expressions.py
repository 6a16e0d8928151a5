"""At a huge epsilon a question about expressions gives what the table itself gives, or its release says why not.

The plain answer is computed from the raw rows. Expressions are computed of values within the declared bounds: where
that changes an answer, a note names the expression and the column whose values were moved.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from datetime import date

import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.data.view import Derived
from discreet.ledger.budget import Allotment
from discreet.noise.bits import SystemBits
from discreet.query import notes as notes_room
from discreet.query.aggregate import count, total
from discreet.query.composite_plan import plan_question
from discreet.query.price import Price
from discreet.query.question import Query
from jobs import run_plan

PURE = Allotment("q", "pure", epsilon=10**12)
ROWS = [
    {"age": age, "pay": pay, "day": day}
    for age in (-10, 0, 29, 30, 64, 90, 130, None)
    for pay, day in ((-40.0, date(1999, 3, 5)), (12.5, date(2024, 2, 29)), (900.0, date(2031, 12, 1)), (50.0, None))
]
BOUNDS = {"age": (0, 90), "pay": (0.0, 100.0), "day": (date(2024, 1, 1), date(2024, 6, 30))}


def schema(*, nullable: bool = True) -> Schema:
    columns = {
        "age": Integer(0, 90, nullable=nullable),
        "pay": Real(0, 100, nullable=nullable),
        "day": Date("2024-01-01", "2024-06-30", nullable=nullable),
    }
    return Schema("t", columns, Unit(), derived={"double": Derived("pay * 2", Real(-1000, 1000))})


def answered(question: Query, *, nullable: bool = True) -> dict:
    declared = schema(nullable=nullable)
    table = pyarrow.Table.from_pylist(ROWS)
    plan = plan_question(question, declared, PURE, Price.read(epsilon=10**9))
    source = replace(source_of(table), view=declared.view_with(plan.columns))
    with source.open() as connection:
        return run_plan(plan, connection, SystemBits())


def moved(row: dict) -> dict:
    """A row whose values were moved into their bounds."""
    return {name: None if row[name] is None else min(max(row[name], low), high) for name, (low, high) in BOUNDS.items()}


def missing(function):
    """The same function; missing where a value is."""

    def computed(row):
        try:
            return function(row)
        except (TypeError, AttributeError):
            return None

    return computed


KEYS = {
    "FLOOR(age / 30)": ("age", missing(lambda row: math.floor(row["age"] / 30))),
    "MONTH(day)": ("day", missing(lambda row: row["day"].month)),
    "YEAR(day)": ("day", missing(lambda row: row["day"].year)),
    "CASE WHEN age >= 65 THEN 'old' ELSE 'young' END": (
        "age",
        lambda row: "old" if row["age"] is not None and row["age"] >= 65 else "young",
    ),
}
SUMS = {
    "pay * 2": ("pay", missing(lambda row: row["pay"] * 2)),
    "double": ("pay", missing(lambda row: row["pay"] * 2)),
    "age + 1": ("age", missing(lambda row: row["age"] + 1)),
    "LEAST(age, 40)": ("age", lambda row: 40 if row["age"] is None else min(row["age"], 40)),
}
CONDITIONS = {
    "age + 1 > 91": ("age", missing(lambda row: row["age"] + 1 > 91)),
    "pay * 2 > 150": ("pay", missing(lambda row: row["pay"] * 2 > 150)),
    "YEAR(day) < 2024": ("day", missing(lambda row: row["day"].year < 2024)),
    "pay > age": ("pay", missing(lambda row: row["pay"] > row["age"])),
}


def problems(question: Query, used: str, column: str, answer) -> list[str]:
    """What is said of one expression that is not so; nothing if all is well."""
    found = answered(question)
    got = answer(found["columns"])
    plain, corrected = (truth(found, used, rows) for rows in (ROWS, [moved(row) for row in ROWS]))
    told = [note["text"] for note in found["notes"] if note["kind"] == "bounds" and "o" in note["outputs"]]
    said = any(text.removeprefix("In ").split(",")[0] in used and f"{column} outside" in text for text in told)
    wrong = [] if got == corrected else [f"{got} is not {corrected}"]
    return wrong if said or got == plain else [*wrong, f"{got} for {plain} without a note"]


def truth(found: dict, used: str, rows: list[dict]):
    if used in KEYS:
        counts = Counter(KEYS[used][1](row) for row in rows)
        return {key: counts.get(key, 0) for key in found["columns"][found["keys"][0]]}
    if used in SUMS:
        return round(sum(value for row in rows if (value := SUMS[used][1](row)) is not None), 3)
    return sum(CONDITIONS[used][1](row) is True for row in rows)


def by_key(used: str) -> list[str]:
    return problems(
        Query().group_by(used).agg(o=count()),
        used,
        KEYS[used][0],
        lambda columns: dict(zip(next(iter(columns.values())), columns["o"], strict=True)),
    )


def summed(used: str) -> list[str]:
    return problems(Query().agg(o=total(used)), used, SUMS[used][0], lambda columns: round(columns["o"][0], 3))


def conditioned(used: str) -> list[str]:
    question = Query().where(used).agg(o=count())
    return problems(question, used, CONDITIONS[used][0], lambda columns: columns["o"][0])


@pytest.mark.parametrize("used", KEYS)
def test_a_group_of_an_expression_holds_its_rows_or_says_which_were_moved_there(used):
    assert by_key(used) == []


@pytest.mark.parametrize("used", SUMS)
def test_a_sum_of_an_expression_says_which_values_were_moved(used):
    assert summed(used) == []


@pytest.mark.parametrize("used", CONDITIONS)
def test_a_condition_on_an_expression_says_which_values_were_moved(used):
    assert conditioned(used) == []


def test_a_missing_value_of_a_complete_column_is_in_no_group_and_that_is_said():
    found = answered(Query().group_by("MONTH(day)").agg(o=count()), nullable=False)
    assert sum(found["columns"]["o"]) == sum(row["day"] is not None for row in ROWS)
    assert {"kind": "outside", "text": "Rows whose MONTH(day) is missing are in no group.", "outputs": ["o"]} in found[
        "notes"
    ]


def test_notes_that_leave_expressions_out_are_caught(monkeypatch):
    monkeypatch.setattr(notes_room, "expression_notes", lambda uses, schema: [])
    assert by_key("FLOOR(age / 30)")
    assert summed("pay * 2")
    assert conditioned("age + 1 > 91")
