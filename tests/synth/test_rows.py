"""Rows made of codes have the declared types and bounds, and say again what their codes said."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from datetime import date

import numpy as np
import pyarrow
from typed_rows import DOMAIN, SCHEMA, some_codes

from discreet.data.column import Date, Integer, Real
from discreet.data.source import source_of
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.engine import EngineCounts
from discreet.noise.bits import SystemBits
from discreet.synth import rows as module
from discreet.synth.exclusions import read_conditions, repaired
from discreet.synth.rows import draw_rows, key_column, seed_of, to_arrow


def arrow(codes: np.ndarray) -> pyarrow.Table:
    drawn = draw_rows(DOMAIN, SCHEMA.columns, codes)
    return pyarrow.table({one.name: to_arrow(SCHEMA.columns[one.name], drawn[one.name]) for one in DOMAIN.attributes})


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


def test_the_columns_kept_are_told_apart():
    # "employed" is given up, not the age: the ages of children stay as they were.
    codes = some_codes()
    conditions = read_conditions("age < 16 and works", SCHEMA, DOMAIN)
    fixed, _, _ = repaired(DOMAIN, SCHEMA.columns, codes, conditions)
    age = DOMAIN.place("age")
    assert np.array_equal(fixed[:, age], codes[:, age])


def test_draws_do_not_depend_on_how_wide_codes_are(monkeypatch):
    codes = some_codes()
    assert seed_of(codes.astype(np.int32)) == seed_of(codes.astype(np.int64)) == seed_of(np.asfortranarray(codes))
    assert seed_of(codes) == hashlib.sha256(codes.astype("<i8").tobytes()).digest()
    monkeypatch.setattr(module, "_AT_ONCE", 7)
    assert seed_of(codes) == hashlib.sha256(codes.astype("<i8").tobytes()).digest()


WITHOUT_PANDAS = """
import sys
import numpy as np
from discreet.data.column import Category, Integer
from discreet.synth.rows import ColumnValues, key_column, to_arrow
gaps = np.array([False, True, False])
words = to_arrow(Category(["f", "Zoë"], nullable=True), ColumnValues(np.array([1, 0, 0]), gaps))
numbers = to_arrow(Integer(0, 9), ColumnValues(np.array([4, 0, 9]), gaps))
print(words.to_pylist() == ["Zoë", None, "f"], numbers.to_pylist() == [4, None, 9])
print(key_column("P{}", 2).to_pylist() == ["P1", "P2"], "pandas" in sys.modules)
"""


def test_rows_become_a_table_without_pandas():
    said = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "True", "True", "False"]
