"""A sample of a large tree is measured as the whole is: parts of regions with the noise of what was taken off."""

import numpy as np
import pytest

from discreet.mechanisms import Laplace
from discreet.trees.components import margin_of
from discreet.trees.intervals import sample
from discreet.trees.intervals.each import known_bounds
from discreet.trees.intervals.sample import parts_of
from discreet.trees.intervals.typical import Replay, remeasure, with_typical
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown import topdown
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes([f"{number:05}" for number in range(20_000)], {"a": 1, "b": 3, "c": 4, "d": 5})
LEAVES = np.random.default_rng(1).poisson([30, 4], (20_000, 2)).astype(np.int64)


def measured(totals=None):
    blank = [
        Level(np.zeros((size, 2), np.int64), Laplace(8), None if totals is None else np.zeros(size, np.int64), totals)
        for size in TREE.sizes
    ]
    return remeasure(Measurement(TREE, tuple(blank)), LEAVES, Replay(b"sample"))


def with_margins(levels=range(5)):
    """Two columns of two values, of which the first is asked for by itself on some levels."""
    blank = [
        Level(
            np.zeros((size, 4), np.int64),
            Laplace(8),
            margins=(Margin((0,), np.zeros((size, 2), np.int64), Laplace(6)),) if level in levels else (),
        )
        for level, size in enumerate(TREE.sizes)
    ]
    return remeasure(Measurement(TREE, tuple(blank), shape=(2, 2)), np.hstack([LEAVES, LEAVES]), Replay(b"margins"))


def parts(monkeypatch, numbers, rules=None, totals=None):
    monkeypatch.setattr(sample, "NUMBERS", numbers)
    seen, kept = measured(totals), rules or Rules()
    return list(parts_of(seen, kept, known_bounds(seen, kept), 100))


def test_a_small_tree_is_simulated_whole(monkeypatch):
    (whole,) = parts(monkeypatch, 40_000)
    assert whole.measured.tree is TREE
    assert whole.levels == range(5)


@pytest.mark.parametrize("numbers", [2000, 8000])
def test_every_level_is_in_one_part(monkeypatch, numbers):
    found = parts(monkeypatch, numbers)
    assert sorted(level for part in found for level in part.levels) == list(range(5))
    for part in found:
        tree = part.measured.tree
        assert tree.leaves * 2 <= 1.1 * max(numbers, 400)
        above = part.levels[0] - 1
        if above > 0:  # all children of the regions that are sampled
            codes = dict(zip(TREE.codes[above], TREE.children(above), strict=True))
            assert [codes[code] for code in tree.codes[above]] == tree.children(above).tolist()


def errors(part):
    """What is off in the counts and totals of every level, in deviations of the noise they are said to have."""
    tree, found = part.measured.tree, []
    bottom = TREE.sums(LEAVES)[tree.depth - 1][part.chosen]
    for level, exact in zip(part.measured.levels, tree.sums(bottom), strict=True):
        if len(exact) > 9:
            found.append(((level.counts - exact) / np.sqrt(level.noise.variance)).ravel())
            if level.totals is not None:
                found.append((level.totals - exact.sum(axis=1)) / np.sqrt(level.totals_noise.variance))
    return found


@pytest.mark.parametrize("totals", [None, Laplace(10)], ids=str)
def test_parts_have_the_noise_they_are_said_to_have(monkeypatch, totals):
    for part in parts(monkeypatch, 4000, totals=totals):
        for off in errors(part):
            assert abs(off.mean()) < 5 / np.sqrt(len(off))
            assert abs(np.mean(off**2) - 1) < 5 * np.sqrt(5 / len(off)) + 0.1


def margin_errors(part):
    tree, found = part.measured.tree, {}
    bottom = TREE.sums(np.hstack([LEAVES, LEAVES]))[tree.depth - 1][part.chosen]
    for place, (level, exact) in enumerate(zip(part.measured.levels, tree.sums(bottom), strict=True)):
        for one in level.margins:
            off = (one.values - margin_of(exact, (2, 2), one.axes)) / np.sqrt(one.noise.variance)
            found[place] = off.ravel()
    return found


