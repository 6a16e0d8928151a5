"""Whole ordered counts from fitted ones: every rule is kept, and it is not always the optimum."""

from __future__ import annotations

import numpy as np
from small_chains import _spans, brute_force, chained, tree_of

from discreet.trees.chain import fit as chain_fit
from discreet.trees.chain.flow import descend
from discreet.trees.chain.rules import ChainRules
from discreet.trees.rules import Rules


def test_the_brute_force_catches_what_is_not_the_optimum():
    """The twin: rounding down the tree without a search keeps all rules, and is not always the best."""
    chance = np.random.default_rng(7)
    tree = tree_of(1, 2, 3)
    worse = 0
    for _ in range(12):
        measured = chained(tree, *(chance.integers(-2, 3 * size, (count, 3)) for count, size in _spans(tree)))
        rules = Rules(upper={tree.names[-1]: 4})
        problem = ChainRules.read(measured, rules)
        fitted = chain_fit.fit(problem.squares(), problem.sides(), 0.001)
        rounded = descend(tree, fitted, problem.squares().weights[-1], problem.boxes)
        assert problem.holds(rounded)
        least = brute_force(measured, rules, 4)
        assert problem.cost(rounded) >= least
        assert fitted.bound <= least + 1e-6
        worse += problem.cost(rounded) > least
    assert worse > 0
