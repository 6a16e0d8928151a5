"""The laws every aggregate and every measure obeys. A new one is attacked as soon as it is registered.

Aggregates are found in the register and measures in `query/measure.py`, not listed. Each is attacked by brute force
through the engine: every value that a row can hold, alone and beside others, added, removed and replaced; no integer
may move further than the sensitivity that is charged for it.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any, get_args
from unittest import mock

import pytest
from attrs import evolve

import discreet.query.aggregate as aggregates
import discreet.query.measure as measures
from aggregate_kit import (
    LIMITS,
    UNITS,
    VALUES,
    attack,
    attack_everywhere,
    made,
    measured,
    registered,
    schema_of,
    unit_of,
)
from discreet.core.unit import Unit
from discreet.data.column import Real
from discreet.query.aggregate import Additive, Derived
from discreet.query.measure import Cross, Measure, Rows, Total, lattice_for, sensitivity

AGGREGATES = [one for kind in registered() for one in made(kind)]


def classes(module: ModuleType, *has: str) -> list[type]:
    """The public classes that a module defines and that have these names."""
    found = [one for _, one in inspect.getmembers(module, inspect.isclass) if one.__module__ == module.__name__]
    return [one for one in found if not one.__name__.startswith("_") and all(hasattr(one, name) for name in has)]


def defined() -> set[type]:
    """The aggregates that the files of the folder define, registered or not."""
    files = [
        importlib.import_module(f"{aggregates.__name__}.{each.name}")
        for each in pkgutil.iter_modules(aggregates.__path__)
    ]
    return {kind for file in files for kind in classes(file, "measures", "estimate") if not inspect.isabstract(kind)}


every = pytest.mark.parametrize("aggregate", AGGREGATES, ids=repr)


def test_every_aggregate_and_measure_is_known_to_the_plan():
    """What is defined is what the plan, the estimates, every list of functions and this kit go through."""
    assert defined() == set(registered())
    assert all(issubclass(kind, (Additive, Derived)) for kind in registered())
    assert set(classes(measures, "lowest", "highest")) == set(get_args(Measure))


def test_every_measure_is_attacked():
    limits = Real(-3, 10, nullable=True)
    taken = {type(m) for one in AGGREGATES for m in one.measures(schema_of(limits, unit_of(one), 2))}
    assert taken == set(get_args(Measure))


@every
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_no_unit_moves_a_measure_further_than_is_charged(aggregate, limits):
    attack_everywhere(aggregate, limits)


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
    schema = schema_of(Real(-3, 10, nullable=False), unit_of(aggregate), 2)
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


class Halved(Cross):
    """A product that claims half of what its rows add."""

    __slots__ = ()

    @property
    def highest(self) -> int:
        return Cross(self.first, self.second).highest // 2

    @property
    def lowest(self) -> int:
        return -self.highest


@pytest.mark.parametrize("unit", UNITS[:1], ids=str)
def test_a_product_that_claims_too_little_is_caught(unit):
    limits = Real(-3, 10.5, nullable=False)
    true = aggregates.covariance("v", "w").cross(schema_of(limits, unit, 2))
    with pytest.raises(AssertionError, match="is charged"):
        attack([Rows(), Halved(true.first, true.second)], limits, unit)


def test_an_aggregate_that_nobody_registered_is_caught():
    """A class beside the others, as a contributor would write it."""

    @dataclasses.dataclass(frozen=True, slots=True)
    class Extra(aggregates.Sum):
        pass

    file = importlib.import_module("discreet.query.aggregate.sums")
    Extra.__module__ = file.__name__
    with mock.patch.object(file, "Extra", Extra, create=True), pytest.raises(AssertionError):
        test_every_aggregate_and_measure_is_known_to_the_plan()
