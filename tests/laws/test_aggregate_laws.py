"""The laws every aggregate and every measure obeys. A new one is attacked as soon as it exists.

All classes of `query/aggregate.py` and `query/measure.py` are found, not listed: one that nobody gives the kit a way to
make fails here. Each is attacked by brute force through the engine: every value that a row can hold, alone and beside
others, added, removed and replaced; no integer may move further than the sensitivity that is charged for it.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from typing import Any, get_args
from unittest import mock

import pyarrow
import pytest
from attrs import evolve

import discreet.query.aggregate as aggregates
import discreet.query.measure as measures
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query.aggregate import Aggregate
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.measure import Measure, Rows, Total, lattice_for, sensitivity
from discreet.query.question import Query

NAN, INF = float("nan"), float("inf")
VALUES = [None, NAN, INF, -INF, -0.0, 0.0, 1.0, 2.5, -3.0, -7.5, 10.0, 10.49, 11.0, 1e300, -1e300]
LIMITS = {
    "real": Real(-3, 10.5, nullable=False),
    "nullable": Real(-3, 10.5, nullable=True),
    "above zero": Real(2, 11, nullable=False),
    "whole": Integer(-3, 10, nullable=False),
    "below zero": Integer(-9, -2, nullable=True),
}
UNITS = [
    Unit(neighbours=Neighbours.ADD_REMOVE),
    Unit(neighbours=Neighbours.REPLACE),
    Unit("p", Neighbours.ADD_REMOVE, groups=1, rows=1),
    Unit("p", Neighbours.ADD_REMOVE, groups=1, rows=2),
    Unit("p", Neighbours.REPLACE, groups=1, rows=2),
]


def classes(module: Any, *has: str) -> list[type]:
    """The public classes that a module defines and that have these names."""
    found = [one for _, one in inspect.getmembers(module, inspect.isclass) if one.__module__ == module.__name__]
    return [one for one in found if not one.__name__.startswith("_") and all(hasattr(one, name) for name in has)]


def made(kind: type) -> list[Any]:
    """Aggregates of a class: of the column `v`, by every way its fields allow."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    known = {"column", "bounds", "sample"}
    if strange := set(fields) - known:
        pytest.fail(f"{kind.__name__} has fields that this kit cannot fill: {strange}. Teach `made` to.")
    if not fields:
        return [kind()]
    plain = [kind("v"), *([kind("v", sample=True)] if "sample" in fields else [])]
    return plain + ([kind()] if fields["column"].default is None else [])


AGGREGATES = [one for kind in classes(aggregates, "measures", "estimate") for one in made(kind)]


def schema_of(limits: Any, unit: Unit, groups: int) -> Schema:
    return Schema("scenes", {"scene": Integer(0, groups - 1, nullable=False), "v": limits}, unit)


def measured(
    schema: Schema, taken: list[Measure], scenes: list[tuple[tuple[Any, ...], tuple[Any, ...]]]
) -> list[list[int]]:
    """The measures of many small tables at once: each is a group, with people of its own.

    A scene is what one person's rows hold, and what others' do.
    """
    rows = [
        (scene, f"{scene} {who}", value)
        for scene, (mine, others) in enumerate(scenes)
        for who, value in [*(("me", v) for v in mine), *((i, v) for i, v in enumerate(others))]
    ]
    table = pyarrow.table(
        {
            "scene": pyarrow.array([row[0] for row in rows], pyarrow.int64()),
            "p": pyarrow.array([row[1] for row in rows], pyarrow.string()),
            "v": pyarrow.array([row[2] for row in rows], pyarrow.float64()),
        }
    )
    query = Query().group_by("scene").agg(n=aggregates.count()).checked(schema)
    with source_of(table).open() as connection:
        found = connection.integers(compile_query(query, schema, taken, connection.table, [7] * 8))
    sums = [[0] * len(taken) for _ in scenes]
    for place, group in enumerate(found[GROUP].tolist()):
        sums[group] = [int(found[measure_name(index)][place]) for index in range(len(taken))]
    return sums


