"""Many releases drawn at once have the law of one release, for every mechanism that offers them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from chance import LEVEL, fits
from discreet.errors import InputError
from discreet.mechanisms import (
    ContinualCount,
    Exponential,
    NoisyMax,
    PermuteAndFlip,
    QuantileExponential,
    QuantileFlip,
    QuantileTree,
    SparseVector,
    TopK,
)
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps, pick_law, pick_many

pytestmark = pytest.mark.statistical
SCORES = [0, 2, 1, -1]


def session(mechanism, values):
    """The answers of one session, as `release_many` has them."""
    running = mechanism.start()
    return [bool(running.ask(value)) if running.remaining else False for value in values]


def totals(mechanism, counts):
    running = mechanism.start()
    return [round(running.add(count), 6) for count in counts]


# A mechanism, a wrong one, one release of it, and many.
CASES = {
    "Exponential": (Exponential(2), Exponential(4), lambda m: m.release(SCORES), SCORES),
    "PermuteAndFlip": (PermuteAndFlip(2), PermuteAndFlip(4), lambda m: m.release(SCORES), SCORES),
    "NoisyMax": (NoisyMax(2), NoisyMax(4), lambda m: m.release(SCORES), SCORES),
    "TopK": (TopK(2, 3), TopK(2, 6), lambda m: m.release(SCORES), SCORES),
    "SparseVector": (
        SparseVector(threshold=1, epsilon=4, count=2),
        SparseVector(threshold=1, epsilon=9, count=2),
        lambda m: session(m, [0, 1, 2, 2]),
        [0, 1, 2, 2],
    ),
    "ContinualCount": (
        ContinualCount(periods=4, epsilon=9),
        ContinualCount(periods=4, epsilon=5),
        lambda m: totals(m, [1, 0, 2, 0]),
        [1, 0, 2, 0],
    ),
    "ContinualCount of several levels": (
        ContinualCount(periods=16, rho=9),
        ContinualCount(periods=16, rho=4),
        lambda m: totals(m, [1, 0, 2, 3]),
        [1, 0, 2, 3],
    ),
    "QuantileExponential": (
        QuantileExponential(0.5, epsilon=2, bins=4),
        QuantileExponential(0.5, epsilon=4, bins=4),
        lambda m: m.release([1, 0, 2, 1])[0].at,
        [1, 0, 2, 1],
    ),
    "QuantileFlip": (
        QuantileFlip(0.5, epsilon=2, bins=4),
        QuantileFlip(0.5, epsilon=5, bins=4),
        lambda m: m.release([1, 0, 2, 1])[0].at,
        [1, 0, 2, 1],
    ),
}


def alike(one, other):
    """Whether two lists of outcomes look like one law, the rare ones together (false alarms: `LEVEL`)."""
    both = [str(np.round(np.ravel(row) * 1.0, 6).tolist()) for row in (*one, *other)]
    names, places = np.unique(both, return_inverse=True)
    table = np.array([np.bincount(side, minlength=len(names)) for side in (places[: len(one)], places[len(one) :])])
    often = table.sum(axis=0) >= 60
    cells = np.column_stack([table[:, often], table[:, ~often].sum(axis=1)])
    return float(stats.chi2_contingency(cells[:, cells.sum(axis=0) > 0]).pvalue) > LEVEL


@pytest.mark.parametrize("name", CASES)
def test_many_releases_have_the_law_of_one_and_not_of_another(name):
    mechanism, wrong, release, given = CASES[name]
    single = [release(mechanism) for _ in range(1500)]
    assert alike(single, mechanism.release_many(given, 6000))
    assert not alike(single, wrong.release_many(given, 6000))


def test_many_curves_of_ranks_have_the_law_of_one():
    tree, counts = QuantileTree(bins=4, epsilon=9, branching=2), [3, 0, 1, 2]
    single = [np.round(tree.measure(counts).ranks, 3) for _ in range(1500)]
    assert alike(single, np.round(tree.measure_many(counts, 6000), 3))
    assert not alike(single, np.round(QuantileTree(bins=4, epsilon=5, branching=2).measure_many(counts, 6000), 3))


def test_a_pick_is_exact_where_weights_are_far_below_the_envelope():
    gaps = Gaps([0, -45, -46], Exponential(2).rate)  # e^-45: hardly ever proposed, and nearly never kept
    drawn = pick_many(gaps, 50_000, SystemBits())
    assert fits(drawn, lambda at: np.where((at >= 0) & (at < 3), np.take(pick_law(gaps), np.clip(at, 0, 2)), 0.0))


def test_many_releases_refuse_what_one_does():
    with pytest.raises(InputError, match="runs"):
        Exponential(1).release_many(SCORES, 0)
    with pytest.raises(InputError, match="k"):
        TopK(9, 1).release_many(SCORES, 10)
    with pytest.raises(InputError, match="confidence"):
        QuantileFlip(0.5, epsilon=1, bins=4, confidence="0.9").release_many([1, 0, 0, 0], 10)
    with pytest.raises(InputError, match="counts"):
        ContinualCount(periods=2, epsilon=1).release_many([1, 0, 0], 10)
    with pytest.raises(InputError, match=r"counts.*at most 2\*\*52 in all"):
        ContinualCount(periods=2, epsilon=1).release_many([2**52, 1], 10)
