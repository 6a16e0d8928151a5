"""Exact marginals: those of an array, and those of codes that were put together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts, MergedCounts, fold
from discreet.marginals.domain import Domain

SIZES = {"a": 2, "b": 3, "c": 4}
COLUMNS = {name: Category([str(code) for code in range(size)], nullable=False) for name, size in SIZES.items()}
DOMAIN = Domain.of(Schema("t", COLUMNS))
ROWS = np.random.default_rng(1).integers(0, DOMAIN.sizes, (200, 3))
BINS = [np.array([0, 1]), np.array([0, 1, 0]), np.array([1, 0, 0, 1])]
SUBSETS = [subset for size in range(4) for subset in itertools.combinations(range(3), size)]


@pytest.mark.parametrize("columns", SUBSETS)
def test_a_marginal_counts_every_row_once_in_its_cell(columns):
    table = ArrayCounts(DOMAIN, ROWS).marginal(columns)
    assert table.shape == tuple(DOMAIN.sizes[column] for column in columns)
    expected = np.zeros(table.shape, dtype=np.int64)
    for row in ROWS:
        expected[tuple(row[list(columns)])] += 1
    assert np.array_equal(table, expected)


def test_no_rows_are_counted_as_zeros():
    counts = ArrayCounts(DOMAIN, np.zeros((0, 3), dtype=np.int64))
    assert counts.marginal((0, 2)).tolist() == [[0] * 4] * 2
    assert counts.marginal(()) == 0


@pytest.mark.parametrize("columns", SUBSETS)
def test_merged_counts_are_those_of_merged_rows(columns):
    codes = np.column_stack([bins[ROWS[:, column]] for column, bins in enumerate(BINS)])
    merged = MergedCounts(ArrayCounts(DOMAIN, ROWS), BINS)
    assert merged.domain.sizes == (2, 2, 2)
    assert np.array_equal(merged.marginal(columns), ArrayCounts(merged.domain, codes).marginal(columns))


def test_a_marginal_that_a_caller_changes_is_not_changed_for_the_next():
    merged = MergedCounts(ArrayCounts(DOMAIN, ROWS), BINS)
    merged.marginal((0,))[:] = 0
    assert merged.marginal((0,)).sum() == len(ROWS)


def test_marginals_are_prepared_by_whoever_counts():
    class Engine(ArrayCounts):
        def prepare(self, marginals):
            self.prepared = list(marginals)

    engine = Engine(DOMAIN, ROWS)
    MergedCounts(engine, BINS).prepare([(0, 1), (2,)])
    assert engine.prepared == [(0, 1), (2,)]


def test_a_fold_adds_slices_along_one_axis():
    table = np.arange(6).reshape(2, 3)
    assert fold(table, 1, np.array([0, 1, 0]), 2).tolist() == [[2, 1], [8, 4]]


@pytest.mark.parametrize("codes", [[[0, 0]], [[0, 0, 4]], [[-1, 0, 0]], [[0.0, 0.0, 0.0]]])
def test_codes_that_are_none_are_refused(codes):
    with pytest.raises(InputError, match="`codes"):
        ArrayCounts(DOMAIN, np.array(codes))
