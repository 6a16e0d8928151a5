"""Exchanges inside of bins bring marginals nearer to what is expected, and change nothing else."""

import numpy as np
import pytest

from discreet.noise.replay import Replay
from discreet.synth import swaps as module
from discreet.synth.compression import Compression
from discreet.synth.swaps import exchange_codes

SIZES = (40, 6, 30)
BINS = (np.arange(40) // 8, np.arange(6), np.arange(30) // 10)
ASKED = {(0, 1): 1.0, (0, 1, 2): 2.0, (1, 2): 1.0}


def opened(seed=1):
    """A compression and rows opened by it; the first two columns depend on each other."""
    chance = np.random.default_rng(seed)
    shares = []
    for size, bins in zip(SIZES, BINS, strict=True):
        weight = chance.random(size) + 0.1
        shares.append(weight / np.bincount(bins, weights=weight)[bins])
    made = Compression(BINS, (), tuple(shares))
    first = chance.integers(0, 5, 3000)
    rows = np.column_stack([first, (first + chance.integers(0, 3, 3000)) % 6, chance.integers(0, 3, 3000)])
    return made, made.expand(rows.astype(np.int32), Replay(b"rows"))


def marginal(rows, columns, sizes=SIZES):
    shape = tuple(sizes[column] for column in columns)
    counts = np.zeros(shape)
    np.add.at(counts, tuple(rows[:, column] for column in columns), 1)
    return counts


def far(rows, made, columns):
    """The distance to what bins and shares call for, worked out cell by cell."""
    binned = np.column_stack([bins[rows[:, column]] for column, bins in enumerate(BINS)])
    counts = marginal(binned, columns, made.sizes)
    expected = np.empty([SIZES[column] for column in columns])
    for cell in np.ndindex(*expected.shape):
        expected[cell] = counts[tuple(BINS[column][code] for column, code in zip(columns, cell, strict=True))]
        expected[cell] *= np.prod([made.shares[column][code] for column, code in zip(columns, cell, strict=True)])
    return np.abs(marginal(rows, columns) - expected).sum()


def test_marginals_come_nearer_to_what_is_expected():
    made, rows = opened()
    better = exchange_codes(rows, made, SIZES, ASKED, Replay(b"exchange"))
    assert far(better, made, (0, 1)) < 0.6 * far(rows, made, (0, 1))
    assert far(better, made, (0, 1, 2)) < 0.95 * far(rows, made, (0, 1, 2))
    assert far(better, made, (1, 2)) < far(rows, made, (1, 2))


@pytest.mark.parametrize("count", [2, 101, 300_000])
def test_many_rows_of_few_cells_come_nearer_too(count):
    """Thousands of rows see the same cell lack a few dozen, all at once."""
    made = Compression((np.zeros(2, dtype=np.int64), np.arange(2)), (), (np.array([0.4, 0.6]), np.ones(2)))
    for seed in (b"one", b"two", b"three"):
        halves = np.column_stack([np.zeros(count, dtype=np.int32), np.arange(count, dtype=np.int32) % 2])
        rows = made.expand(halves, Replay(seed))
        before, after = (
            np.abs(module._excess(table.astype(np.int64), (0, 1), made, (2, 2))).sum()
            for table in (rows, exchange_codes(rows, made, (2, 2), {(0, 1): 1.0}, Replay(b"exchange")))
        )
        assert after <= max(before / 4, 4)


def test_single_columns_and_marginals_of_bins_stay():
    made, rows = opened()
    better = exchange_codes(rows, made, SIZES, ASKED, Replay(b"exchange"))
    assert better.dtype == rows.dtype
    assert (better != rows).any()
    for column, bins in enumerate(BINS):
        np.testing.assert_array_equal(bins[better[:, column]], bins[rows[:, column]])
        np.testing.assert_array_equal(np.bincount(better[:, column]), np.bincount(rows[:, column]))


def test_what_is_kept_of_each_marginal_is_what_the_rows_have(monkeypatch):
    made, rows = opened()
    kept = []

    class Spy(module._Cells):
        def __init__(self, columns, *how):
            super().__init__(columns, *how)
            kept.append((columns, self))

    monkeypatch.setattr(module, "_Cells", Spy)
    better = exchange_codes(rows, made, SIZES, ASKED, Replay(b"exchange"))
    assert {columns for columns, _ in kept} == set(ASKED)
    for columns, one in kept:
        assert np.abs(one.excess).sum() == pytest.approx(far(better, made, columns))
        shape = tuple(SIZES[column] for column in columns)
        np.testing.assert_array_equal(one.cells, np.ravel_multi_index(better[:, columns].T, shape))


def test_the_growth_of_distances_is_the_one_that_comes_of_an_exchange():
    made, rows = opened()
    rows = rows.astype(np.int64)
    columns = (0, 1)
    one = module._Cells(columns, 2.0, SIZES, rows, module._excess(rows, columns, made, SIZES))
    chance = np.random.default_rng(3)
    for left, right in chance.integers(0, len(rows), (40, 2)):
        change = np.array([rows[right, 0] - rows[left, 0]])
        before = np.abs(one.excess).sum()
        told = one.added(0, np.array([left]), np.array([right]), change)[0]
        one.exchange(0, np.array([left]), np.array([right]), change)
        assert 2 * (np.abs(one.excess).sum() - before) == pytest.approx(told)
        rows[[left, right], 0] = rows[[right, left], 0]


def test_the_same_bits_make_the_same_rows():
    made, rows = opened()
    both = [exchange_codes(rows, made, SIZES, ASKED, Replay(b"exchange")) for _ in range(2)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("limit", ["_LOOKS", "_CELLS"])
def test_rows_stay_as_they_are_where_it_would_take_too_long_or_there_is_nothing_to_do(limit, monkeypatch):
    made, rows = opened()
    whole = Compression(tuple(np.arange(size) for size in SIZES), (), made.shares)
    assert exchange_codes(rows, whole, SIZES, ASKED, Replay(b"exchange")) is rows
    assert len(exchange_codes(rows[:0], made, SIZES, ASKED, Replay(b"exchange"))) == 0
    monkeypatch.setattr(module, limit, 100)
    assert exchange_codes(rows, made, SIZES, ASKED, Replay(b"exchange")) is rows
