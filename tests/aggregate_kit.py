"""The kit of the aggregate laws: how to make every aggregate, and brute force against what is charged for it."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow
import pytest

from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query.aggregate import Aggregate, count
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.function import kinds
from discreet.query.measure import Measure, sensitivity
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


def registered() -> list[Any]:
    """Every class of aggregates that is registered, found and not listed."""
    return [kind for kind in kinds() if issubclass(kind, Aggregate)]


def made(kind: Any) -> list[Any]:
    """Aggregates of a class: of the column `v`, or a condition on it, by every way its fields allow."""
    lacking = [each.name for each in dataclasses.fields(kind) if each.default is dataclasses.MISSING]
    if set(lacking) == {"column", "vector", "norm"}:
        return [kind("v", ("v", "w"), Fraction(norm)) for norm in (2, 100)]
    if strange := set(lacking) - {"column", "other"}:
        pytest.fail(f"{kind.__name__} has fields that this kit cannot fill: {strange}. Teach `made` to.")
    takes = kind.functions[0].column
    of = "v > 1" if kind.functions[0].takes == (Boolean,) else "v"
    columns = {"none": [()], "optional": [(of,), ()], "required": [(of, "w") if "other" in lacking else (of,)]}[takes]
    switches = [each.name for each in dataclasses.fields(kind) if each.default is False]
    return [kind(*column, **how) for column in columns for how in [{}, *({name: True} for name in switches)]]


def schema_of(limits: Any, unit: Unit, groups: int) -> Schema:
    return Schema("scenes", {"scene": Integer(0, groups - 1, nullable=False), "v": limits, "w": limits}, unit)


TURNS: list[Callable[[Any], Any]] = [
    lambda value: value,
    lambda value: None if value is None else -value,
    lambda _: INF,
]
"""What a second column holds beside a value of the first: all corners of two intervals are there."""


def measured(
    schema: Schema,
    taken: list[Measure],
    scenes: list[tuple[tuple[Any, ...], tuple[Any, ...]]],
    turns: Sequence[Callable[[Any], Any]] = TURNS[:1],
) -> list[list[int]]:
    """The measures of many small tables at once: each is a group, with people of its own.

    A scene is what one person's rows hold, and what others' do. The scenes are divided evenly between `turns`.
    """
    each = -(-len(scenes) // len(turns))
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
            "w": pyarrow.array([turns[row[0] // each](row[2]) for row in rows], pyarrow.float64()),
        }
    )
    query = Query().group_by("scene").agg(n=count()).checked(schema)
    with source_of(table).open() as connection:
        named = [name for each in taken if (name := getattr(each, "column", None)) is not None]
        wide = schema.computed(connection.table, named)
        found = connection.integers(compile_query(query, schema, taken, wide, [7] * 8))
    sums = [[0] * len(taken) for _ in scenes]
    for place, group in enumerate(found[GROUP].tolist()):
        sums[group] = [int(found[measure_name(index)][place]) for index in range(len(taken))]
    return sums


def attack(
    taken: Sequence[Measure], limits: Any, unit: Unit, charged: Any = sensitivity, turns: Any = TURNS[:1]
) -> None:
    """Every two scenes that differ in one unit, against the sensitivity that is charged for one group."""
    most = 1 if unit.column is None else 3
    mine = [
        rows
        for size in range(most + 1)
        for rows in itertools.combinations_with_replacement(VALUES[:: 1 if size < 2 else 3], size)
    ]
    scenes = [(rows, others) for _ in turns for others in ((), (1.0, None, 11.0)) for rows in mine]
    sums = measured(schema_of(limits, unit, len(scenes)), list(taken), scenes, turns)
    for index, measure in enumerate(taken):
        moved = charged(measure, unit, len(scenes))
        for crowd in range(2):  # rows of the same others: whatever is held beside, a unit may go from any to any
            starts = [(2 * turn + crowd) * len(mine) for turn in range(len(turns))]
            seen = [one[index] for start in starts for one in sums[start : start + len(mine)]]
            # Replaced, a unit goes from any rows to any others; added or removed, from none to any.
            from_all = unit.neighbours is Neighbours.REPLACE
            for start in starts:
                own = [one[index] for one in sums[start : start + len(mine)]]
                far = max(abs(value - own[0]) for value in own)
                if from_all:
                    far = max(own) - min(own) if crowd else max(seen) - min(seen)
                assert far <= moved.each, f"{measure} moves by {far}, and {moved.each} is charged"


@functools.cache
def _attacked(taken: tuple[Measure, ...], limits: Any, unit: Unit, turns: int) -> None:
    """Once for all aggregates that have the same measures."""
    attack(taken, limits, unit, turns=TURNS[:turns])


def unit_of(aggregate: Any) -> Unit:
    """Whom an aggregate can be asked about: persons, but for vectors, which are of rows."""
    return Unit() if aggregate.functions[0].name == "vector_mean" else Unit("p", groups=1, rows=1)


def attack_everywhere(aggregate: Any, limits: Any) -> None:
    """The attack on all measures of an aggregate, for every unit that it can be asked about."""
    for unit in UNITS:
        name = aggregate.functions[0].name
        if name == ("people" if unit.column is None else "vector_mean"):  # which is of persons, and which of rows
            continue
        taken = tuple(aggregate.measures(schema_of(limits, unit, 2)))
        _attacked(taken, limits, unit, len(TURNS) if "w" in aggregate.columns else 1)
