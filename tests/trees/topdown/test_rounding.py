"""Whole numbers under fixed parents: right sums, kept bounds, and as near as brute force finds."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounding_trees import tree_with

from discreet.errors import InputError
from discreet.trees.rules import NO_BOUND
from discreet.trees.topdown.rounding import project, spread


def cost(x, mu, v):
    return float(((x - mu) ** 2 / v).sum())


def every(total, lower, upper):
    """All whole numbers within bounds that add up to the total."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(lower, upper, strict=True)]
    return [np.array(x) for x in itertools.product(*ranges) if sum(x) == total]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_with_equal_variances_nothing_is_nearer(seed):
    random = np.random.default_rng(seed)
    children = random.integers(1, 5, 3)
    tree = tree_with(children)
    size = tree.leaves
    lower = random.integers(0, 3, (size, 1))
    upper = lower + random.integers(0, 5, (size, 1))
    truth = random.integers(lower, upper + 1)
    parents = tree.add(1, truth)
    mu = random.normal(3, 4, (size, 1))
    found = spread(tree, 1, parents, mu, 2.0, lower, upper)
    np.testing.assert_array_equal(tree.add(1, found), parents)
    for region, start in enumerate(tree.starts(1)):
        part = slice(start, start + children[region])
        others = every(parents[region, 0], lower[part, 0], upper[part, 0])
        best = min(cost(x, mu[part, 0], 1.0) for x in others)
        assert cost(found[part, 0], mu[part, 0], 1.0) <= best + 1e-6


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_projection_meets_the_conditions_of_an_optimum(seed):
    """Its derivative (x - mu) / v is the same wherever a bound does not hold it, and points outward where one does."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 9, 6)
    size = int(counts.sum())
    mu, v = random.normal(0, 30, size), random.lognormal(0, 2, size)
    upper = random.uniform(0, 40, size)
    starts = np.cumsum(counts) - counts
    total = np.add.reduceat(upper, starts) * random.random(6)
    found = project(counts, mu, v, upper, total)
    np.testing.assert_allclose(np.add.reduceat(found, starts), total, atol=1e-5)
    assert (found >= 0).all()
    assert (found <= upper).all()
    for start, many in zip(starts, counts, strict=True):
        x, m, w, u = (a[start : start + many] for a in (found, mu, v, upper))
        slope = (x - m) / w
        free = (x > 1e-9) & (x < u - 1e-9)
        if free.any():
            level = slope[free].mean()
            near = 1e-4 * (1 + abs(level)) + 1e-6 / w
            assert (np.abs(slope - level)[free] < near[free]).all()
            assert (slope[x <= 1e-9] > level - near[x <= 1e-9]).all()
            assert (slope[x >= u - 1e-9] < level + near[x >= u - 1e-9]).all()


def test_units_go_where_they_cost_least_when_variances_differ():
    """The one that is badly known takes what does not fit, although its remainder is the smallest."""
    tree = tree_with([3])
    none = np.zeros((3, 1), np.int64)
    mu, v = np.array([[10.9], [10.4], [10.4]]), np.array([[1e-3], [1e-3], [10.0]])
    found = spread(tree, 1, np.array([[32]]), mu, v, none, none + NO_BOUND)
    assert found.ravel().tolist() == [11, 10, 11]
    found = spread(tree, 1, np.array([[40]]), mu, v, none, none + NO_BOUND)
    assert found.ravel().tolist() == [11, 10, 19]


def test_equal_children_share_units_evenly_over_the_row():
    tree = tree_with([1000])
    none = np.zeros((1000, 1), np.int64)
    found = spread(tree, 1, np.array([[500]]), np.full((1000, 1), 0.5), 1.0, none, none + NO_BOUND).ravel()
    assert found.sum() == 500
    assert set(found) == {0, 1}
    tenths = found.reshape(10, 100).sum(axis=1)
    assert tenths.min() >= 40  # and not the first half 1 and the second 0
    assert tenths.max() <= 60


@pytest.mark.parametrize("size", [1, 2, 100_000])
def test_targets_far_off_still_give_right_sums(size):
    tree = tree_with([size])
    none = np.zeros((size, 2), np.int64)
    random = np.random.default_rng(0)
    parents = np.array([[3_000_000_000, 7]])
    for mu in (random.normal(0, 1e7, (size, 2)), np.full((size, 2), -1e15), np.zeros((size, 2))):
        found = spread(tree, 1, parents, mu, random.lognormal(0, 3, (size, 2)), none, none + NO_BOUND)
        np.testing.assert_array_equal(found.sum(axis=0), parents[0])
        assert (found >= 0).all()


def test_parents_that_do_not_fit_are_named():
    tree = tree_with([2, 2])
    none = np.zeros((4, 1), np.int64)
    with pytest.raises(InputError, match="000001"):
        spread(tree, 1, np.array([[3], [9]]), np.zeros((4, 1)), 1.0, none, none + 4)
    with pytest.raises(InputError, match="000000"):
        spread(tree, 1, np.array([[1], [4]]), np.zeros((4, 1)), 1.0, none + 1, none + 4)


def test_many_children_are_no_trouble():
    random = np.random.default_rng(1)
    tree = tree_with(random.integers(1, 100, 800))
    truth = random.poisson(random.gamma(0.2, 50, (tree.leaves, 16))).astype(np.int64)
    none = np.zeros_like(truth)
    found = spread(tree, 1, tree.add(1, truth), truth + random.laplace(0, 40, truth.shape), 1.0, none, none + NO_BOUND)
    np.testing.assert_array_equal(tree.add(1, found), tree.add(1, truth))
