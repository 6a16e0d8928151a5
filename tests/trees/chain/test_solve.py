"""Ordered counts of group sizes: one member moves one; order and sums always; the optimum where it is claimed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_chains import METHODS, _spans, brute_force, chained, faults, noisy, tree_of

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.chain.isotonic import isotonic
from discreet.trees.chain.rules import ChainRules
from discreet.trees.chain.solve import at_least, exact_chain, exactly, relaxed_chain, sizes
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules

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