def attack(taken: list[Measure], limits: Any, unit: Unit, charged: Any = sensitivity) -> None:
    """Every two scenes that differ in one unit, against the sensitivity that is charged for one group."""
    most = 1 if unit.column is None else 3
    mine = [
        rows
        for size in range(most + 1)
        for rows in itertools.combinations_with_replacement(VALUES[:: 1 if size < 2 else 3], size)
    ]
    scenes = [(rows, others) for others in ((), (1.0, None, 11.0)) for rows in mine]
    sums = measured(schema_of(limits, unit, len(scenes)), taken, scenes)
    for index, measure in enumerate(taken):
        moved = charged(measure, unit, len(scenes))
        for start in (0, len(mine)):
            seen = [one[index] for one in sums[start : start + len(mine)]]
            # Replaced, a unit goes from any rows to any others; added or removed, from none to any.
            from_all = unit.neighbours is Neighbours.REPLACE
            far = max(seen) - min(seen) if from_all else max(abs(value - seen[0]) for value in seen)
            assert far <= moved.each, f"{measure} moves by {far}, and {moved.each} is charged"


every = pytest.mark.parametrize("aggregate", AGGREGATES, ids=repr)


def test_every_aggregate_and_measure_is_known_to_the_plan():
    """What is defined is in the union that the plan, the estimates and this kit go through."""
    assert set(classes(aggregates, "measures", "estimate")) == set(get_args(Aggregate))
    assert set(classes(measures, "lowest", "highest")) == set(get_args(Measure))


def test_every_measure_is_attacked():
    schema = schema_of(Real(-3, 10, nullable=True), Unit("p", groups=1, rows=1), 2)
    assert {type(m) for one in AGGREGATES for m in one.measures(schema)} == set(get_args(Measure))


@every
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_no_unit_moves_a_measure_further_than_is_charged(aggregate, limits):
    for unit in UNITS:
        if isinstance(aggregate, aggregates.Persons) and unit.column is None:
            continue
        attack(list(aggregate.measures(schema_of(limits, unit, 2))), limits, unit)


@every
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_what_one_row_adds_lies_within_the_bounds_of_the_measure(aggregate, limits):
    if isinstance(aggregate, aggregates.Persons):
        return
    scenes: list[Any] = [((value,), ()) for value in VALUES]
    schema = schema_of(limits, Unit(), len(scenes))
    taken = list(aggregate.measures(schema))
    for held, row in zip(VALUES, measured(schema, taken, scenes), strict=True):
        for measure, value in zip(taken, row, strict=True):
            nothing = value == 0 and limits.nullable and (held is None or held != held)  # a missing value
            assert nothing or measure.lowest <= value <= measure.highest


@every
def test_its_measures_follow_from_what_is_declared_alone(aggregate):
    schema = schema_of(Real(-3, 10, nullable=False), Unit("p", groups=1, rows=1), 2)
    assert aggregate.measures(schema) == aggregate.measures(schema)
    for measure in aggregate.measures(schema):
        assert isinstance(measure, Measure)
        assert type(measure.lowest) is int
        assert type(measure.highest) is int


# --- planted ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Loose(Total):
    """A measure that claims less than its rows add."""

    less: int = 4

    @property
    def highest(self) -> int:
        return self.lattice.highest // self.less

    @property
    def lowest(self) -> int:
        return self.lattice.lowest // self.less


@pytest.mark.parametrize("less", [2, 4])
@pytest.mark.parametrize("unit", UNITS[:2], ids=str)
def test_a_measure_that_claims_too_little_is_caught(less, unit):
    limits = Real(-3, 10.5, nullable=False)
    with pytest.raises(AssertionError, match="is charged"):
        attack([Loose("v", lattice_for(limits, limits.lower, limits.upper), less=less)], limits, unit)


@pytest.mark.parametrize("less", [2, 4])
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_sensitivity_that_is_too_small_is_caught(less, unit):
    limits = Real(-3, 10.5, nullable=False)
    lattice = lattice_for(limits, limits.lower, limits.upper)

    def small(measure: Measure, unit: Unit, groups: int) -> Any:
        moved = sensitivity(measure, unit, groups)
        return evolve(moved, each=max(1, moved.each // less))

    with pytest.raises(AssertionError, match="is charged"):
        attack([Total("v", lattice), Rows()], limits, unit, small)


def test_an_aggregate_that_nobody_registered_is_caught():
    """A class beside the others, as a contributor would write it."""

    @dataclasses.dataclass(frozen=True, slots=True)
    class Extra(aggregates.Sum):
        pass

    Extra.__module__ = aggregates.__name__
    with mock.patch.object(aggregates, "Extra", Extra, create=True), pytest.raises(AssertionError):
        test_every_aggregate_and_measure_is_known_to_the_plan()
