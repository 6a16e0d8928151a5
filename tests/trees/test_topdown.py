"""Top-down: whole numbers that add up, every rule kept, and no bias that climbs the tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chance import mean_fits
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bias import bias
from discreet.trees.estimate import Estimate
from discreet.trees.gls import gls
from discreet.trees.intervals.bootstrap import Replay, remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.topdown.crossing import check_together, known_totals
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


def asked(tree, cells, noise, totals=None):
    """Questions without answers yet."""
    return Measurement(
        tree,
        tuple(
            Level(
                np.zeros((size, cells), np.int64),
                noise,
                None if totals is None else np.zeros(size, np.int64),
                totals,
            )
            for size in tree.sizes
        ),
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


def test_rules_that_nothing_meets_together_are_refused_beforehand():
    """Both children are fine, and so is their parent: only together they leave its first two cells too much."""
    tree = Hierarchy.from_columns({"region": ["a", "a"], "part": ["0", "1"]})
    upper = {"part": 12}
    possible = Rules(upper=upper, lower={"region": [[14, 15, 0, 0]]}, totals={"part": [5, 40]})
    check_together(tree, possible.bounds(tree, 4))
    impossible = Rules(upper=upper, lower={"region": [[15, 15, 0, 0]]}, totals={"part": [5, 40]})
    with pytest.raises(InputError, match="some table of counts"):
        check_together(tree, impossible.bounds(tree, 4))


def test_known_totals_draw_conclusions_for_cells_and_parents():
    tree = Hierarchy.from_columns({"region": ["a", "a"], "part": ["0", "1"]})
    rules = Rules(upper={"part": [[0, 3], [NO_BOUND, NO_BOUND]]}, totals={"part": [3, 7]})
    known = known_totals(tree, rules.bounds(tree, 2))
    assert known.lower[2].tolist() == [[0, 3], [0, 0]]
    assert known.upper[2].tolist() == [[0, 3], [7, 7]]
    assert known.least[0].tolist() == known.most[0].tolist() == [10]
    assert known.lower[0].tolist() == [[0, 3]]
    assert known.upper[0].tolist() == [[7, 10]]


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


def sparse(seed):
    """Many regions, hardly anyone in them."""
    random = np.random.default_rng(seed)
    columns = {"region": [f"{one // 30:03}" for one in range(1200)], "part": [f"{one:05}" for one in range(1200)]}
    tree = Hierarchy.from_columns(columns)
    return tree, random.poisson(random.gamma(0.05, 20, (1200, 4))).astype(np.int64)


def clipped(measured, rules=None):
    """The mutant: leaves clipped at zero, everything above their sum. Its bias climbs."""
    return Estimate.of_leaves(measured.tree, np.maximum(measured.levels[-1].counts, 0))


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


def test_the_bias_is_shown_for_what_it_is():
    tree, leaves = sparse(2)
    measured = remeasure(asked(tree, 4, Gaussian(10)), leaves, Replay(b"shown"))
    rows = {(row.level, row.what, row.least): row for row in bias(topdown(measured), measured)}
    wrong = {(row.level, row.what, row.least): row for row in bias(clipped(measured), measured)}
    assert abs(rows["all", "totals", 0].mean) < 1
    assert wrong["all", "totals", 0].mean > 1000
    assert sum(row.counts for row in rows.values() if (row.level, row.what) == ("part", "cells")) == leaves.size


def test_a_known_shift_is_found_within_its_standard_error():
    tree, leaves = sparse(3)
    measured = remeasure(asked(tree, 4, Gaussian(10)), leaves + 1000, Replay(b"shift"))
    shifted = Estimate.of_leaves(tree, topdown(measured).counts[-1] + 3)
    for row in bias(shifted, measured):
        per_leaf = row.mean * (tree.sizes[tree.level(row.level)] / tree.leaves) / (4 if row.what == "totals" else 1)
        assert abs(per_leaf - 3) < 0.1
        assert row.level == "all" or row.standard_error < 0.5
