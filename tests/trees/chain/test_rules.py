"""Rules of ordered counts: they always hold, and those that cannot be met name the region."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_chains import METHODS, chained, faults, tree_of, two_sided

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.chain.rules import ChainRules
from discreet.trees.chain.solve import at_least, exact_chain, relaxed_chain
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from(METHODS), st.booleans(), st.booleans())
def test_rules_always_hold(seed, method, public_leaves, zeros):
    """Rules drawn from true counts, so that they can be met: bounds, structural zeros, public numbers of groups."""
    chance = np.random.default_rng(seed)
    tree = tree_of(1, 2, 5)
    true = tree.sums(at_least(chance.poisson(1.5, (5, 4))))
    measured = chained(tree, *(level + two_sided(chance, 5, level.shape) for level in true), scale=5)
    leaf, town = tree.names[2], tree.names[1]
    upper = np.where(true[2] == 0, 0, 2**53) if zeros else true[2] + 3
    rules = Rules(
        lower={leaf: np.maximum(true[2] - chance.integers(0, 3, (5, 4)), 0)},
        upper={leaf: upper, town: true[1] + 2},
        totals={"all": true[0][:, 0], **({leaf: true[2][:, 0]} if public_leaves else {})},
    )
    estimate = method(measured, rules)
    assert faults(estimate) == 0
    problem = ChainRules.read(measured, rules)
    assert problem.holds(estimate.counts)
    assert estimate.counts[0][0, 0] == true[0][0, 0]
    assert (estimate.counts[2] <= upper).all()
    if public_leaves:
        assert (estimate.counts[2][:, 0] == true[2][:, 0]).all()


# What is refused


def test_counts_that_are_no_chain_are_refused():
    tree = tree_of(1, 2)
    plain = Measurement(tree, chained(tree, [[3, 1]], [[2, 1], [1, 0]]).levels)
    for method in (*METHODS, relaxed_chain):
        with pytest.raises(InputError, match="at_least"):
            method(plain)


def test_noisy_totals_are_refused():
    tree = tree_of(1, 2)
    levels = (
        Level(np.array([[3, 1]]), Laplace(1), np.array([4]), Laplace(1)),
        Level(np.array([[2, 1], [1, 0]]), Laplace(1)),
    )
    with pytest.raises(InputError, match="totals of all"):
        exact_chain(Measurement(tree, levels, chain=True))


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (Rules(upper={"level0": [[2, 9], [2, 9]]}, lower={"level0": [[0, 3], [0, 0]]}), "'0000'"),
        (Rules(totals={"all": [3], "level0": [2, 2]}), "all"),
        (Rules(totals={"all": [3]}, lower={"level0": [[0, 2], [0, 2]]}), "all"),
        (Rules(upper={"town": 3}), "one of all, level0"),
        (Rules(weights={"all": 0, "level0": 0}), "above zero"),
        (Rules(weights={"all": -1}), "zero or more"),
    ],
)
def test_rules_that_cannot_be_met_name_the_region(rules, said):
    measured = chained(tree_of(1, 2), [[3, 1]], [[2, 1], [1, 0]])
    with pytest.raises(InputError, match=said):
        exact_chain(measured, rules)
