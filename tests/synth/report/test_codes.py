"""A table in hand is read as the engine reads it."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from report_rows import DOMAIN, SCHEMA

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Real, Timestamp
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.engine import EngineCounts
from discreet.noise.bits import SystemBits
from discreet.query.key import bins
from discreet.synth.report.codes import encoded
from discreet.synth.report.comparison import comparison_of

# The real rows, and what is learnt.


def messy(rows: int = 3000) -> pyarrow.Table:
    rng = np.random.default_rng(8)
    sex = rng.choice(["f", "m", "x", "?", ""], rows).tolist()
    return pyarrow.table(
        {
            "sex": [None if one == "" else one for one in sex],
            "works": rng.choice(["yes", "no", "TRUE", "0", "maybe"], rows),
            "age": rng.choice([-5.0, 0.5, 12.4999, 99.5, 1e9, math.inf, math.nan, 40, 41.5], rows),
            "size": [None if one < -50 else int(one) for one in rng.integers(-60, 1100, rows)],
            "pay": rng.choice(["", "1e2", "111.1", "x", "1000", "-3", "333.33333"], rows),
            "day": [
                None if one % 7 == 0 else date.fromordinal(737_400 + int(one)) for one in rng.integers(0, 700, rows)
            ],
        }
    )


def test_a_table_in_hand_is_read_as_the_engine_reads_it():
    table = messy()
    copy = encoded(table, DOMAIN, SCHEMA.columns)
    mine = ArrayCounts(DOMAIN, copy.codes)
    with source_of(table).open() as connection:
        engine = EngineCounts(DOMAIN, SCHEMA, connection, SystemBits())
        for columns in [(place,) for place in range(len(DOMAIN))] + [(0, 1, 4), (2, 3), (3, 5)]:
            assert np.array_equal(mine.marginal(columns), engine.marginal(columns)), columns
    pay = copy.drawn["pay"]
    assert pay.missing.sum() == ArrayCounts(DOMAIN, copy.codes).marginal((4,))[-1]
    assert set(pay.values[~pay.missing]) == {0.0, 100.0, 111.1, 333.33333, 1000.0}
    frames = [table.to_pandas(), __import__("polars").from_arrow(table)]
    for frame in frames:
        assert np.array_equal(encoded(frame, DOMAIN, SCHEMA.columns).codes, copy.codes)


def test_moments_and_whole_floats_are_read_as_the_engine_reads_them():
    schema = Schema(
        "t",
        {
            "zone": Category(["1", "2"], nullable=False),
            "day": Date("2020-01-01", "2020-12-31", nullable=False),
            "b": Boolean(nullable=False),
        },
        Unit(),
    )
    domain = Domain.of(schema, bins=50)
    when = np.datetime64("2020-01-01T00:00:00") + np.arange(400) * np.timedelta64(79_000, "s")
    table = pyarrow.table(
        {
            "zone": [1.0, 2.0, 1.5, 2.0] * 100,
            "day": pyarrow.array(when.astype("datetime64[us]"), pyarrow.timestamp("us", "Europe/Berlin")),
            "b": [True, None, False, True] * 100,
        }
    )
    with source_of(table).open() as connection:
        engine = EngineCounts(domain, schema, connection, SystemBits())
        mine = ArrayCounts(domain, encoded(table, domain, schema.columns).codes)
        assert np.array_equal(mine.marginal((0, 1, 2)), engine.marginal((0, 1, 2)))
    words = table.set_column(1, "day", pyarrow.array([str(one)[:10] for one in when]))
    assert np.array_equal(encoded(words, domain, schema.columns).codes, encoded(table, domain, schema.columns).codes)


def test_tables_that_cannot_be_compared_are_refused():
    with pytest.raises(InputError, match="with the columns sex"):
        encoded(messy().drop_columns(["age"]), DOMAIN, SCHEMA.columns)
    with pytest.raises(InputError, match="in memory"):
        encoded("people.csv", DOMAIN, SCHEMA.columns)
    nothing = messy().set_column(1, "works", pyarrow.array(["maybe"] * 3000))
    with pytest.raises(InputError, match="rows without one"):
        encoded(nothing, DOMAIN, SCHEMA.columns)


def test_single_values_may_have_codes_beside_bins():
    schema = Schema("t", {"tolls": Real(0, 20, nullable=False)}, Unit())
    cut = Domain.of(schema, bins=2).attributes[0]
    domain = Domain((replace(cut, labels=(Fraction(0), *cut.labels, Fraction(20))),))
    table = pyarrow.table({"tolls": [0.0, 0.01, 9.99, 10.0, 19.99, 20.0, 25.0, -3.0]})
    assert encoded(table, domain, schema.columns).codes[:, 0].tolist() == [0, 1, 1, 2, 2, 3, 3, 0]


def test_instants_are_ordered_values_in_bins():
    column = Timestamp("2024-01-01", "2024-12-31", "Europe/Vienna")
    schema = Schema("t", {"at": column}, Unit())
    key = bins("at", ["2024-01-01", "2024-07-01", "2025-01-01"]).checked(schema)
    attribute = Attribute("at", key, (*key.labels(schema),), True, True)
    table = pyarrow.table({"at": ["2024-06-30 23:59:59", "2024-07-01", None, "2030-01-01", "2024-06-30 22:30Z"]})
    copy = encoded(table, Domain((attribute,)), schema.columns)
    assert copy.codes[:, 0].tolist() == [0, 1, 2, 1, 1]
    assert copy.drawn["at"].missing.tolist() == [False, False, True, False, False]
    seconds = copy.drawn["at"].values
    assert seconds[1] - seconds[0] == 1
    assert seconds[3] == int(column.upper)
    found = comparison_of(schema.columns, copy.drawn, copy.drawn)
    assert [one.name for one in found.columns] == ["at", "weekday of at", "hour of at"]
    assert found.columns[0].ks == 0
