"""The exponential mechanism: exact probabilities, bounded range, utility."""

import math
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits
from discreet.core.loss import BoundedRange
from discreet.mechanisms import Exponential
from mechanisms.outputs import exponential_law, farthest, lookup, moves

SCORES = [0, 3, 5, 5, -2]
N = 8_000


def draws(mechanism, scores, n=N):
    return np.array([mechanism.release(scores) for _ in range(n)])


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_range_is_bounded_and_attained(monotone, sensitivity):
    epsilon, scores, seen = 0.7, [0, 3, 5, 5], []
    rate = Exponential(epsilon, sensitivity, monotone).rate
    law = exponential_law(scores, rate)
    for move in moves(len(scores), sensitivity, monotone):
        ratio = np.log(law / exponential_law(np.add(scores, move), rate))
        seen.append(ratio.max() - ratio.min())
    assert max(seen) == pytest.approx(epsilon, rel=1e-9)
    assert Exponential(epsilon, sensitivity, monotone).loss() == BoundedRange(epsilon)


def test_claiming_monotone_when_it_is_not_is_caught():
    rate = Exponential(1, monotone=True).rate
    law = exponential_law([0, 0], rate)
    ratio = np.log(law / exponential_law([1, -1], rate))
    assert ratio.max() - ratio.min() > 1.99
    many = [0] * 1000  # and it shows as epsilon-DP too
    other = [1] + [-1] * 999
    assert farthest(exponential_law(many, rate), exponential_law(other, rate)) > 1.9


@pytest.mark.parametrize("monotone", [False, True])
def test_draws_follow_the_law(monotone):
    mechanism = Exponential(Fraction(1, 2), 1, monotone)
    assert fits(draws(mechanism, SCORES), lookup(exponential_law(SCORES, mechanism.rate)))


def test_broken_draws_are_caught():
    law = lookup(exponential_law(SCORES, Exponential(0.5).rate))
    assert not fits(draws(Exponential(1), SCORES), law)  # the 2 forgotten
    skips = draws(Exponential(0.5), SCORES)
    skips[::5] = 2  # one time in five simply the best
    assert not fits(skips, law)


@pytest.mark.parametrize("t", [0.5, 2, 4])
def test_textbook_utility(t):
    """Loses more than (2 s/epsilon)(ln k + t) with probability at most e^-t."""
    epsilon, k, trials = 1, 50, 3000
    bound = 2 / epsilon * (math.log(k) + t)
    scores = [0] + [-math.ceil(bound)] * (k - 1)  # the worst case
    lost = draws(Exponential(epsilon), scores, trials) != 0
    assert at_most(lost.sum(), trials, math.exp(-t))
    if t < 4:
        assert not at_most((draws(Exponential(epsilon / 8), scores, trials) != 0).sum(), trials, math.exp(-t))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("k", [2, 10, 1000])
def test_error_covers_and_is_tight(confidence, k):
    mechanism = Exponential(0.5)
    bound = mechanism.error(confidence, k)
    gap = math.floor(bound) + 1
    assert exponential_law([0] + [-gap] * (k - 1), mechanism.rate)[1:].sum() <= 1 - confidence
    if bound > 0:  # at the bound itself the chance is exactly the one allowed
        assert exponential_law([0.0] + [-float(bound)] * (k - 1), mechanism.rate)[1:].sum() == pytest.approx(
            1 - confidence
        )
        assert bound < (math.log(k) + math.log(1 / (1 - confidence))) / mechanism.rate


def test_huge_scores_do_not_overflow():
    assert Exponential(1).release([-(2**63), 2**63 - 1, 0]) == 1
    assert Exponential(1).error(0.95, 1) == 0
