"""Intervals of a level: they cover as often as they say, bias included, and keep to what is known."""

from dataclasses import replace

import empty_blocks
import numpy as np
import pytest
from uneven_regions import CELLS, LEAVES, TREE, asked, sparse

from chance import at_most
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes import bayes
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.gls import gls
from discreet.trees.intervals import quantiles, sample
from discreet.trees.intervals.typical import Replay, key_of, remeasure, with_typical
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown.solve import topdown
from discreet.trees.tree import Hierarchy


def clipped(measured, rules):
    """A method with a bias that climbs: leaves clipped at zero, everything above their sum."""
    return Estimate.of_leaves(measured.tree, np.maximum(measured.levels[-1].counts, 0))


def without_bias(estimate, measured):
    """The mutant: what is published, give or take the linear estimate's deviation, as if nothing had bent it."""
    linear = gls(measured)
    ends = []
    for counts, variance, total in zip(estimate.counts, linear.variance, linear.total_variance, strict=True):
        half, total_half = 2 * np.sqrt(variance)[:, None], 2 * np.sqrt(total)
        sums = counts.sum(axis=1)
        ends.append((np.maximum(counts - half, 0), counts + half, sums - total_half, sums + total_half))
    lower, upper, total_lower, total_upper = zip(*ends, strict=True)
    return replace(estimate, typical=Ends(lower, upper, total_lower, total_upper))


def coverage(method, noise, trials, intervals, totals=None):
    """How often cells and totals of each level lie in their intervals."""
    exact = TREE.sums(LEAVES)
    cells, sums = np.zeros(TREE.depth), np.zeros(TREE.depth)
    for trial in range(trials):
        measured = remeasure(asked(noise, totals), LEAVES, Replay(b"coverage%d" % trial))
        found = intervals(method(measured, Rules()), measured)
        ends = found.typical
        for level, counts in enumerate(exact):
            cells[level] += ((ends.lower[level] <= counts) & (counts <= ends.upper[level])).mean() / trials
            total = counts.sum(axis=1)
            sums[level] += ((ends.total_lower[level] <= total) & (total <= ends.total_upper[level])).mean() / trials
    return cells, sums


def calibrated(method):
    return lambda estimate, measured: with_typical(estimate, measured, Rules(), method)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("noise", "totals"), [(Laplace(20), None), (Laplace(3), Laplace(10)), (Gaussian(8), None)], ids=str
)
def test_intervals_cover_about_as_often_as_they_say(noise, totals):
    """Counties and blocks (hundreds and thousands of counts a trial); the few above within what chance allows."""
    cells, sums = coverage(topdown, noise, 8, calibrated(topdown), totals)
    assert (cells[2:] > 0.93).all()
    assert (cells[2:] < 0.985).all()
    assert (sums[2:] > 0.91).all()
    assert (sums[2:] < 0.985).all()
    assert (cells[:2] > 0.8).all()
    assert (sums[:2] > 0.7).all()


@pytest.mark.statistical
def test_bias_is_included_and_leaving_it_out_is_caught():
    cells, sums = coverage(clipped, Laplace(20), 4, calibrated(clipped))
    assert (cells[1:] > 0.85).all()
    assert (sums[1:] > 0.8).all()
    assert cells[0] > 0.5  # 16 numbers in all, off by hundreds of deviations if the bias is left out
    wrong, wrong_sums = coverage(clipped, Laplace(20), 4, without_bias)
    assert wrong[:3].max() < 0.5
    assert wrong_sums[:3].max() < 0.5


@pytest.mark.statistical
def test_a_wrong_noise_law_is_caught():
    """The twin: intervals worked out for a third of the noise there really is."""

    def too_sure(estimate, measured):
        levels = tuple(Level(level.counts, Laplace(7)) for level in measured.levels)
        return with_typical(estimate, Measurement(TREE, levels), Rules(), topdown)

    cells, sums = coverage(topdown, Laplace(20), 2, too_sure)
    assert cells[2] < 0.93
    assert sums[2] < 0.93


@pytest.mark.statistical
@pytest.mark.parametrize("numbers", [1 << 20, 2000], ids=["the whole tree", "a sample"])
def test_they_hold_in_every_class_of_true_sizes(monkeypatch, numbers):
    """Most blocks are empty, and the large ones cannot be told from noise one by one."""
    monkeypatch.setattr(sample, "NUMBERS", numbers)
    missed, many = np.zeros(3), np.zeros(3)
    for seed in range(2):
        seen = empty_blocks.measured(Laplace(30), seed)
        ends = with_typical(bayes(seen, Rules()), seen, Rules(), bayes, sampled=True).typical
        outside = (ends.lower[-1] > empty_blocks.LEAVES) | (ends.upper[-1] < empty_blocks.LEAVES)
        for place, (least, most) in enumerate(((0, 0), (1, 99), (100, 999))):
            part = outside[(least <= empty_blocks.LEAVES) & (most >= empty_blocks.LEAVES)]
            missed[place] += part.sum()
            many[place] += part.size
    assert (missed / many < 0.15).all()  # plain quantiles of what looks alike miss half of the large ones


