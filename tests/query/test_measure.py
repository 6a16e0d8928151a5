"""How far one unit can move the measures: tried on neighbours, against the engine's own counts."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dirty import SALT, engine
from discreet.core.lattice import Lattice
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.query.aggregate import count, mean, people, std, total
from discreet.query.measure import Moment, Rows, contribution, lattice_for, moment_lattice, sensitivity
from discreet.query.question import Query
from reference import measures_of, of_persons, of_rows

COLUMNS = {
    "g": Integer(0, 3, nullable=False),
    "v": Integer(-2, 5, nullable=False),
    "w": Integer(3, 7, nullable=True),
    "x": Real(-1, 4, nullable=False),
}
QUERY = Query().group_by("g").agg(n=count(), who=people(), v=total("v"), w=mean("w"), x=std("x"))
ROW_QUERY = Query().group_by("g").agg(n=count(), v=total("v"), w=mean("w"), x=std("x"))
KINDS = list(Neighbours)

cells = st.fixed_dictionaries(
    {
        "p": st.integers(0, 4),
        "g": st.integers(0, 3),
        "v": st.integers(-9, 9),
        "w": st.none() | st.integers(0, 9),
        "x": st.none() | st.floats(-9, 9),
    }
)
units = st.builds(Unit, st.just("p"), st.sampled_from(KINDS), st.integers(1, 4), st.integers(1, 3))


def moved(one: dict, other: dict, index: int) -> list[int]:
    """By how much each group differs."""
    places = {*one, *other}
    changes = [(one.get(p) or [0] * 9)[index] - (other.get(p) or [0] * 9)[index] for p in places]
    return [abs(change) for change in changes if change]


def within(changes: list[int], limit: Sensitivity) -> bool:
    """Whether changes keep to a sensitivity, in every norm."""
    norms = sum(changes) <= limit.l1 and sum(c * c for c in changes) <= limit.l2_squared
    return len(changes) <= limit.outputs and all(change <= limit.each for change in changes) and norms


def counts(rows: list[dict], schema: Schema) -> dict:
    query = (QUERY if schema.unit.column else ROW_QUERY).checked(schema)
    measures = measures_of(query, schema)
    return (
        of_persons(query, schema, measures, rows, SALT)
        if schema.unit.column
        else of_rows(query, schema, measures, rows)
    )


def limits(schema: Schema) -> list[Sensitivity]:
    query = (QUERY if schema.unit.column else ROW_QUERY).checked(schema)
    return [sensitivity(m, schema.unit, query.groups(schema)) for m in measures_of(query, schema)]


@settings(max_examples=200, deadline=None)
@given(st.lists(cells, max_size=14), cells, cells, st.sampled_from(KINDS))
def test_a_row_moves_no_more_than_is_said(rows, added, other, kind):
    schema = Schema("t", COLUMNS, Unit(neighbours=kind))
    one, two = counts([*rows, added], schema), counts(rows if kind == "add-remove" else [*rows, other], schema)
    assert all(within(moved(one, two, index), limit) for index, limit in enumerate(limits(schema)))


@settings(max_examples=300, deadline=None)
@given(st.lists(cells, max_size=14), st.lists(cells, max_size=14), units)
def test_a_person_moves_no_more_than_is_said(rows, others, unit):
    schema = Schema("t", COLUMNS, unit)
    rest = [row for row in rows if row["p"] != 0]
    person = [{**row, "p": 0} for row in others]
    before = counts([*rest, *(row for row in rows if row["p"] == 0)], schema)
    after = counts([*rest, *person] if unit.neighbours is Neighbours.REPLACE else rest, schema)
    assert all(within(moved(before, after, index), limit) for index, limit in enumerate(limits(schema)))


def engine_counts(rows: list[dict], schema: Schema) -> dict:
    kinds = {
        "p": pyarrow.int64(),
        "g": pyarrow.int64(),
        "v": pyarrow.int64(),
        "w": pyarrow.int64(),
        "x": pyarrow.float64(),
    }
    table = pyarrow.table({name: pyarrow.array([row[name] for row in rows], kind) for name, kind in kinds.items()})
    return engine(source_of(table), QUERY if schema.unit.column else ROW_QUERY, schema)


def crowd(size: int) -> list[dict]:
    chance = random.Random(3)
    return [
        {
            "p": chance.randrange(4),
            "g": chance.randrange(4),
            "v": chance.randint(-9, 9),
            "w": 9,
            "x": chance.uniform(-9, 9),
        }
        for _ in range(size)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_keeps_to_it_with_one_salt(kind):
    rows = crowd(30)
    unit = Unit("p", kind, groups=2, rows=2)
    schema = Schema("t", COLUMNS, unit)
    before = engine_counts(rows, schema)
    for person in range(4):
        rest = [row for row in rows if row["p"] != person]
        if kind is Neighbours.REPLACE:
            rest += [{"p": person, "g": g, "v": 9, "w": 0, "x": 9.0} for g in range(4) for _ in range(5)]
        after = engine_counts(rest, schema)
        assert all(within(moved(before, after, index), limit) for index, limit in enumerate(limits(schema)))


def test_which_groups_count_for_one_person_does_not_depend_on_the_others():
    schema = Schema("t", COLUMNS, Unit("p", groups=2, rows=2))
    rows = crowd(60)
    together = engine_counts(rows, schema)
    alone = [engine_counts([row for row in rows if row["p"] == person], schema) for person in range(4)]
    measures = len(next(iter(together.values())))
    for place in range(4):
        for index in range(measures):
            parts = sum((found.get(place) or [0] * measures)[index] for found in alone)
            assert parts == (together.get(place) or [0] * measures)[index]
    shuffled = rows[::-1]
    assert engine_counts(shuffled, schema) == together


def worst_rows(value, *, group=0, person=0, times=1):
    return [{"p": person, "g": group, "v": value, "w": value, "x": float(value)}] * times


def test_the_bounds_are_reached():
    add = Schema("t", COLUMNS, Unit("p", groups=3, rows=2))
    everywhere = [row for g in range(4) for row in worst_rows(9, group=g, times=5)]
    for index, limit in enumerate(limits(add)):
        changes = moved(counts(everywhere, add), {}, index)
        assert len(changes) == limit.outputs
        if index != 3:  # the middle of w is not in the middle: its largest is reached at the other end
            assert max(changes) in (limit.each, limit.each - 1)
    replaced = Schema("t", COLUMNS, Unit("p", "replace", groups=1, rows=2))
    low, high = counts(worst_rows(-9, times=5), replaced), counts(worst_rows(9, times=5), replaced)
    assert max(moved(low, high, 2)) == limits(replaced)[2].each == 2 * (5 + 2)
    elsewhere = counts(worst_rows(9, group=1, times=5), replaced)
    assert len(moved(high, elsewhere, 2)) == limits(replaced)[2].outputs == 2


MUTANTS = {
    "rows forgotten": lambda m, unit, groups: sensitivity(m, replace(unit, rows=1), groups),
    "groups forgotten": lambda m, unit, groups: sensitivity(m, replace(unit, groups=1), groups),
    "replace taken for add or remove": lambda m, unit, groups: sensitivity(
        m, replace(unit, neighbours="add-remove"), groups
    ),
    "only the upper bound": lambda m, unit, groups: Sensitivity(
        max(1, contribution(m, unit)[1]), sensitivity(m, unit, groups).outputs
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_sensitivity_is_caught(mutant):
    wrong, caught = MUTANTS[mutant], False
    for kind in KINDS:
        schema = Schema("t", COLUMNS, Unit("p", kind, groups=2, rows=2))
        measures = measures_of(QUERY.checked(schema), schema)
        for value, other in ((9, -9), (-9, 9)):
            one = [row for g in (0, 1) for row in worst_rows(value, group=g, times=4)]
            two = [row for g in (1, 2) for row in worst_rows(other, group=g, times=4)] if kind == "replace" else []
            for index, measure in enumerate(measures):
                changes = moved(counts(one, schema), counts(two, schema), index)
                assert within(changes, sensitivity(measure, schema.unit, 4))
                caught |= not within(changes, wrong(measure, schema.unit, 4))
    assert caught


def test_never_more_groups_than_there_are():
    schema = Schema("t", {"v": Integer(0, 1, nullable=False)}, Unit("p", "replace", groups=9, rows=1))
    (measure,) = count().measures(schema)
    assert sensitivity(measure, schema.unit, 1) == Sensitivity(1, 1)
    assert sensitivity(measure, schema.unit, 12) == Sensitivity(1, 12)


@given(st.fractions(-(2**52), 2**52), st.fractions(-(2**52), 2**52), st.booleans())
def test_a_lattice_fits_its_bounds(low, high, whole):
    low, high = min(low, high), max(low, high)
    column = Integer(0, 1, nullable=False) if whole else Real(0, 1, nullable=False)
    try:
        lattice = lattice_for(column, low, high)
    except InputError:
        assert high - low < max(2, max(abs(low), abs(high)) / 2**28)
        return
    assert lattice.width >= 1
    assert lattice.magnitude <= 2**30
    if whole and max(abs(low), abs(high)) <= 2**20:
        assert lattice.step == 1


@given(st.fractions(-(2**52), 2**52), st.fractions(-(2**52), 2**52), st.booleans(), st.booleans())
def test_moments_share_a_lattice_and_fit_32_bits(low, high, integers, whole):
    low, high = min(low, high), max(low, high)
    column = Integer(0, 1, nullable=False) if integers else Real(0, 1, nullable=False)
    try:
        lattice = moment_lattice(column, low, high, whole=whole)
    except InputError:
        assert high - low < max(2, max(abs(low), abs(high)) / 2**28)
        return
    assert 1 <= lattice.width <= 2**22 + 1
    assert lattice.magnitude <= 2**30
    if integers:  # what is read as a whole number lies on the lattice where it has steps of one or less
        assert lattice.step >= 1 or (lattice.lowest * lattice.step).denominator == 1
    for power in (1, 2):
        moment = Moment("x", lattice, power, Rows())
        values = [moment.of(steps) for steps in (lattice.lowest, moment.middle, lattice.highest)]
        assert min(values) == moment.lowest
        assert max(values) == moment.highest
        assert -(2**24) <= moment.lowest <= 0 <= moment.highest <= 2**24


@given(st.integers(0, 2**22), st.integers(1, 2**21))
def test_a_square_is_rounded_to_the_nearest_step(steps, half):
    moment = Moment("x", Lattice(0, 2 * half), 2, Rows())
    away = min(steps, 2 * half) - moment.middle
    assert abs((moment.of(min(steps, 2 * half)) + moment.centre) * 2**moment.shift - away**2) <= 2**moment.shift // 2


def test_a_lattice_is_declared_not_found():
    assert lattice_for(Real(0, 100, nullable=False), Fraction(0), Fraction(100)).step == Fraction(1, 8192)
    assert lattice_for(Integer(0, 10**9, nullable=False), Fraction(0), Fraction(10**9)).step == 1
    assert moment_lattice(Integer(0, 100, nullable=False), Fraction(0), Fraction(100), whole=True).step == 1
    assert moment_lattice(Integer(0, 100, nullable=False), Fraction(0), Fraction(100), whole=False).step == Fraction(
        1, 2**15
    )
