"""Trees drawn from public bits: each row falls in one leaf of each, by that row alone."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np

from discreet.learn.estimators.columns import read_columns
from discreet.learn.estimators.random_trees import TreeShape, draw_trees

SHAPE = TreeShape(trees=30, depth=4, numbers=3, sizes=(5,), seed=0)
COLUMNS = read_columns((-1, 1), {3: 5}, 4)


def table(count=2000, seed=0):
    chance = np.random.default_rng(seed)
    return np.column_stack([chance.uniform(-1.5, 1.5, size=(count, 3)), chance.integers(-1, 7, size=count)])


def test_a_row_falls_in_a_leaf_that_follows_from_that_row_alone():
    rows, trees = table(), draw_trees(SHAPE)
    leaves = trees.leaves(rows, COLUMNS)
    assert leaves.shape == (2000, 30)
    assert leaves.min() >= 0
    assert leaves.max() < SHAPE.leaves
    alone = np.concatenate([trees.leaves(row[None], COLUMNS) for row in rows[:200]])
    assert (leaves[:200] == alone).all()
    assert (trees.leaves(rows[::-1], COLUMNS) == leaves[::-1]).all()


def test_leaves_hold_many_rows_each_and_no_tree_is_like_another():
    leaves = draw_trees(SHAPE).leaves(table(), COLUMNS)
    filled = [len(np.unique(column)) for column in leaves.T]
    assert np.mean(filled) > 0.6 * SHAPE.leaves
    assert len({tuple(column) for column in leaves.T}) == SHAPE.trees


def test_equal_shapes_grow_equal_trees_and_other_seeds_do_not():
    rows = table()
    first, second = (draw_trees(SHAPE).leaves(rows, COLUMNS) for _ in range(2))
    assert (first == second).all()
    other = draw_trees(TreeShape(30, 4, 3, (5,), seed=1)).leaves(rows, COLUMNS)
    assert (first != other).any()


def test_thresholds_are_within_what_tests_above_leave():
    shape = TreeShape(trees=20, depth=5, numbers=1, sizes=(), seed=0)
    rows = np.linspace(-1, 1, 4001)[:, None]
    leaves = draw_trees(shape).leaves(rows, read_columns((-1, 1), None, 1))
    assert (np.diff(leaves, axis=0) >= 0).all()
    assert min(len(np.unique(column)) for column in leaves.T) > 16


def test_codes_are_halved_and_unknown_ones_have_a_side():
    shape = TreeShape(trees=40, depth=1, numbers=0, sizes=(2,), seed=0)
    rows = np.array([[0.0], [1.0], [9.0], [np.nan]])
    leaves = draw_trees(shape).leaves(rows, read_columns(None, {0: 2}, 1))
    assert (leaves[2] == leaves[3]).all()
    assert set(leaves.sum(axis=0)) <= {
        1,
        2,
    }  # of three codes one goes right: it may be the unknown, which is here twice
