"""At a huge epsilon every aggregate gives what the table itself gives, or its release says why not.

The plain answer is computed from the raw rows by the rules of SQL. Where the published interval does not hold it, a
note must be there, and the plain answer corrected for what the notes say, and for nothing else, must be held.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow
import pytest

from discreet.core.note import NOTES
from discreet.core.unit import Unit
from discreet.data.column import Category, Date, Integer, Real
from discreet.data.read import as_declared
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.ledger.budget import Allotment
from discreet.noise.bits import SystemBits
from discreet.query import compile as compile_room
from discreet.query import contribution as contribution_room
from discreet.query import notes as notes_room
from discreet.query import plan as plan_room
from discreet.query.aggregate import (
    Correlation,
    Count,
    Covariance,
    DistinctValues,
    Intercept,
    Mean,
    Persons,
    Share,
    Slope,
    Std,
    Sum,
    Variance,
    VectorMean,
)
from discreet.query.aggregate.pairs import Paired
from discreet.query.composite_plan import plan_question
from discreet.query.function import kinds
from discreet.query.grid import DECADES
from discreet.query.key import bins
from discreet.query.measure import contribution
from discreet.query.modes import Mode
from discreet.query.price import Price
from discreet.query.quantile import At, Between, Ordered
from discreet.query.quantile_plan import QuantilePlan
from discreet.query.question import Query
from jobs import run_plan

CASES = {
    Count: [Count(), Count("pay"), Count("full")],
    Persons: [Persons()],
    DistinctValues: [DistinctValues("pay"), DistinctValues("age"), DistinctValues("day"), DistinctValues("full")],
    Sum: [Sum("pay"), Sum("age"), Sum("full")],
    Mean: [Mean("pay"), Mean("age"), Mean("full")],
    Share: [Share("age >= 40"), Share("full < 25")],
    VectorMean: [VectorMean("pay", ("pay", "age"), Fraction(60)), VectorMean("full", ("age", "full"), Fraction(500))],
    Variance: [Variance("pay"), Variance("age"), Variance("full")],
    Std: [Std("pay"), Std("pay", sample=True), Std("age")],
    Covariance: [Covariance("pay", "age"), Covariance("age", "full", sample=True), Covariance("age", "age")],
    Correlation: [Correlation("pay", "full"), Correlation("age", "pay", squared=True)],
    Slope: [Slope("pay", "age"), Slope("full", "pay")],
    Intercept: [Intercept("pay", "age")],
    At: [At("pay", 0.5), At("age", 0.25)],
    Between: [Between("pay", 0.25, 0.75)],
    Mode: [Mode("age")],
}
COLUMNS = {
    "g": Category(["a", "b", "c"], nullable=True),
    "pay": Real(0, 100, nullable=True),
    "age": Integer(0, 90, nullable=True),
    "full": Real(0, 50, nullable=False),
    "day": Date("2024-01-01", "2024-06-30", nullable=True),
}
UNITS = {
    "a row": Unit(),
    "a person, limits that cut": Unit("p", groups=9, rows=2),
    "a person, limits that do not": Unit("p", groups=9, rows=5000),
    "a person, one group": Unit("p", groups=1, rows=2),
}
PURE = Allotment("q", "pure", epsilon=10**12)
GRID = 1024


@cache
def rows() -> tuple[dict, ...]:
    """Persons with one row and with hundreds, groups of thousands and of five, values missing and far outside."""
    chance = random.Random(11)
    found = []
    for person in range(150):
        base, many = chance.uniform(0, 110), 1 if person % 3 else chance.randint(2, 60)
        for _ in range(many):
            row = {"p": person, "g": chance.choices(["a", "b", "c", None], [90, 8, 1, 1])[0]}
            row["pay"] = chance.choice([None, -40.0, 900.0]) if chance.random() < 0.2 else base + chance.gauss(0, 5)
            row["age"] = None if chance.random() < 0.1 else chance.randint(-10, 120)
            row["full"] = None if chance.random() < 0.1 else chance.uniform(0, 60)
            row["day"] = None if chance.random() < 0.1 else date(2023, 7, 1) + timedelta(chance.randint(0, 700))
            found.append(row)
    return tuple(found)


def released(output, unit, keys=("g",), condition=None) -> dict:
    """The table of one output over the groups, with hardly any noise."""
    question = Query() if condition is None else Query().where(condition)
    epsilon = 10**6 if isinstance(output, Ordered) else 10**10  # noise far below the slack, also for 5,000 rows each
    return run(question.group_by(*keys).agg(o=output), unit, rows(), epsilon)


def run(question, unit, people, epsilon) -> dict:
    made = plan_question(question, Schema("t", COLUMNS, unit), PURE, Price.read(epsilon=epsilon, confidence=0.999))
    kinds = {"p": pyarrow.int64(), "g": pyarrow.string(), "pay": pyarrow.float64(), "age": pyarrow.int64()}
    kinds |= {"full": pyarrow.float64(), "day": pyarrow.date32()}
    table = pyarrow.table({name: pyarrow.array([row[name] for row in people], kind) for name, kind in kinds.items()})
    source = replace(source_of(table), view=made.schema.view_with(made.columns))
    with source.open() as connection:
        return run_plan(made, connection, SystemBits())


def truth(output, here, unit, said) -> float:
    """The plain answer of these rows, corrected for the notes `said` and for nothing else."""
    column = getattr(output, "column", None)
    if isinstance(output, Persons):
        return len({row["p"] for row in here})
    if isinstance(output, DistinctValues):
        low, high = COLUMNS[column].lower, COLUMNS[column].upper
        return len({min(max(row[column], low), high) for row in here if row[column] is not None})
    if isinstance(output, Mode):  # of equal ones the first
        ages = [row["age"] for row in here if row["age"] is not None]
        ages = [age for age in ages if "outside" not in said or 0 <= age <= 90]
        return min(ages, key=lambda age: (-ages.count(age), age))
    if isinstance(output, Paired):
        return together(output, here, unit, said)
    if isinstance(output, VectorMean):
        return shortened(output, here, unit, said)
    if isinstance(output, Share):
        met = {"age >= 40": lambda row: row["age"] is not None and row["age"] >= 40}
        met["full < 25"] = lambda row: row["full"] is not None and row["full"] < 25
        many = Counter(row["p"] for row in here)
        weights = [min(1, unit.rows / many[row["p"]]) if "weighted" in said else 1.0 for row in here]
        return float(np.average([met[column](row) for row in here], weights=weights))
    if column is None:
        values = [(row["p"], 1.0) for row in here]
    else:
        low, high = float(COLUMNS[column].lower), float(COLUMNS[column].upper)
        middle = (low + high) / 2 if "complete" in said else None
        values = [(row["p"], middle if row[column] is None else row[column]) for row in here]
        values = [(person, value) for person, value in values if value is not None]
        if "bounds" in said:
            values = [(person, min(max(value, low), high)) for person, value in values]
    each = Counter(person for person, _ in values)
    if isinstance(output, Count):
        return sum(min(many, unit.rows) if "rows" in said else many for many in each.values())
    if isinstance(output, Sum):
        sums = {p: sum(value for person, value in values if person == p) for p in each}
        ends = (min(0, unit.rows * low), max(0, unit.rows * high)) if "rows" in said else (-math.inf, math.inf)
        return sum(min(max(one, ends[0]), ends[1]) for one in sums.values())
    numbers = np.array([value for _, value in values])
    if isinstance(output, Ordered):
        found = [np.quantile(numbers, float(q), method="inverted_cdf") for q in output.ranks]
        return found[0] if len(found) == 1 else found[1] - found[0]
    weights = np.array([min(1, unit.rows / each[p]) if "weighted" in said else 1.0 for p, _ in values])
    mean = float((numbers * weights).sum() / weights.sum())
    if isinstance(output, Mean):
        return mean
    total = weights.sum()
    squared = float((weights * (numbers - mean) ** 2).sum() / (total - 1 if output.sample else total))
    return squared if isinstance(output, Variance) else math.sqrt(squared)


def shortened(output, here, unit, said) -> float:
    """The plain answer where it is a coordinate of vectors of some length at most."""
    found, whose = [], []
    for row in here:
        pairs = [(row[name], COLUMNS[name]) for name in output.vector]
        if any(value is None and column.nullable for value, column in pairs):
            continue
        vector = [0 if value is None else min(max(value, column.lower), column.upper) for value, column in pairs]
        length = math.hypot(*vector)
        own = vector[output.vector.index(output.column)]
        found.append(own if length <= output.norm else own * float(output.norm) / length)
        whose.append(row["p"])
    many = Counter(whose)
    weights = [min(1, unit.rows / many[person]) if "weighted" in said else 1.0 for person in whose]
    return float(np.average(found, weights=weights))


def together(output, here, unit, said) -> float:
    """The plain answer where it is of two columns."""
    pairs = []
    for row in here:
        both = []
        for name in (output.column, output.other):
            low, high = float(COLUMNS[name].lower), float(COLUMNS[name].upper)
            value = (low + high) / 2 if row[name] is None and not COLUMNS[name].nullable else row[name]
            both.append(value if value is None or "bounds" not in said else min(max(value, low), high))
        if None not in both:
            pairs.append((row["p"], *both))
    each = Counter(person for person, *_ in pairs)
    weights = np.array([min(1, unit.rows / each[p]) if "weighted" in said else 1.0 for p, *_ in pairs])
    first, second = (np.array([pair[place] for pair in pairs]) for place in (1, 2))
    away, other = (values - np.average(values, weights=weights) for values in (first, second))
    product, square, last = (np.average(part, weights=weights) for part in (away * other, away**2, other**2))
    match output:
        case Covariance():
            total = weights.sum()
            return product * (total / (total - 1) if output.sample else 1.0)
        case Correlation():
            return (product / math.sqrt(square * last)) ** (2 if output.squared else 1)
        case Slope():
            return product / last
    return np.average(first, weights=weights) - product / last * np.average(second, weights=weights)


def wrong(output, unit) -> list[str]:
    """What a release says that is not so, group by group; nothing if all is well."""
    found = released(output, unit)
    notes = [note for note in found["notes"] if "o" in note["outputs"]]
    said, problems = {note["kind"] for note in notes}, []
    assert said <= set(NOTES)
    if unit.groups == 1 and unit.column is not None:
        return [] if "groups" in said else ["groups are cut without a note"]
    for place, group in enumerate(found["columns"]["g"]):
        here = [row for row in rows() if row["g"] == group]
        low, value, high = (found["columns"]["o" + end][place] for end in ("_lower", "", "_upper"))
        if value is None:
            problems += [] if "unknown" in said else [f"{group}: unknown without a note"]
            continue
        if not low <= value <= high:
            problems.append(f"{group}: {value} is outside {low}..{high}")
        if "sampled" in said and max(Counter(row["p"] for row in here).values()) > unit.rows:
            continue  # rows were picked at random, and the note says so
        if isinstance(output, DistinctValues) and unit.rows == 2 and unit.column is not None:
            problems += [] if "rows" in said else ["values are cut without a note"]
            continue
        slack = 100 / GRID + 1e-9 if isinstance(output, Ordered) else 1e-6 * (1 + abs(value))
        expected = truth(output, here, unit, said)
        if not low - slack <= expected <= high + slack:
            problems.append(f"{group}: {low}..{high} does not hold {expected}")
    return problems


def test_every_aggregate_is_tried():
    assert set(CASES) == set(kinds())


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("output", [one for cases in CASES.values() for one in cases], ids=repr)
def test_the_answer_is_that_of_the_table_or_says_why_not(output, unit):
    if isinstance(output, Persons) and UNITS[unit].column is None:
        pytest.skip("no persons are declared")
    assert wrong(output, UNITS[unit]) == []


@pytest.mark.parametrize("column", ["pay", "age"])
@pytest.mark.parametrize("unit", ["a row", "a person, limits that do not"])
def test_bins_hold_what_lies_in_them_and_missing_values_are_a_group(column, unit):
    found = released(Count(), UNITS[unit], (bins(column, [0, 10, 50, COLUMNS[column].upper]),))["columns"]
    edges = [0, 10, 50, float(COLUMNS[column].upper)]
    values = [row[column] for row in rows()]
    plain = [sum(v is not None and low <= v < high for v in values) for low, high in pairwise(edges)]
    plain[-1] += values.count(edges[-1])
    assert found["o"] == [*plain, values.count(None)]
    assert found[column][-1] is None


CONDITIONS = {
    "age > 90": lambda row: row["age"] is not None and row["age"] > 90,
    "age < 0": lambda row: row["age"] is not None and row["age"] < 0,
    "age = 90": lambda row: row["age"] == 90,
    "age >= 80": lambda row: row["age"] is not None and row["age"] >= 80,
    "NOT age <= 90": lambda row: row["age"] is not None and row["age"] > 90,
    "age IN (-5, 30, 100)": lambda row: row["age"] in (-5, 30, 100),
    "pay <> 100": lambda row: row["pay"] is not None and row["pay"] != 100,
    "pay > 100 OR pay < 0": lambda row: row["pay"] is not None and not 0 <= row["pay"] <= 100,
    "full IS NULL": lambda row: row["full"] is None,
    "day < '2024-02-01'": lambda row: row["day"] is not None and row["day"] < date(2024, 2, 1),
    "day >= '2024-01-01'": lambda row: row["day"] is not None and row["day"] >= date(2024, 1, 1),
    "day = '2024-06-30'": lambda row: row["day"] == date(2024, 6, 30),
    "day > '2024-06-30'": lambda row: row["day"] is not None and row["day"] > date(2024, 6, 30),
}
BEYOND = {"age > 90", "age < 0", "NOT age <= 90", "pay > 100 OR pay < 0", "day > '2024-06-30'"}


def counted(condition) -> int:
    return released(Count(), Unit(), (), condition)["columns"]["o"][0]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_compares_values_as_they_are_stored(condition):
    found = released(Count(), Unit(), (), condition)
    assert found["columns"]["o"] == [sum(map(CONDITIONS[condition], rows()))]
    assert ("condition" in {note["kind"] for note in found["notes"]}) == (condition in BEYOND)


@pytest.mark.parametrize("output", [At("day", 0.5), Between("pay", 0.1, 0.9), At("pay", 0.9, grid=DECADES)], ids=repr)
def test_a_release_of_quantiles_says_what_becomes_of_values_outside_the_bounds(output):
    notes = {note["kind"]: note["text"] for note in released(output, Unit())["notes"]}
    assert f" of {output.column} outside " in notes["bounds"]


def test_the_words_about_a_limit_on_rows_are_those_of_the_aggregate():
    question = Query().agg(n=Count(), people=Persons(), s=Sum("pay"), m=Mean("pay"), q=At("pay", 0.5))
    unit = UNITS["a person, limits that cut"]
    notes = run(question, unit, rows(), 10**6)["notes"]
    said = {name: note["text"] for note in notes for name in note["outputs"] if "2 rows" in note["text"]}
    assert set(said) == {"n", "s", "m", "q"}
    assert len(set(said.values())) == 4
    assert "left out" in said["n"]
    assert "clipped" in said["s"]


def picks_differ(runs=20) -> bool:
    """Whether a person counts in one group of a count and in another one of a median, in some of so many runs."""
    one = [row | {"pay": 10.0, "g": g} for g in "abc" for row in rows()[:1]]
    question = Query().group_by("g").agg(n=Count(), q=At("pay", 0.5))
    for _ in range(runs):
        found = run(question, UNITS["a person, one group"], one, 10**6)["columns"]
        place = found["n"].index(1)
        if not 9 < found["q_lower"][place] <= 10 <= found["q_upper"][place] < 11:  # of no rows it is wide
            return True
    return False


def test_a_person_counts_in_the_same_groups_for_all_outputs():
    assert not picks_differ()


MEN, YEARS = 545, range(1980, 1988)


def panel(unit, keys=(), **outputs) -> dict:
    """A panel of wages: 545 men, each in all of eight years, at epsilon 4 (an interval misses once in a million)."""
    chance = random.Random(3)
    people = [(man, 4 + 4 * chance.random()) for man in range(MEN)]
    rows = [(man, year, base + (year - 1980) / 4 + chance.gauss(0, 1)) for man, base in people for year in YEARS]
    columns = {"year": Integer(1980, 1987, nullable=False), "wage": Real(0, 20)}
    price = Price.read(epsilon=4, confidence=0.999999)
    made = plan_question(Query().group_by(*keys).agg(**outputs), Schema("panel", columns, unit), PURE, price)
    with source_of(
        pyarrow.table(dict(zip(("man", "year", "wage"), zip(*rows, strict=True), strict=True)))
    ).open() as data:
        return run_plan(made, data, SystemBits()) | {"wages": [wage for _, _, wage in rows]}


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_a_mean_over_a_panel_is_held_under_any_limit_on_rows_and_a_cut_count_says_so(rows):
    found = panel(Unit("man", groups=1, rows=rows), o=Mean("wage"), n=Count(), who=Persons())
    columns, said = found["columns"], {(note["kind"], name) for note in found["notes"] for name in note["outputs"]}
    assert columns["o_lower"][0] <= np.mean(found["wages"]) <= columns["o_upper"][0]
    assert columns["o_upper"][0] - columns["o_lower"][0] < 3
    assert columns["n_lower"][0] <= MEN * rows <= columns["n_upper"][0]
    assert columns["who_lower"][0] <= MEN <= columns["who_upper"][0]
    assert {("weighted", "o"), ("rows", "n")} <= said


@pytest.mark.parametrize("groups", [1, 8])
def test_men_by_year_are_all_there_if_the_limit_on_groups_allows_it_and_else_a_note_is(groups):
    """By 1 group each, which nobody had stated, 545 men were published as 72 [72, 72]."""
    found = panel(Unit("man", groups=groups, rows=1), ("year",), who=Persons())
    ends = (found["columns"]["who_lower"], found["columns"]["who_upper"])
    held = [low <= MEN <= high for low, high in zip(*ends, strict=True)]
    assert all(held) == (groups == 8)
    assert ("groups" in {note["kind"] for note in found["notes"]}) == (groups == 1)


# Planted bugs.


def test_outputs_that_each_pick_groups_are_caught(monkeypatch):
    for plan in (plan_room.QueryPlan, QuantilePlan):
        true = plan.draw
        monkeypatch.setattr(plan, "draw", lambda self, data, bits, salt=None, true=true: true(self, data, bits))
    assert picks_differ(60)


def test_conditions_on_clipped_values_are_caught(monkeypatch):
    monkeypatch.setattr(compile_room, "as_stored", as_declared)
    wrong = {condition for condition, meets in CONDITIONS.items() if counted(condition) != sum(map(meets, rows()))}
    assert {"age > 90", "age = 90", "day = '2024-06-30'"} <= wrong


def cut_like_a_sum(measure, found, values, unit):
    """The mean of 0.1: a sum cut at the limits over a count cut at the limits."""
    import ibis

    low, high = contribution(measure, unit)
    return ibis.greatest(ibis.least(found, high), low)


def test_a_mean_of_cut_sums_is_caught(monkeypatch):
    monkeypatch.setattr(contribution_room, "limited", cut_like_a_sum)
    for output in (Mean("pay"), Variance("pay"), Std("age")):
        assert wrong(output, UNITS["a person, limits that cut"])


@pytest.mark.parametrize("kind", ["rows", "weighted", "bounds", "complete", "groups"])
def test_a_note_that_is_left_out_is_caught(monkeypatch, kind):
    whole = notes_room.declared_notes
    monkeypatch.setattr(plan_room, "declared_notes", lambda *args: [n for n in whole(*args) if n.kind != kind])
    caught = [
        output
        for output in (Count(), Sum("pay"), Mean("pay"), Mean("full"))
        for unit in ("a person, limits that cut", "a person, one group")
        if wrong(output, UNITS[unit])
    ]
    assert caught


def test_an_interval_of_another_place_is_caught(monkeypatch):
    true = Mean.estimate
    monkeypatch.setattr(Mean, "estimate", lambda self, *args: true(self, *args) + 0.5)
    assert wrong(Mean("age"), UNITS["a row"])
