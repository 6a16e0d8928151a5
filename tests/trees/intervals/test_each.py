"""Intervals for each region hold whatever the true size is."""

from fractions import Fraction

import numpy as np
import pytest
from empty_blocks import LEAVES, SIZE, TREE, measured, of_regions

from chance import at_most
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes import bayes
from discreet.trees.estimate import Estimate
from discreet.trees.gls import gls
from discreet.trees.intervals import with_each
from discreet.trees.intervals.each import size_ends
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown import topdown
from discreet.trees.tree import Hierarchy

CLASSES = ((0, 0), (1, 9), (10, 99), (100, 999))


def misses(noise, intervals, method, draws=2):
    """Of every class of true sizes: how many leaves lie outside their intervals, and how many there are."""
    found = {}
    for seed in range(draws):
        seen = measured(noise, seed)
        ends = intervals(method(seen, Rules()), seen)
        outside = (ends.lower[-1] > LEAVES) | (ends.upper[-1] < LEAVES)
        for least, most in CLASSES:
            part = outside[(least <= LEAVES) & (most >= LEAVES)]
            missed, many = found.get((least, most), (0, 0))
            found[least, most] = (missed + int(part.sum()), many + part.size)
    return found


def each(estimate, seen):
    return of_regions(estimate, seen).each


@pytest.mark.statistical
@pytest.mark.parametrize("method", [topdown, bayes])
@pytest.mark.parametrize("noise", [Laplace(30), Gaussian(40), Laplace(3)], ids=str)
def test_they_hold_in_every_class_of_true_sizes(noise, method):
    # Leaves are independent but for what the county adds, which is next to nothing among 400.
    for (least, most), (missed, many) in misses(noise, each, method).items():
        assert many > 200, (least, most)
        assert at_most(missed, many, 0.055), (least, most)


@pytest.mark.statistical
def test_intervals_a_tenth_too_narrow_are_caught():
    def narrow(estimate, seen):
        return with_each(estimate, seen, Rules(), 0.90).each

    found = misses(Laplace(30), narrow, topdown, draws=4)
    assert not all(at_most(missed, many, 0.055) for missed, many in found.values())


def missed_by_law(scale, confidence, narrower=0, law=Laplace):
    """How often discrete noise of a scale leads out of the interval: by its probabilities, not by draws."""
    reach = int(40 * scale) + 5
    noise, values = law(Fraction(scale)), np.arange(-reach, reach + 1)
    tree = Hierarchy.from_prefixes([f"{place:05}" for place in range(len(values))], {"leaf": 5})
    true = 10**6
    seen = Measurement(tree, (Level(), Level(true + values[:, None], noise)))
    found = with_each(Estimate.of_leaves(tree, true + values[:, None]), seen, Rules(), confidence).each
    outside = (found.lower[-1][:, 0] + narrower > true) | (found.upper[-1][:, 0] - narrower < true)
    chance = np.exp(-np.abs(values) / scale if law is Laplace else -((values / scale) ** 2) / 2)
    return float(chance[outside].sum() / chance.sum())


@pytest.mark.parametrize("confidence", [0.95, 0.999, 0.9999999])
@pytest.mark.parametrize("scale", ["0.2", "0.35", "0.5", "1", "3", "10"])
def test_whole_noise_of_any_scale_is_held_as_often_as_stated_and_not_much_more(scale, confidence):
    scale, missed = float(scale), 1 - confidence
    assert missed_by_law(scale, confidence) <= missed * (1 + 1e-6)
    if scale >= 1:
        assert missed_by_law(scale, confidence) > 0.3 * missed
        assert missed_by_law(scale, confidence, narrower=1) > missed  # which is what a bug would look like


@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_little_gaussian_noise_is_held_as_well(confidence):
    scales = np.arange(10, 160) / 64
    missed = [missed_by_law(float(scale), confidence, law=Gaussian) for scale in scales]
    assert max(missed) <= 1.02 * (1 - confidence)


def test_they_hold_what_is_published_and_keep_to_what_is_public():
    seen = measured(Laplace(30), 1)
    found = of_regions(bayes(seen, Rules()), seen)
    for level, counts in enumerate(found.counts):
        assert (found.each.lower[level] >= 0).all()
        assert ((found.each.lower[level] <= counts) & (counts <= found.each.upper[level])).all()
        totals = found.totals[level]
        assert ((found.each.total_lower[level] <= totals) & (totals <= found.each.total_upper[level])).all()
    known = TREE.sums(LEAVES)[1].sum(axis=1)
    rules = Rules(totals={"county": known})
    public = with_each(topdown(seen, rules), seen, rules, 0.95)
    np.testing.assert_array_equal(public.each.total_lower[1], known)
    np.testing.assert_array_equal(public.each.total_upper[1], known)


@pytest.mark.statistical
def test_groups_of_exactly_a_size_are_covered():
    random = np.random.default_rng(3)
    exactly = random.poisson([30, 12, 4, 1], (SIZE, 4)).astype(np.int64)
    leaves = exactly[:, ::-1].cumsum(axis=1)[:, ::-1]
    noise = Laplace(Fraction(5))
    blank = Measurement(TREE, tuple(Level(np.zeros((size, 4), np.int64), noise) for size in TREE.sizes), chain=True)
    seen = remeasure(blank, leaves, Replay(b"sizes"))
    at_least = np.maximum(np.rint(gls(seen).counts[-1]), 0).astype(np.int64)
    published = Estimate.of_leaves(TREE, at_least).counts[-1]
    shown = published - np.pad(published[:, 1:], ((0, 0), (0, 1)))
    lower, upper = size_ends(shown, seen, TREE.depth - 1, 0.95)
    for size in range(4):
        outside = (exactly[:, size] < lower[:, size]) | (exactly[:, size] > upper[:, size])
        assert at_most(int(outside.sum()), SIZE, 0.055)
    assert not at_most(int(((exactly < shown - 3) | (exactly > shown + 3)).sum()), exactly.size, 0.055)
