"""Ordered counts of group sizes: one member moves one; order, sums, rules always; the optimum where it is claimed."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.chain import fit as chain_fit
from discreet.trees.chain.flow import descend
from discreet.trees.chain.isotonic import isotonic, ordered
from discreet.trees.chain.rules import ChainRules
from discreet.trees.chain.solve import at_least, exact_chain, exactly, relaxed_chain, sizes, topdown_chain
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

METHODS = (exact_chain, topdown_chain)


def tree_of(*shape):
    """A tree whose levels have so many regions, children spread evenly."""
    leaves = shape[-1]
    if shape == (1,):
        # A root alone cannot be written as columns of levels.
        return Hierarchy(("all",), (("",),), (np.zeros(0, np.int64),))
    columns = {f"level{i}": [f"{k * size // leaves:04d}" for k in range(leaves)] for i, size in enumerate(shape[1:])}
    return Hierarchy.from_columns(columns)


def chained(tree, *levels, scale=1):
    return Measurement(tree, tuple(Level(np.asarray(level, np.int64), Laplace(scale)) for level in levels), chain=True)


def noisy(tree, cells, chance, scale=4):
    true = tree.sums(at_least(chance.poisson(chance.choice([0.3, 1, 4]), (tree.leaves, cells))))
    return chained(tree, *(level + two_sided(chance, scale, level.shape) for level in true), scale=scale)


def two_sided(chance, scale, shape):
    """Noise like that of the mechanism, the same every time."""
    stop = -np.expm1(-1 / scale)
    return chance.geometric(stop, shape) - chance.geometric(stop, shape)


def faults(estimate):
    """What is broken: rises, negative numbers, sums that do not add up, numbers that are not whole."""
    found = [level.dtype != np.int64 for level in estimate.counts]
    found += [bool((np.diff(level, axis=1) > 0).any() or (level < 0).any()) for level in estimate.counts]
    for level in range(estimate.tree.depth - 1):
        found.append(bool((estimate.tree.add(level, estimate.counts[level + 1]) != estimate.counts[level]).any()))
    return sum(found)


def brute_force(measured, rules, most):
    """The least sum of weighted squares over all ordered whole counts of leaves from 0 to `most` within the rules."""
    problem = ChainRules.read(measured, rules)
    tree, cells = measured.tree, measured.cells
    falling = np.array([c[::-1] for c in combinations_with_replacement(range(most + 1), cells)])
    picks = np.array(list(product(range(len(falling)), repeat=tree.leaves)))
    counts = falling[picks]  # (candidates, leaves, cells)
    costs = np.zeros(len(counts), np.int64)
    for level in range(tree.depth - 1, -1, -1):
        if level < tree.depth - 1:
            counts = np.add.reduceat(counts, tree.starts(level), axis=1)
        lower, upper = problem.boxes[level]
        costs += (problem.weights[level] * (counts - problem.targets[level]) ** 2).sum(axis=(1, 2))
        costs[((counts < lower) | (counts > upper)).any(axis=(1, 2))] = 2**60
    return int(costs.min())


# One member moves one count


def histogram(groups, top):
    """How many groups have exactly 1, 2, ..., top members."""
    return np.array([sum(size == s for size in groups) for s in range(1, top + 1)])


def neighbours(groups):
    """Everything that one member more or less can make of these groups, and everything one who moves can."""
    joined = [[*groups[:i], size + 1, *groups[i + 1 :]] for i, size in enumerate(groups)] + [[*groups, 1]]
    left = [[*groups[:i], size - 1, *groups[i + 1 :]] for i, size in enumerate(groups)]
    without = [[size for size in one if size] for one in left]
    moved = []
    for i, rest in enumerate(left):
        moved += [
            [size for size in [*rest[:j], rest[j] + 1, *rest[j + 1 :]] if size] for j in range(len(rest)) if j != i
        ]
        moved.append([size for size in [*rest, 1] if size])
    return joined + without, moved


def distances(count):
    """The L1 changes of `count(groups)` over all neighbours of some groups: one added or removed, and one moved."""
    added, moved = set(), set()
    for groups in ([], [1], [2, 2, 5], [1, 1, 3, 4], [6, 6, 1]):
        here = count(groups)
        once, twice = neighbours(groups)
        added |= {int(abs(count(other) - here).sum()) for other in once}
        moved |= {int(abs(count(other) - here).sum()) for other in twice}
    return added, moved


def test_one_member_changes_one_count_of_groups_of_at_least_s():
    added, moved = distances(lambda groups: at_least(histogram(groups, 9)))
    assert added == {1}
    assert moved == {0, 2}


def test_one_member_changes_two_counts_of_groups_of_exactly_s():
    added, _ = distances(lambda groups: histogram(groups, 9))
    assert added == {1, 2}  # a group of one that opens or closes changes one


def test_counted_from_the_smallest_up_one_member_changes_more():
    """The mutant: groups of at most s. A group that opens changes every count above it."""
    added, moved = distances(lambda groups: np.cumsum(histogram(groups, 9)))
    assert added != {1}
    assert max(added) == 9
    assert not moved <= {0, 2}


def test_a_member_who_moves_between_regions_changes_two_counts_on_a_level_at_most():
    tree = tree_of(1, 2, 4)
    counts = np.zeros((4, 5), np.int64)
    counts[0, 2] = counts[3, 1] = 1  # a group of three in the first region, of two in the last
    after = counts.copy()
    after[0, 2], after[0, 1], after[3, 1], after[3, 2] = 0, 1, 0, 1
    changes = [abs(a - b).sum() for a, b in zip(tree.sums(at_least(counts)), tree.sums(at_least(after)), strict=True)]
    assert changes == [0, 2, 2]


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=1, max_size=4))
def test_at_least_and_exactly_undo_each_other(rows):
    assert exactly(at_least(rows)).tolist() == rows
    assert at_least(exactly(rows)).tolist() == rows


# One chain


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_isotonic_is_the_optimum(data):
    length = data.draw(st.integers(1, 4))
    draw = lambda low, high: data.draw(st.lists(st.integers(low, high), min_size=length, max_size=length))  # noqa: E731
    values, weights = draw(-3, 8), draw(1, 4)
    lower, upper = draw(0, 1), draw(2, 6)
    found = isotonic(values, weights, lower, upper)
    assert (np.diff(found) <= 0).all()
    assert (found >= lower).all()
    assert (found <= upper).all()
    cost = sum(w * (x - y) ** 2 for w, x, y in zip(weights, found.tolist(), values, strict=True))
    candidates = (c[::-1] for c in combinations_with_replacement(range(7), length))
    assert cost == min(
        sum(w * (x - y) ** 2 for w, x, y in zip(weights, c, values, strict=True))
        for c in candidates
        if all(low <= x <= high for low, x, high in zip(lower, c, upper, strict=True))
    )


def test_rows_ordered_together_are_the_rows_ordered_alone():
    chance = np.random.default_rng(3)
    rows = chance.normal(0, 1000, (200, 30)) + np.linspace(3000, 0, 30)
    together = ordered(rows)
    alone = np.concatenate([ordered(row[None, :]) for row in rows])
    assert abs(together - alone).max() < 1e-6
    assert (np.diff(together, axis=1) <= 1e-9).all()


# Trees


@pytest.mark.parametrize("shape", [(1,), (1, 2), (1, 3), (1, 2, 3), (1, 2, 3, 3)])
def test_exact_is_the_optimum(shape):
    chance = np.random.default_rng(7)
    tree = tree_of(*shape)
    for trial in range(6):
        measured = chained(tree, *(chance.integers(-2, 3 * size, (count, 3)) for count, size in _spans(tree)))
        rules = Rules(upper={tree.names[-1]: 4}, weights={tree.names[0]: 1 + trial % 3})
        estimate = exact_chain(measured, rules)
        assert faults(estimate) == 0
        assert estimate.notes[0].startswith("optimal")
        assert ChainRules.read(measured, rules).cost(estimate.counts) == brute_force(measured, rules, 4)


def _spans(tree):
    return [(count, max(tree.leaves // count, 1)) for count in tree.sizes]


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


def test_exact_agrees_with_another_solver_on_three_levels():
    scip = pytest.importorskip("pyscipopt")
    chance = np.random.default_rng(11)
    for _ in range(4):
        measured = noisy(tree_of(1, 2, 6), 5, chance)
        problem = ChainRules.read(measured, None)
        model = scip.Model()
        model.hideOutput()
        model.setParam("limits/absgap", 0.5)  # costs are whole numbers
        leaves = [[model.addVar(vtype="I", lb=0) for _ in range(5)] for _ in range(6)]
        for row in leaves:
            for first, second in pairwise(row):
                model.addCons(first >= second)
        terms = []
        owners = np.arange(6)
        for level in (2, 1, 0):
            owners = owners if level == 2 else measured.tree.parents[level + 1][owners]
            for region, row in enumerate(problem.targets[level].tolist()):
                for cell, target in enumerate(row):
                    square, apart = model.addVar(lb=0), model.addVar(lb=None)
                    parts = scip.quicksum(leaves[i][cell] for i in np.flatnonzero(owners == region))
                    model.addCons(apart == parts - target)
                    model.addCons(square >= apart * apart)
                    terms.append(square)
        model.setObjective(scip.quicksum(terms))
        model.optimize()
        theirs = np.array([[round(model.getVal(v)) for v in row] for row in leaves], np.int64)
        ours = exact_chain(measured)
        assert problem.cost(ours.counts) == problem.cost(measured.tree.sums(theirs))
        assert ours.notes[0].startswith("optimal")


def test_three_levels_need_not_be_whole():
    """Four counts that four columns of groups decide, with determinant 2: the linear optimum is one half in each."""
    # Columns: a group of size 4 in a; of 3 in b2; of 2 in b1; of 4 in b1. Rows: root from 2 up, root from 4 up, the
    # region of b1 and b2 from 3 up, b1 from 1 up.
    rows = np.array([[1, 1, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    assert round(abs(np.linalg.det(rows))) == 2
    assert np.linalg.solve(rows, [2, 1, 1, 1]).tolist() == [0.5] * 4


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from([(1, 1), (1, 4), (1, 2, 5), (1, 3, 6, 9)]),
    st.integers(1, 6),
    st.integers(0, 2**32),
    st.sampled_from(METHODS),
)
def test_order_sums_and_whole_numbers_always_hold(shape, cells, seed, method):
    measured = noisy(tree_of(*shape), cells, np.random.default_rng(seed), scale=6)
    estimate = method(measured)
    assert faults(estimate) == 0
    groups = sizes(estimate)
    assert all((level >= 0).all() for level in groups.counts)
    assert all((at_least(a) == b).all() for a, b in zip(groups.counts, estimate.counts, strict=True))
    tree = estimate.tree
    assert all((tree.add(i, groups.counts[i + 1]) == groups.counts[i]).all() for i in range(tree.depth - 1))


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


@pytest.mark.parametrize("method", METHODS)
def test_noise_that_is_all_there_is_gives_what_was_measured(method):
    tree = tree_of(1, 2, 4)
    true = tree.sums(at_least([[5, 0, 2], [1, 1, 0], [0, 0, 0], [9, 3, 4]]))
    estimate = method(chained(tree, *true))
    assert all((a == b).all() for a, b in zip(estimate.counts, true, strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_a_level_that_was_not_asked_is_the_sum_of_the_one_below(method):
    tree = tree_of(1, 2, 4)
    leaves = at_least([[5, 0, 2], [1, 1, 0], [0, 0, 0], [9, 3, 4]])
    levels = (Level(), Level(), Level(leaves, Laplace(3)))
    estimate = method(Measurement(tree, levels, chain=True))
    assert (estimate.counts[2] == leaves).all()
    assert faults(estimate) == 0


def test_leaves_without_weight_follow_those_above():
    tree = tree_of(1, 2)
    measured = chained(tree, [[9, 5, 2]], [[1, 1, 0], [1, 1, 0]])
    estimate = exact_chain(measured, Rules(weights={tree.names[1]: 0}))
    assert estimate.counts[0].tolist() == [[9, 5, 2]]
    assert faults(estimate) == 0


def test_what_is_too_large_to_search_is_bounded():
    """Without the search: the note's bound is true, and what was found is not below it."""
    chance = np.random.default_rng(5)
    measured = noisy(tree_of(1, 3, 9), 6, chance, scale=8)
    problem = ChainRules.read(measured, None)
    least = problem.cost(exact_chain(measured).counts)
    estimate = exact_chain(measured, steps=0)
    found = problem.cost(estimate.counts)
    share = float(estimate.notes[0].split("at most ")[1].split(" ")[0])
    assert least <= found <= least * (1 + share * 1.05)
    assert faults(estimate) == 0


