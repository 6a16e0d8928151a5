"""The interval of a difference of two releases, as maps have it: around unbiased estimates, not what is published.

A method may publish of an unusual region what is usual, in both years: distances from there, added as squares, are
those of another interval.
"""

import numpy as np
import pytest

from chance import at_most
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.trees.estimate import Estimate
from discreet.trees.intervals import with_each
from discreet.trees.intervals.each import linear_bands
from discreet.trees.intervals.typical import remeasure
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

BLOCKS, ODD, DRAWS = 900, 300, 4
TREE = Hierarchy.from_prefixes([f"{place:04}" for place in range(BLOCKS)], {"block": 4})
BLANK = Measurement(TREE, tuple(Level(np.zeros((size, 1), np.int64), Laplace(55)) for size in TREE.sizes))


def years():
    """Blocks of about 150 in both years, but for some that go from nothing to twice as much."""
    first = np.random.default_rng(3).poisson(150, (BLOCKS, 1)).astype(np.int64)
    second = first.copy()
    first[:ODD], second[:ODD] = 0, 300
    return first, second


def around_estimates(seen, published):
    """As the page does it: half-widths add as squares, stretched to the published difference."""
    (then, wide_then), (now, wide_now) = (linear_bands(one, 0.95)[-1][:2] for one in seen)
    half = np.ceil(np.hypot(wide_then, wide_now))[:, None]
    value = published[1].counts[-1] - published[0].counts[-1]
    return np.minimum(now - then - half, value), np.maximum(now - then + half, value)


def around_published(seen, published):
    """The planted bug: distances from the published numbers."""
    then, now = (with_each(one, two, Rules(), 0.95) for one, two in zip(published, seen, strict=True))
    value = now.counts[-1] - then.counts[-1]
    down = np.hypot(now.counts[-1] - now.each.lower[-1], then.each.upper[-1] - then.counts[-1])
    up = np.hypot(now.each.upper[-1] - now.counts[-1], then.counts[-1] - then.each.lower[-1])
    return value - np.ceil(down), value + np.ceil(up)


def missed(interval):
    """Of the odd blocks and of the others: how many differences lie outside, and how many there are."""
    first, second = years()
    outside = []
    for seed in range(DRAWS):
        seen = [remeasure(BLANK, one, Replay(f"{seed} {year}".encode())) for year, one in enumerate((first, second))]
        usual = Estimate.of_leaves(TREE, np.full((BLOCKS, 1), 150))
        low, high = interval(seen, [usual, usual])
        outside.append(((second - first < low) | (second - first > high)).ravel())
    found = np.array(outside)
    return (int(found[:, :ODD].sum()), ODD * DRAWS), (int(found[:, ODD:].sum()), found[:, ODD:].size)


@pytest.mark.statistical
def test_it_holds_where_both_years_are_unusual_in_opposite_ways():
    for many, of in missed(around_estimates):
        assert at_most(many, of, 0.055)


@pytest.mark.statistical
def test_distances_from_what_is_published_are_caught():
    (many, of), _ = missed(around_published)
    assert not at_most(many, of, 0.055)
