"""A table in hand is read as the engine reads it."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import pyarrow
import pytest
from report_rows import DOMAIN, SCHEMA

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts
from discreet.noise.bits import SystemBits
from discreet.synth.report.encoding import encoded

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
