"""Marginals that are looked up together give what each gives alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.synth import row_cells
from discreet.synth.row_cells import RowCells

SIZES = (3, 5, 2, 7)
MARGINALS = [(0,), (3,), *itertools.combinations(range(4), 2), (0, 1, 3)]


@pytest.mark.parametrize("together", [1, 40, 10**4])
def test_sums_are_those_of_each_marginal_alone(monkeypatch, together):
    monkeypatch.setattr(row_cells, "_TOGETHER", together)
    chance = np.random.default_rng(5)
    rows = np.column_stack([chance.integers(0, size, 300) for size in SIZES]).astype(np.int32)
    values = [chance.normal(size=[SIZES[column] for column in columns]) for columns in MARGINALS]
    weights = chance.uniform(size=300)
    cells = RowCells(SIZES, rows, MARGINALS)
    codes = [tuple(rows[:, column] for column in columns) for columns in MARGINALS]
    each = sum(table[code] for table, code in zip(values, codes, strict=True))
    np.testing.assert_allclose(cells.gathered(values), each)
    for code, table, sums in zip(codes, values, cells.added_up(weights), strict=True):
        expected = np.zeros(table.shape)
        np.add.at(expected, code, weights)
        np.testing.assert_allclose(sums, expected)


def test_no_rows_weigh_nothing():
    cells = RowCells(SIZES, np.zeros((0, 4), dtype=np.int32), MARGINALS)
    assert cells.gathered([np.ones([SIZES[column] for column in columns]) for columns in MARGINALS]).shape == (0,)
    assert all(not sums.any() for sums in cells.added_up(np.zeros(0)))
