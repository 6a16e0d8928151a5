"""Rows and columns at once: both hold, and the optimum is near the dense one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rounding_trees import tree_with

from discreet.trees.rules import NO_BOUND
from discreet.trees.topdown.transport import Rows, transport


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_rows_and_columns_hold_at_once(seed):
    random = np.random.default_rng(seed)
    tree = tree_with(random.integers(1, 7, 4))
    cells = int(random.integers(1, 6))
    truth = random.poisson(random.gamma(0.5, 8, (tree.leaves, cells))).astype(np.int64)
    none = np.zeros_like(truth)
    upper = np.where(random.random(truth.shape) < 0.2, truth, NO_BOUND)  # bounds of single children, structural zeros
    totals = truth.sum(axis=1)
    public = random.random(tree.leaves) < 0.6
    rows = Rows(np.where(public, totals, 0), np.where(public, totals, np.iinfo(np.int64).max))
    mu = truth + random.laplace(0, 10, truth.shape)
    found = transport(tree, 1, tree.add(1, truth), mu, random.lognormal(0, 1, tree.leaves), none, upper, rows)
    assert found is not None
    np.testing.assert_array_equal(tree.add(1, found), tree.add(1, truth))
    np.testing.assert_array_equal(found.sum(axis=1)[public], totals[public])
    assert (found >= 0).all()
    assert (found <= upper).all()


def test_rows_that_cannot_be_met_give_nothing():
    tree = tree_with([2])
    none = np.zeros((2, 2), np.int64)
    upper = np.array([[0, 9], [9, 9]])
    rows = Rows(np.array([5, 5]), np.array([5, 5]))
    assert transport(tree, 1, np.array([[6, 4]]), none + 2.0, np.ones(2), none, upper, rows) is None
    assert transport(tree, 1, np.array([[5, 5]]), none + 2.0, np.ones(2), none, upper, rows).tolist() == [
        [0, 5],
        [5, 0],
    ]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_measured_totals_are_weighed_as_in_the_dense_problem(seed):
    """Without bounds in the way, the optimum has a formula; whole numbers lie within a unit or so of it."""
    random = np.random.default_rng(seed)
    tree = tree_with([4])
    size, cells = 4, 3
    mu = random.normal(1000, 50, (size, cells))
    v, precision = random.uniform(1, 4, size), random.uniform(0.3, 3, size)
    target = mu.sum(axis=1) + random.normal(0, 60, size)
    parents = np.rint(mu.sum(axis=0) + random.normal(0, 30, cells)).astype(np.int64)[None, :]
    # min (x-mu)' P (x-mu) + ..., A x = parents: the conditions as one linear system.
    rows = np.kron(np.eye(size), np.ones((1, cells)))
    hessian = np.diag(np.repeat(1 / v, cells)) + rows.T @ np.diag(precision) @ rows
    columns = np.kron(np.ones((1, size)), np.eye(cells))
    system = np.block([[hessian, columns.T], [columns, np.zeros((cells, cells))]])
    side = np.concatenate([mu.ravel() / np.repeat(v, cells) + rows.T @ (precision * target), parents[0]])
    best = np.linalg.solve(system, side)[: size * cells].reshape(size, cells)
    none = np.zeros((size, cells), np.int64)
    free = Rows(none[:, 0], none[:, 0] + np.iinfo(np.int64).max, target, precision)
    found = transport(tree, 1, parents, mu, v, none, none + NO_BOUND, free)
    assert np.abs(found - best).max() < 2.5
