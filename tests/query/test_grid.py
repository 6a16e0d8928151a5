"""The bins of a column follow from what is declared, cover its bounds without gaps, and hold the values they say."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from visit_days import DAY, HIGH, LOW, SCHEMA, place

from discreet.data.column import Integer, Real
from discreet.data.source import source_of
from discreet.query.contribution import GROUP
from discreet.query.grid import DECADES, Days, grid_for
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.tally import BIN, ROWS, compile_tally


def test_a_grid_covers_the_bounds_without_gaps():
    for column, size in [
        (Integer(0, 120, nullable=False), 1024),
        (Integer(-5, 5000, nullable=False), 1000),
        (Real(0, 1, nullable=False), 7),
        (Real(-3, 1e6, nullable=False), 1024),
        (Real(-1000, 5e9, nullable=False), DECADES),
        (Integer(0, 10**6, nullable=False), DECADES),
        (Real("0.001", "0.002", nullable=False), DECADES),
    ]:
        grid = grid_for(column, size)
        assert grid.start(0) == float(column.lower)
        assert grid.end(grid.bins - 1) == float(column.upper)
        for j in range(grid.bins - 1):
            gap = 1 if column.__class__ is Integer and size != DECADES else 0
            assert grid.start(j + 1) == pytest.approx(grid.end(j) + gap, rel=1e-12, abs=1e-12)
            assert grid.start(j) <= grid.middle(j) <= grid.end(j)
    assert grid_for(Integer(0, 120, nullable=False), 1024).bins == 121  # as many as there are whole numbers
    assert {5.0, 10.0, 20.0, 50.0, 0.0, -1.0} <= {
        float(e) for e in grid_for(Real(-9, 99, nullable=False), DECADES).edges
    }


DAYS = st.none() | st.dates(date(1900, 1, 1), date(2100, 1, 1)) | st.sampled_from([LOW, HIGH, date(1970, 1, 1)])


@pytest.mark.parametrize("stored", ["date", "moment", "text"])
@settings(deadline=None, max_examples=15)
@given(st.lists(DAYS, max_size=30), st.sampled_from([2, 7, 1024, 2**16]))
def test_days_are_counted_by_the_rules(stored, days, size):
    grid = grid_for(DAY, size)
    if stored == "moment":
        cells = pyarrow.array([d and datetime(d.year, d.month, d.day, 23, 59) for d in days], pyarrow.timestamp("us"))
    elif stored == "text":
        cells = pyarrow.array([*(d and d.isoformat() for d in days), "2024-13-01", "soon"], pyarrow.string())
    else:
        cells = pyarrow.array(days, pyarrow.date32())
    query = Query().agg(m=median("day", grid=size)).checked(SCHEMA)
    with source_of(pyarrow.table({"day": cells})).open() as connection:
        found = connection.integers(compile_tally(query, SCHEMA, "day", grid, connection.table, list(range(10))))
    assert set(found[GROUP].tolist()) <= {0}
    got = dict(zip(found[BIN].tolist(), found[ROWS].tolist(), strict=True))
    assert got == Counter(place(day, grid) for day in days if day is not None)


@pytest.mark.parametrize("size", [2, 7, 100, 2**16])
def test_bins_of_days_cover_the_bounds_without_gaps(size):
    grid = grid_for(DAY, size)
    assert isinstance(grid, Days)
    assert grid.start(0) == LOW.toordinal()
    assert grid.end(grid.bins - 1) == HIGH.toordinal()
    for j in range(grid.bins - 1):
        assert grid.end(j) + 1 == grid.start(j + 1)
        assert grid.start(j) <= grid.middle(j) <= grid.end(j)
    assert grid.bins <= size
    assert grid_for(DAY, 2**16).width == 1
