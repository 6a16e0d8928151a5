"""Two tables, value by value: every column and every pair once, and plain values."""

import json

import numpy as np
from report_rows import DOMAIN, SCHEMA, some_codes

from discreet.synth.report.comparison import comparison_of
from discreet.synth.rows import ColumnValues, draw_rows

REAL = draw_rows(DOMAIN, SCHEMA.columns, some_codes(2000, 1))
MADE = draw_rows(DOMAIN, SCHEMA.columns, some_codes(1500, 2))


def test_every_column_and_every_pair_is_compared():
    found = comparison_of(SCHEMA.columns, REAL, MADE)
    assert found.rows == (2000, 1500)
    assert [one.name for one in found.columns] == [*DOMAIN.names, "weekday of day"]
    assert [one.name for one in found.histograms] == [one.name for one in found.columns]
    assert len(found.pairs) == 15
    square = found.matrix(lambda pair: pair.tv)
    assert np.array_equal(square, square.T, equal_nan=True)
    assert np.isnan(np.diag(square)).all()
    assert square[0, 2] == next(one.tv for one in found.pairs if one.columns == (0, 2))
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(plain) == {"findings", "columns", "pairs", "closest"}
    assert plain["pairs"][0]["tv"] == max(one.tv for one in found.pairs)
    assert set(plain["pairs"][0]["columns"]) <= set(DOMAIN.names)


def test_a_spike_inside_a_bin_is_named_first():
    rows = len(REAL["pay"].values)
    half = np.arange(rows) < 0.95 * rows
    known = np.zeros(rows, dtype=bool)
    spike = {**REAL, "pay": ColumnValues(np.where(half, 0.0, 700.0), known)}
    rng = np.random.default_rng(3)
    smear = {**REAL, "pay": ColumnValues(np.where(half, rng.uniform(0, 100, rows), 700.0), known)}
    found = comparison_of(SCHEMA.columns, spike, smear)
    assert found.findings[0].columns == ("pay",)
    assert found.findings[0].text == "pay: exactly 0 in 95.0% of real rows, 0.0% of synthetic rows."
    same = comparison_of(SCHEMA.columns, spike, spike)
    assert same.findings == ()
    assert comparison_of(SCHEMA.columns, smear, smear).findings == ()