@pytest.mark.parametrize("levels", [range(5), range(1, 4), range(4, 5)], ids=str)
def test_margins_go_with_the_regions_sampled(monkeypatch, levels):
    monkeypatch.setattr(sample, "NUMBERS", 4000)
    seen, sampled = with_margins(levels), set()
    for part in parts_of(seen, Rules(), known_bounds(seen, Rules()), 100):
        for level, off in margin_errors(part).items():
            if len(off) > 18:
                assert abs(off.mean()) < 5 / np.sqrt(len(off))
                assert abs(np.mean(off**2) - 1) < 5 * np.sqrt(5 / len(off)) + 0.1
            sampled.add((level, part.levels[-1]))
        if part.levels[-1] == 4:
            assert {level for level, bottom in sampled if bottom == 4} >= set(levels) & set(part.levels)
    assert sampled


def test_margins_of_what_is_left_out_are_taken_off(monkeypatch):
    monkeypatch.setattr(sample, "NUMBERS", 4000)
    monkeypatch.setattr(
        sample,
        "_left_out",
        lambda tree, up, chosen, top: {
            level: (np.zeros_like(up.values[level]), np.zeros_like(up.variance[level])) for level in range(top)
        },
    )
    seen = with_margins()
    part = next(parts_of(seen, Rules(), known_bounds(seen, Rules()), 100))
    assert max(abs(off.mean()) for off in margin_errors(part).values()) > 5


def test_intervals_by_sampled_subtrees_are_as_wide_as_by_the_whole_tree_where_margins_are_asked(monkeypatch):
    monkeypatch.setattr(sample, "NUMBERS", 30_000)
    seen, rules = with_margins(), Rules()
    estimate = topdown(seen, rules)
    whole, part = (with_typical(estimate, seen, rules, topdown, sampled=how).typical for how in (False, True))
    for level in (3, 4):
        wide, sampled = ((one.upper[level] - one.lower[level]).mean() for one in (whole, part))
        assert abs(sampled / wide - 1) < 0.2
        true = TREE.sums(np.hstack([LEAVES, LEAVES]))[level]
        inside = ((part.lower[level] <= true) & (true <= part.upper[level])).mean()
        assert inside > 0.94


def test_what_is_left_out_is_taken_off(monkeypatch):
    # The mutant: parents' counts as they are, though most of their children are not in the sample.
    monkeypatch.setattr(
        sample,
        "_left_out",
        lambda tree, up, chosen, top: {
            level: (np.zeros_like(up.values[level]), np.zeros_like(up.variance[level])) for level in range(top)
        },
    )
    part = parts(monkeypatch, 4000)[0]
    assert max(abs(off.mean()) for off in errors(part)) > 5


def test_rules_of_whole_regions_are_kept(monkeypatch):
    known = TREE.sums(LEAVES)[3].sum(axis=1)
    rules = Rules(upper={"d": np.array([500, 3])}, totals={"c": known})
    lowest, *_ = parts(monkeypatch, 4000, rules)
    assert (lowest.rules.upper["d"][:, 1] == 3).all()
    regions = [TREE.codes[3].index(code) for code in lowest.measured.tree.codes[3]]
    np.testing.assert_array_equal(lowest.rules.totals["c"], known[regions])
    lowest.rules.bounds(lowest.measured.tree, 2)  # which can be met


@pytest.mark.parametrize("shape", [(20_000,), (20_000, 2)], ids=["one a region", "one a cell"])
def test_a_covariate_goes_with_the_regions_sampled(monkeypatch, shape):
    units = np.random.default_rng(2).integers(1, 90, shape)
    for part in parts(monkeypatch, 4000, Rules(covariate=units)):
        tree = part.measured.tree
        whole = np.asarray(TREE.sums(units)[tree.depth - 1][part.chosen], float).reshape(tree.leaves, -1)
        np.testing.assert_array_equal(part.rules.covariates(tree, 2)[-1], whole)
