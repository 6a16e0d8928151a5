"""Top-k in one release: the exponential mechanism, peeled."""

import itertools
import math

import numpy as np
import pytest

from chance import fits
from discreet.core.loss import BoundedRange, Repeated
from discreet.errors import InputError
from discreet.mechanisms import TopK
from mechanisms.outputs import exponential_law, farthest, lookup, moves

SCORES = [0, 3, 5, 4]
PAIRS = list(itertools.permutations(range(len(SCORES)), 2))


def pairs_law(scores, rate):
    """First among all, second among those left."""
    first = exponential_law(scores, rate)
    law = []
    for i, j in PAIRS:
        left = [index for index in range(len(scores)) if index != i]
        second = exponential_law([scores[index] for index in left], rate)
        law.append(first[i] * second[left.index(j)])
    return np.array(law)


def draws(mechanism, n=6_000):
    return np.array([PAIRS.index(tuple(mechanism.release(SCORES))) for _ in range(n)])


@pytest.mark.parametrize("monotone", [False, True])
def test_claimed_epsilon_holds(monotone):
    mechanism = TopK(2, 0.7, 1, monotone)
    law = pairs_law(SCORES, mechanism.rate)
    shown = [farthest(law, pairs_law(list(np.add(SCORES, m)), mechanism.rate)) for m in moves(4, 1, monotone)]
    assert 0.5 < max(shown) <= 0.7 * (1 + 1e-9)
    assert mechanism.loss() == Repeated(BoundedRange(mechanism.epsilon / 2), 2)


def test_a_full_epsilon_in_every_round_is_caught():
    rate = TopK(1, 0.7).rate
    shown = [farthest(pairs_law(SCORES, rate), pairs_law(list(np.add(SCORES, m)), rate)) for m in moves(4, 1, False)]
    assert max(shown) > 0.7


@pytest.mark.parametrize("monotone", [False, True])
def test_draws_follow_the_law(monotone):
    mechanism = TopK(2, 1, 1, monotone)
    assert fits(draws(mechanism), lookup(pairs_law(SCORES, mechanism.rate)))


def test_broken_draws_are_caught():
    law = lookup(pairs_law(SCORES, TopK(2, 1).rate))
    assert not fits(draws(TopK(2, 2)), law)
    order_lost = [PAIRS.index(tuple(sorted(TopK(2, 1).release(SCORES)))) for _ in range(6_000)]
    assert not fits(order_lost, law)


def test_far_apart_scores_come_out_in_order():
    assert TopK(3, 1).release([10**9, -(10**9), 2**62, 0]) == [2, 0, 3]


def test_all_of_them_is_a_permutation():
    assert sorted(TopK(5, 0.1).release([0] * 5)) == list(range(5))
    with pytest.raises(InputError, match=r"^`k"):
        TopK(6, 0.1).release([0] * 5)


def test_error_covers_every_round():
    mechanism, confidence = TopK(2, 1), 0.9
    gap = math.floor(mechanism.error(confidence, 4)) + 1
    missed = exponential_law([0] + [-gap] * 3, mechanism.rate)[1:].sum()
    assert 2 * missed <= 1 - confidence