def test_the_same_release_gets_the_same_intervals():
    measured = remeasure(asked(Laplace(10)), LEAVES, Replay(b"same"))
    one, two = (with_typical(topdown(measured), measured, Rules(), topdown) for _ in range(2))
    for level in range(TREE.depth):
        np.testing.assert_array_equal(one.typical.lower[level], two.typical.lower[level])
        np.testing.assert_array_equal(one.typical.total_upper[level], two.typical.total_upper[level])
        assert (one.typical.lower[level] >= 0).all()
        assert (one.typical.lower[level] <= one.typical.upper[level]).all()
        assert one.typical.lower[level].dtype == one.typical.total_upper[level].dtype == np.int64
    other = remeasure(asked(Laplace(10)), LEAVES, Replay(b"other"))
    assert key_of(measured, "a") != key_of(other, "a") != key_of(other, "b")


def test_what_is_public_needs_no_interval():
    tree, leaves = sparse(2, 400)
    county = tree.sums(leaves)[2].sum(axis=1)
    zeros = np.full(CELLS, 2**53)
    zeros[3] = 0
    leaves[:, 3] = 0
    county = tree.sums(leaves)[2].sum(axis=1)
    rules = Rules(upper={"block": zeros}, totals={"county": county})
    measured = remeasure(asked(Laplace(5), tree=tree), leaves, Replay(b"public"))
    found = with_typical(topdown(measured, rules), measured, rules, topdown)
    np.testing.assert_array_equal(found.typical.total_lower[2], county)
    np.testing.assert_array_equal(found.typical.total_upper[2], county)
    assert found.typical.total_lower[0][0] == found.typical.total_upper[0][0] == leaves.sum()
    assert not found.typical.upper[3][:, 3].any()
    inside = (found.typical.lower[3] <= leaves) & (leaves <= found.typical.upper[3])
    assert inside.mean() > 0.9


def test_a_wider_confidence_gives_wider_intervals():
    measured = remeasure(asked(Laplace(10)), LEAVES, Replay(b"wider"))
    estimate = topdown(measured)
    widths = []
    for confidence in (0.5, 0.9, 0.99):
        found = with_typical(estimate, measured, Rules(), topdown, confidence)
        widths.append([np.mean(high - low) for low, high in zip(found.typical.lower, found.typical.upper, strict=True)])
    assert (np.diff(np.array(widths), axis=0) > 0).all()


@pytest.mark.parametrize(("field", "how"), [("confidence", {"confidence": 1}), ("reruns", {"reruns": 1})])
def test_what_is_not_allowed_is_named(field, how):
    measured = asked(Laplace(10))
    with pytest.raises(InputError) as caught:
        with_typical(topdown(measured), measured, Rules(), topdown, **how)
    assert caught.value.field == field


def test_chains_get_intervals_too():
    tree = Hierarchy.from_columns({"part": [f"{one}" for one in range(30)]})
    random = np.random.default_rng(3)
    leaves = np.sort(random.poisson(8, (30, 3)), axis=1)[:, ::-1].astype(np.int64).copy()
    blank = asked(Laplace(2), tree=tree, cells=3)
    measured = remeasure(Measurement(tree, blank.levels, chain=True), leaves, Replay(b"chain"))
    found = with_typical(topdown(measured), measured, Rules(), topdown)
    assert ((found.typical.lower[1] <= leaves) & (leaves <= found.typical.upper[1])).mean() > 0.8


@pytest.mark.statistical
def test_small_counts_of_one_kind_are_covered_in_every_class():
    # Nothing but small counts below the noise: a table that no constant was chosen on.
    codes = [f"{place // 300}{place // 30 % 10}{place % 30:02}" for place in range(1500)]
    tree = Hierarchy.from_prefixes(codes, {"state": 1, "county": 2, "block": 4})
    leaves = np.random.default_rng(5).poisson(1, (1500, 2))
    noise, found = Laplace(6), {}
    blank = Measurement(
        tree, tuple(Level(np.zeros((n, 2), np.int64), noise, np.zeros(n, np.int64), noise) for n in tree.sizes)
    )
    for draw in range(3):
        seen = remeasure(blank, leaves, Replay(f"small {draw}".encode()))
        ends = with_typical(bayes(seen, Rules()), seen, Rules(), bayes, sampled=True).typical
        outside = (ends.lower[-1] > leaves) | (ends.upper[-1] < leaves)
        for least, most in ((0, 0), (1, 3)):
            part = outside[(leaves >= least) & (leaves <= most)]
            missed, many = found.get(least, (0, 0))
            found[least] = missed + int(part.sum()), many + part.size
    for missed, many in found.values():
        assert at_most(missed, many, 0.07)
    assert all(part <= 1 for _, part in quantiles._AIMS)  # what is aimed at leaves something for what is not known
