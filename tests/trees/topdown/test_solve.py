"""Top-down: whole numbers that add up, every rule kept, and no bias that climbs the tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_trees import asked, clipped, sparse

from chance import mean_fits
from discreet.mechanisms import Laplace
from discreet.trees.gls import gls
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.topdown.solve import topdown
from discreet.trees.tree import Hierarchy


def grown(random, levels=3, most=4):
    """A tree of random shape."""
    paths = [()]
    for _ in range(levels):
        paths = [(*path, f"{one}") for path in paths for one in range(int(random.integers(1, most + 1)))]
    return Hierarchy.from_columns(
        {f"level{depth}": ["".join(path[:depth]) for path in paths] for depth in range(1, levels + 1)}
    )


def keeps(estimate, bounds):
    """Whether parents are sums of children and every rule holds."""
    tree = estimate.tree
    for level in range(tree.depth):
        counts, totals = estimate.counts[level], bounds.totals[level]
        assert counts.dtype == np.int64
        if level:
            np.testing.assert_array_equal(tree.add(level - 1, counts), estimate.counts[level - 1])
        assert (counts >= bounds.lower[level]).all()
        assert (counts <= bounds.upper[level]).all()
        if totals is not None:
            np.testing.assert_array_equal(counts.sum(axis=1)[totals >= 0], totals[totals >= 0])


def rules_about(tree, exact, random, *, bounded, public):
    """Facts that are true of the counts: bounds of some regions and cells, totals of some regions."""
    lower, upper, totals = {}, {}, {}
    for name, counts in zip(tree.names, exact, strict=True):
        some = random.random(counts.shape)
        lower[name] = np.where(some < bounded, np.maximum(counts - random.integers(0, 4, counts.shape), 0), 0)
        upper[name] = np.where(some > 1 - bounded, counts + random.integers(0, 4, counts.shape), NO_BOUND)
        if public:
            totals[name] = np.where(random.random(len(counts)) < public, counts.sum(axis=1), -1)
    return Rules(lower=lower, upper=upper, totals=totals)


@pytest.mark.parametrize("totals", [None, Laplace(4)], ids=["cells", "cells and totals"])
@pytest.mark.parametrize(("bounded", "public"), [(0, 0), (0.3, 0), (0, 0.5), (0.1, 0.3)])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_every_rule_is_kept(seed, bounded, public, totals):
    random = np.random.default_rng(seed)
    tree, cells = grown(random), int(random.integers(1, 5))
    leaves = random.poisson(random.gamma(0.4, 10, (tree.leaves, cells))).astype(np.int64)
    rules = rules_about(tree, tree.sums(leaves), random, bounded=bounded, public=public)
    measured = remeasure(asked(tree, cells, Laplace(8), totals), leaves, Replay(bytes(str(seed), "ascii")))
    keeps(topdown(measured, rules), rules.bounds(tree, cells))


def test_bounds_and_totals_that_corner_it_are_fitted_all_at_once():
    """Boxes cannot say what the parent may hold here: no two of its cells more than 5 + 24, each of them up to 17."""
    tree = Hierarchy.from_columns({"region": ["a", "a"], "part": ["0", "1"]})
    rules = Rules(upper={"part": 12}, totals={"part": [5, 40]})
    levels = (
        Level(np.array([[17, 17, 7, 4]]), Laplace(1)),
        Level(np.array([[17, 17, 7, 4]]), Laplace(1)),
        Level(np.array([[5, 5, -5, 0], [12, 12, 12, 4]]), Laplace(1)),
    )
    found = topdown(Measurement(tree, levels), rules)
    keeps(found, rules.bounds(tree, 4))
    assert "all at once" in found.notes[0]


def test_without_bounds_in_the_way_it_is_the_linear_estimate_rounded():
    random = np.random.default_rng(7)
    tree = grown(random)
    leaves = random.integers(10_000, 90_000, (tree.leaves, 3))
    for totals in (None, Laplace(5)):
        measured = remeasure(asked(tree, 3, Laplace(20), totals), leaves, Replay(b"rounded"))
        found, linear = topdown(measured), gls(measured)
        for level in range(tree.depth):
            assert np.abs(found.counts[level] - linear.counts[level]).max() < 3


def test_a_chain_goes_to_the_method_for_chains():
    tree = Hierarchy.from_columns({"part": ["0", "1"]})
    levels = tuple(Level(counts, Laplace(1)) for counts in (np.array([[9, 4, 5]]), np.array([[5, 1, 2], [4, 3, 3]])))
    found = topdown(Measurement(tree, levels, chain=True))
    for counts in found.counts:
        assert (np.diff(counts, axis=1) <= 0).all()


def test_the_bias_does_not_climb():
    tree, leaves = sparse(1)
    errors = {}
    for method in (topdown, clipped):
        found = []
        for trial in range(25):
            measured = remeasure(asked(tree, 4, Laplace(10)), leaves, Replay(b"climb%d" % trial))
            found.append(int(method(measured, Rules()).totals[0][0] - leaves.sum()))
        errors[method] = np.array(found)
    variance = gls(measured).total_variance[0][0]
    assert mean_fits(errors[topdown], 0, variance)
    assert not mean_fits(errors[clipped], 0, variance)
