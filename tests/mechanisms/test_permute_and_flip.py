"""Permute-and-flip: equal to its sequential definition, private, and never worse than the exponential mechanism."""

import itertools
import math

import numpy as np
import pytest

from chance import fits
from discreet.core.loss import Pure
from discreet.mechanisms import PermuteAndFlip
from mechanisms.outputs import exponential_law, farthest, lookup, moves, permute_and_flip_law

SCORES = [0, 3, 5, 5, -2]
N = 8_000


def draws(mechanism, scores, n=N):
    return np.array([mechanism.release(scores) for _ in range(n)])


def all_coins_law(scores, rate):
    """Flip every coin, then draw evenly among the heads: what the code does."""
    coins = np.exp(float(rate) * (np.asarray(scores, dtype=float) - max(scores)))
    law = np.zeros(len(coins))
    for heads in itertools.product((0, 1), repeat=len(coins)):
        if any(heads):
            law += np.prod(np.where(heads, coins, 1 - coins)) * np.array(heads) / sum(heads)
    return law


@pytest.mark.parametrize("scores", [SCORES, [0], [1, 1], [0, 9, 1, 8]])
def test_all_coins_at_once_is_the_same_law(scores):
    assert all_coins_law(scores, 0.4) == pytest.approx(permute_and_flip_law(scores, 0.4), abs=1e-14)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("scores", [[0, 3, 5, 5], [0, 0, 0], [0, 40]])
def test_claimed_epsilon_holds(monotone, sensitivity, scores):
    epsilon = 0.7
    mechanism = PermuteAndFlip(epsilon, sensitivity, monotone)
    law = permute_and_flip_law(scores, mechanism.rate)
    shown = max(
        farthest(law, permute_and_flip_law(np.add(scores, move), mechanism.rate))
        for move in moves(len(scores), sensitivity, monotone)
    )
    assert shown <= epsilon * (1 + 1e-9)
    if scores == [0, 40]:  # the last of two far apart has half its coin: the bound is attained
        assert shown == pytest.approx(epsilon, rel=1e-4)
    assert mechanism.loss() == Pure(epsilon)


def test_forgetting_the_two_is_caught():
    rate = PermuteAndFlip(0.7, monotone=True).rate
    shown = farthest(permute_and_flip_law([0, 40], rate), permute_and_flip_law([1, 39], rate))
    assert shown > 1.39


def test_the_range_is_not_bounded_by_epsilon():
    rate = PermuteAndFlip(1).rate
    ratio = np.log(permute_and_flip_law([0, 0, 0], rate) / permute_and_flip_law([1, -1, -1], rate))
    assert ratio.max() - ratio.min() > 1


@pytest.mark.parametrize("monotone", [False, True])
def test_draws_follow_the_law(monotone):
    mechanism = PermuteAndFlip(0.5, 1, monotone)
    assert fits(draws(mechanism, SCORES), lookup(permute_and_flip_law(SCORES, mechanism.rate)))


def test_broken_draws_are_caught():
    law = lookup(permute_and_flip_law(SCORES, PermuteAndFlip(0.5).rate))
    assert not fits(draws(PermuteAndFlip(1), SCORES), law)
    skips = draws(PermuteAndFlip(0.5), SCORES)
    skips[::5] = 2
    assert not fits(skips, law)


@pytest.mark.parametrize("rate", [0.05, 0.5, 3])
def test_never_worse_than_the_exponential_mechanism(rate):
    for scores in itertools.product((0, 1, 4), repeat=4):
        ours = permute_and_flip_law(scores, rate) @ scores
        theirs = exponential_law(scores, rate) @ scores
        assert ours >= theirs - 1e-12


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_error_covers(confidence, k):
    mechanism = PermuteAndFlip(0.5)
    bound = mechanism.error(confidence, k)
    gap = math.floor(bound) + 1
    missed = permute_and_flip_law([0] + [-gap] * (k - 1), mechanism.rate)[1:].sum()
    assert missed <= 1 - confidence
    if bound > 0:
        near = permute_and_flip_law([0.0] + [-float(bound)] * (k - 1), mechanism.rate)[1:].sum()
        assert near >= (1 - confidence) / 2
