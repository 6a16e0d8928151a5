"""Rows made of codes have the declared types and bounds, say again what their codes said, and keep to what can be."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts
from discreet.noise.bits import SystemBits
from discreet.query.predicate import col
from discreet.synth.exclusions import holds, possible, read_conditions, repaired
from discreet.synth.rows import draw_rows, key_column, to_arrow

SCHEMA = Schema(
    "t",
    {
        "sex": Category(["f", "m", "=1+1"], nullable=True),
        "works": Boolean(nullable=False),
        "flag": Boolean(nullable=True),
        "age": Integer(0, 99, nullable=False),
        "size": Integer(-7, 1000, nullable=True),
        "exact": Integer(0, 640, nullable=False),
        "pay": Real(0, 150_000, nullable=True),
        "odd": Real("0.1", "0.7", nullable=False),
        "far": Real(2**40, 2**40 + 3, nullable=False),
        "day": Date("2020-02-27", "2021-03-02", nullable=True),
        "near": Date("2020-01-01", "2020-01-03", nullable=False),
    },
    Unit(),
)
DOMAIN = Domain.of(SCHEMA)


def some_codes(rows: int = 4000, seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, rows) for size in DOMAIN.sizes], axis=1)


def arrow(codes: np.ndarray) -> pyarrow.Table:
    drawn = draw_rows(DOMAIN, SCHEMA.columns, codes)
    return pyarrow.table(
        {one.name: to_arrow(one, SCHEMA.columns[one.name], drawn[one.name]) for one in DOMAIN.attributes}
    )


def test_rows_say_again_what_their_codes_said():
    # Through the engine and its rules for reading: every value is in the cell it was drawn from.
    codes = some_codes()
    with source_of(arrow(codes)).open() as connection:
        found = EngineCounts(DOMAIN, SCHEMA, connection, SystemBits())
        wanted = ArrayCounts(DOMAIN, codes)
        pairs = [(one, one + 1) for one in range(len(DOMAIN) - 1)]
        found.prepare(pairs)
        for columns in pairs:
            assert np.array_equal(found.marginal(columns), wanted.marginal(columns)), columns


def test_types_bounds_and_gaps():
    codes = some_codes()
    table = arrow(codes)
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert kinds == {
        "sex": "string",
        "works": "bool",
        "flag": "bool",
        "age": "int64",
        "size": "int64",
        "exact": "int64",
        "pay": "double",
        "odd": "double",
        "far": "double",
        "day": "date32[day]",
        "near": "date32[day]",
    }
    for place, attribute in enumerate(DOMAIN.attributes):
        column, values = SCHEMA.columns[attribute.name], table[attribute.name].to_pylist()
        gaps = (codes[:, place] == attribute.size - 1).sum() if attribute.missing else 0
        assert values.count(None) == gaps
        if isinstance(column, (Integer, Real, Date)):
            known = [value for value in values if value is not None]
            assert column.lower <= min(known)
            assert max(known) <= column.upper
    # Bins are used to their ends: the first and the last number and day do occur.
    assert {min(table["exact"].to_pylist()), max(table["exact"].to_pylist())} == {0, 640}
    assert set(table["near"].to_pylist()) == {date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)}
    assert len(set(table["pay"].to_pylist())) > 2000  # within a bin values differ


def test_the_same_codes_make_the_same_rows():
    assert arrow(some_codes()).equals(arrow(some_codes()))
    assert not arrow(some_codes()).equals(arrow(some_codes(seed=4)))


def test_no_rows_are_a_table_too():
    assert arrow(some_codes(0)).num_rows == 0


def test_keys():
    assert key_column("P{:06d}", 3).to_pylist() == ["P000001", "P000002", "P000003"]
    assert key_column(10, 2).to_pylist() == [10, 11]


CONDITIONS = ["age < 16 and works", "flag is null and sex = 'm'", "size > 500 and not (pay > 1000)"]


def test_what_cannot_be_is_not():
    codes = some_codes()
    conditions = read_conditions(CONDITIONS, SCHEMA, DOMAIN)
    before = draw_rows(DOMAIN, SCHEMA.columns, codes)
    assert all(holds(condition, before, DOMAIN).any() for condition in conditions)
    fixed, drawn, changed = repaired(DOMAIN, SCHEMA.columns, codes, conditions)
    assert not any(holds(condition, drawn, DOMAIN).any() for condition in conditions)
    met = np.logical_or.reduce([holds(condition, before, DOMAIN) for condition in conditions])
    assert changed == met.sum()
    assert np.array_equal(fixed[~met], codes[~met])
    DOMAIN.check(fixed)
    # As little as will do: one column of a row that met one condition.
    assert (fixed != codes).sum() <= 1.3 * changed
    # Values and codes are still each other's.
    for place, attribute in enumerate(DOMAIN.attributes):
        if attribute.missing:
            assert np.array_equal(drawn[attribute.name].missing, fixed[:, place] == attribute.size - 1)
    assert np.array_equal(drawn["age"].values, fixed[:, DOMAIN.place("age")])


def test_the_columns_kept_are_told_apart():
    # "employed" is given up, not the age: the ages of children stay as they were.
    codes = some_codes()
    conditions = read_conditions("age < 16 and works", SCHEMA, DOMAIN)
    fixed, _, _ = repaired(DOMAIN, SCHEMA.columns, codes, conditions)
    age = DOMAIN.place("age")
    assert np.array_equal(fixed[:, age], codes[:, age])


def test_when_no_row_is_possible_others_are_made():
    codes = some_codes(500)
    codes[:, DOMAIN.place("works")] = 1
    conditions = read_conditions([col("works") == True], SCHEMA, DOMAIN)  # noqa: E712
    fixed, drawn, changed = repaired(DOMAIN, SCHEMA.columns, codes, conditions)
    assert changed == 500
    assert not holds(conditions[0], drawn, DOMAIN).any()
    assert (fixed[:, DOMAIN.place("works")] == 0).all()


def test_nothing_is_changed_where_nothing_is_impossible():
    codes = some_codes(100)
    fixed, _, changed = repaired(DOMAIN, SCHEMA.columns, codes, ())
    assert changed == 0
    assert np.array_equal(fixed, codes)
    assert len(possible(DOMAIN, SCHEMA.columns, read_conditions(["age < 0"], SCHEMA, DOMAIN))) > 1000


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (["age >= 0"], "leave some rows possible"),
        (["works", "not works"], "leave some rows possible"),
        (["nowhere = 3"], "declared column"),
        (["sex = 'x'"], "declared value of sex"),
        (["sex <"], "impossible"),
        ([5], "impossible"),
    ],
)
def test_conditions_are_refused_before_anything_is_spent(conditions, told):
    with pytest.raises(InputError, match=told) as problem:
        read_conditions(conditions, SCHEMA, DOMAIN)
    assert problem.value.field == "impossible"


def test_conditions_are_about_the_columns_that_are_made():
    with pytest.raises(InputError, match="must be age"):
        read_conditions(["works"], SCHEMA, Domain.of(SCHEMA, ["age"]))