def test_a_large_problem_takes_seconds():
    chance = np.random.default_rng(5)
    measured = noisy(tree_of(1, 50, 3000), 20, chance, scale=20)
    for method in METHODS:
        assert faults(method(measured)) == 0


def test_relaxed_breaks_sums_and_exact_does_not():
    pytest.importorskip("osqp")
    measured = noisy(tree_of(1, 2, 8), 30, np.random.default_rng(5), scale=20)
    assert faults(relaxed_chain(measured)) > 0
    assert faults(exact_chain(measured)) == 0


def test_relaxed_comes_near_the_optimum():
    pytest.importorskip("osqp")
    measured = noisy(tree_of(1, 2, 8), 30, np.random.default_rng(5), scale=20)
    rules = Rules(upper={"all": 500})
    problem = ChainRules.read(measured, rules)
    least = problem.cost(exact_chain(measured, rules).counts)
    assert abs(problem.cost(relaxed_chain(measured, rules).counts) - least) < 0.02 * least


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


def test_bad_input():
    with pytest.raises(InputError, match="whole numbers"):
        at_least([1.5, 2])
    with pytest.raises(InputError, match="weights"):
        isotonic([1, 2], [1, 0])
    with pytest.raises(InputError, match="one for each value"):
        isotonic([1, 2], [1])
    with pytest.raises(InputError, match="never rise"):
        isotonic([1, 2], lower=[0, 3], upper=[2, 5])
    with pytest.raises(InputError, match="steps"):
        exact_chain(chained(tree_of(1, 1), [[1]], [[1]]), steps=-1)
    with pytest.raises(InputError, match="a Measurement"):
        exact_chain("counts")
