"""The real fit of ordered counts: in order, adding up, and its bound is below whatever can be had."""

import numpy as np
import pytest
from small_chains import chained, noisy, tree_of

from discreet.trees.chain.fit import fit
from discreet.trees.chain.isotonic import ordered
from discreet.trees.chain.rules import ChainRules


def fitted(measured, tolerance=0.01):
    problem = ChainRules.read(measured, None)
    return problem, fit(problem.squares(), problem.sides(), tolerance)


def test_one_region_is_fitted_as_one_chain():
    target = np.array([[3, 9, 1, 4, 0, 2]])
    _, found = fitted(chained(tree_of(1), target), 1e-8)
    np.testing.assert_allclose(found.levels[0], ordered(target.astype(float)), atol=1e-2)


@pytest.mark.parametrize("shape", [(1, 4), (1, 2, 6)])
def test_the_bound_is_below_every_ordered_table_and_the_fit_near_it(shape):
    random = np.random.default_rng(4)
    tree = tree_of(*shape)
    problem, found = fitted(noisy(tree, 5, random))
    squares = problem.squares()
    assert found.bound <= squares.cost(found.levels) * (1 + 1e-9)
    assert squares.cost(found.levels) - found.bound <= 0.01
    for _ in range(50):  # tables around the fit, put in order
        near = -np.sort(-np.maximum(found.levels[-1] + random.normal(0, 1, found.levels[-1].shape), 0), axis=1)
        assert squares.cost(tree.sums(near)) >= found.bound


def test_squares_without_order_are_solved_as_a_linear_system():
    tree = tree_of(1, 2, 6)
    problem = ChainRules.read(noisy(tree, 3, np.random.default_rng(5)), None)
    squares = problem.squares()
    found = squares.solve()
    for level in range(tree.depth - 1):
        np.testing.assert_allclose(tree.add(level, found[level + 1]), found[level])
    least = squares.cost(found)
    random = np.random.default_rng(6)
    for _ in range(20):
        moved = found[-1] + random.normal(0, 0.1, found[-1].shape)
        assert squares.cost(tree.sums(moved)) > least
