"""Empirical Bayes: sums and rules hold whatever is measured, errors are smaller, and wrong turns are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import chance
import discreet.trees.bayes.solve as room
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes.solve import bayes
from discreet.trees.gls import Pass, gls
from discreet.trees.intervals.typical import with_typical
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown.solve import topdown
from discreet.trees.tree import Hierarchy


def tree_of(sizes, numbers):
    """A tree with leaves spread over parents at random, every region with at least one child."""
    parents = np.zeros(1, int)
    columns = {}
    for number, size in enumerate(sizes):
        many = len(parents) if number else 1
        above = np.sort(np.concatenate([np.arange(many), numbers.integers(0, many, size - many)]))
        columns = {name: [values[place] for place in above] for name, values in columns.items()}
        columns[f"level {number}"] = [f"{place:05d}" for place in range(size)]
        parents = above
    return Hierarchy.from_columns(columns)


def sparse(tree, cells, numbers, mean=30.0):
    """People of several kinds: regions differ in size, parents in their mix, regions a little from their parents."""
    size = np.where(numbers.random(tree.leaves) < 0.3, 0, numbers.gamma(0.8, mean, tree.leaves))
    mix = numbers.dirichlet(np.full(cells, 0.4), tree.sizes[-2])[tree.parents[-1]]
    mix = mix * numbers.gamma(3, 1 / 3, mix.shape)
    return numbers.poisson(size[:, None] * mix)


def noisy(tree, leaves, numbers, counts, totals):
    """The levels measured with the noise given for each, None where nothing is asked."""
    levels = []
    for exact, noise, totals_noise in zip(tree.sums(leaves), counts, totals, strict=True):
        level = Level()
        if noise is not None:
            level = replace(level, counts=exact + drawn(noise, exact.shape, numbers), noise=noise)
        if totals_noise is not None:
            sums = exact.sum(axis=1)
            level = replace(level, totals=sums + drawn(totals_noise, sums.shape, numbers), totals_noise=totals_noise)
        levels.append(level)
    return Measurement(tree, tuple(levels))


def drawn(noise, shape, numbers):
    if isinstance(noise, Gaussian):
        return np.rint(numbers.normal(0, float(noise.sigma), shape)).astype(int)
    stop = -np.expm1(-1 / float(noise.scale))
    return numbers.geometric(stop, shape) - numbers.geometric(stop, shape)


def consistent(estimate, rules, cells):
    tree = estimate.tree
    bounds = rules.bounds(tree, cells)
    for level, counts in enumerate(estimate.counts):
        assert counts.dtype == np.int64
        assert counts.shape == (tree.sizes[level], cells)
        assert (counts >= bounds.lower[level]).all()
        assert (counts <= bounds.upper[level]).all()
        public = bounds.totals[level]
        if public is not None:
            assert (counts.sum(axis=1)[public >= 0] == public[public >= 0]).all()
        if level < tree.depth - 1:
            assert (counts == tree.add(level, estimate.counts[level + 1])).all()


@pytest.mark.parametrize("seed", range(9))
def test_sums_and_rules_hold_whatever_was_measured(seed):
    numbers = np.random.default_rng(seed)
    sizes = sorted(numbers.integers(1, 40, numbers.integers(1, 4)).tolist())
    tree = tree_of([*sizes, int(numbers.integers(sizes[-1], 90))], numbers)
    cells = int(numbers.integers(1, 6))
    leaves = sparse(tree, cells, numbers, 8)
    kind = Gaussian if seed % 3 == 0 else Laplace
    asked = [kind(int(scale)) for scale in numbers.integers(1, 40, tree.depth)]
    counts = [noise if numbers.random() < 0.7 else None for noise in asked[:-1]] + [asked[-1]]
    totals = [noise if numbers.random() < 0.5 else None for noise in asked]
    measured = noisy(tree, leaves, numbers, counts, totals)
    consistent(bayes(measured), Rules(), cells)
    truth = tree.sums(leaves)
    # Rules that hold for the truth: zeros, bounds, the total of the root, and some totals of the leaves.
    known = np.where(numbers.random(tree.leaves) < 0.5, leaves.sum(axis=1), -1)
    names = tree.names
    rules = Rules(
        lower={names[-1]: np.minimum(leaves, numbers.integers(0, 3, leaves.shape)), names[1]: truth[1] // 2},
        upper={names[-1]: leaves + numbers.integers(0, 30, leaves.shape) * (leaves > 0)},
        totals={names[0]: truth[0].sum(axis=1), names[-1]: known},
    )
    for some in (
        rules,
        replace(rules, totals={}),
        Rules(totals=rules.totals),
        Rules(totals={names[1]: truth[1].sum(axis=1)}),
        Rules(upper=rules.upper),
    ):
        consistent(bayes(measured, some), some, cells)


def test_next_to_no_noise_gives_the_truth():
    numbers = np.random.default_rng(3)
    tree = tree_of([12, 600], numbers)
    leaves = sparse(tree, 4, numbers)
    measured = noisy(tree, leaves, numbers, [Laplace("1/40")] * 3, [Laplace("1/40")] * 3)
    for found, exact in zip(bayes(measured).counts, tree.sums(leaves), strict=True):
        assert (found == exact).all()


def test_the_same_again():
    measured = sparse_world(5)[0]
    once, twice = bayes(measured), bayes(measured)
    assert all((a == b).all() for a, b in zip(once.counts, twice.counts, strict=True))


def test_empty_tables_stay_nearly_empty():
    numbers = np.random.default_rng(4)
    tree = tree_of([10, 500], numbers)
    leaves = np.zeros((500, 3), int)
    measured = noisy(tree, leaves, numbers, [Laplace(20)] * 3, [Laplace(60)] * 3)
    consistent(bayes(measured), Rules(), 3)
    empty = Rules(totals={"all": [0]})
    assert not any(level.any() for level in bayes(measured, empty).counts)


def test_sizes_of_groups_are_refused():
    measured = sparse_world(5)[0]
    with pytest.raises(InputError, match="topdown or exact"):
        bayes(replace(measured, chain=True))


def sparse_world(seed, *, totals=True, size=600):
    """Noisy counts, truth and cost of 600 leaves with six cells, about the same cost with totals and without."""
    numbers = np.random.default_rng(seed)
    tree = tree_of([25, size], numbers)
    leaves = sparse(tree, 6, numbers, 120)
    if totals:
        counts, direct = [None, Laplace(10), Laplace(10)], [Laplace(60), Laplace(30), Laplace(30)]
    else:
        counts, direct = [Laplace("180/17")] * 3, [None] * 3
    cost = sum(1 / noise.scale for noise in (*counts, *direct) if noise is not None)
    return noisy(tree, leaves, numbers, counts, direct), tree.sums(leaves), cost


CELLS, LEAVES, PARENTS, SQUARES, ROOT = range(5)


def errors(method, **how):
    """For each of 30 worlds: mean error of the leaves' cells, of their totals, of the parents' totals; the mean square
    of the error of the leaves' totals; and the root's error, with its sign."""
    rows = []
    for seed in range(100, 130):
        measured, truth, _ = sparse_world(seed, **how)
        root, parents, cells = (found - exact for found, exact in zip(method(measured).counts, truth, strict=True))
        totals = cells.sum(axis=1)
        mean = (np.abs(cells).mean(), np.abs(totals).mean(), np.abs(parents.sum(axis=1)).mean())
        rows.append([*mean, (totals**2).mean(), root.sum()])
    return np.array(rows)


def better(one, other, *columns):
    """Whether the first errs less, beyond chance, in every column."""
    gain = (other - one)[:, list(columns)]
    return bool((stats.ttest_1samp(gain, 0, alternative="greater").pvalue < chance.LEVEL).all())


@pytest.fixture(scope="module")
def ours():
    return errors(bayes)


def test_errs_less_than_topdown_at_the_same_cost(ours):
    assert sparse_world(0)[2] == sparse_world(0, totals=False)[2]
    plain = errors(topdown, totals=False)
    assert better(ours, plain, CELLS, LEAVES, SQUARES)
    assert ours[:, PARENTS].mean() < plain[:, PARENTS].mean()
    assert not better(plain, ours, CELLS)


def test_errs_less_than_topdown_on_the_same_measurements(ours):
    plain = errors(topdown)
    assert better(ours, plain, CELLS, SQUARES)
    assert not better(plain, ours, PARENTS)


def test_totals_counted_twice_are_noticed(ours, monkeypatch):
    """The must-reject twin: what cells say about a total is weighed in again, as if it had been asked."""
    right = room._Seen.of

    def twice(measured):
        all_told = gls(measured)
        direct = Pass(all_told.up_totals, all_told.up_total_variance)
        return replace(right(measured), direct=direct, own=[None] * measured.tree.depth)

    monkeypatch.setattr(room._Seen, "of", staticmethod(twice))
    assert better(ours, errors(bayes), SQUARES)


def test_a_direct_answer_is_worth_what_its_law_says_not_its_variance_alone(ours, monkeypatch):
    """The peak of Laplace noise is used: taken for normal noise of the same variance, totals of parents err more."""
    right = room._Seen.of

    def normal(measured):
        return replace(right(measured), own=[None] * measured.tree.depth)

    monkeypatch.setattr(room._Seen, "of", staticmethod(normal))
    assert better(ours, errors(bayes), LEAVES)


def test_what_non_negativity_adds_does_not_climb_the_tree(ours):
    # The root's total: a direct question, that of its 25 children, and the sums of their cells.
    assert chance.mean_fits(ours[:, ROOT], 0, float(ours[:, ROOT].var(ddof=1)))
    assert np.abs(ours[:, ROOT].mean()) < 60


def covered(truth, found, shrunk=1.0):
    """The share of true numbers in their intervals: cells and totals of parents and of leaves."""
    shares, ends = [], found.typical
    for level in (1, 2):
        for exact, counts, low, high in (
            (truth[level], found.counts[level], ends.lower[level], ends.upper[level]),
            (truth[level].sum(axis=1), found.totals[level], ends.total_lower[level], ends.total_upper[level]),
        ):
            low, high = counts - shrunk * (counts - low), counts + shrunk * (high - counts)
            shares.append(((exact >= low) & (exact <= high)).mean())
    return shares


def test_intervals_hold_about_what_they_promise():
    """Learned from 1,500 leaves only, and noise of the size of the counts: the hardest that is promised anything."""
    worlds = []
    for seed in range(300, 303):
        measured, truth, _ = sparse_world(seed, size=1500)
        worlds.append((truth, with_typical(bayes(measured), measured, Rules(), bayes, 0.95)))
    assert min(np.mean([covered(*world) for world in worlds], axis=0)) > 0.9
    # The twin: intervals half as wide are noticed.
    assert min(np.mean([covered(*world, 0.5) for world in worlds], axis=0)) < 0.9
