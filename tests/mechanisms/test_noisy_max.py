"""Report-noisy-max with integer noise and ties."""

import math

import numpy as np
import pytest

from chance import fits
from discreet.core.loss import Pure
from discreet.errors import InputError
from discreet.mechanisms import NoisyMax
from mechanisms.outputs import farthest, lookup, moves, noisy_max_law

SCORES = [0, 3, 5, 5, -2]
N = 8_000


def draws(mechanism, scores, n=N):
    return np.array([mechanism.release(scores) for _ in range(n)])


def test_the_law_sums_to_one():
    assert noisy_max_law(SCORES, 4).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("scores", [[0, 3, 5], [0, 0, 0], [0, 90]])
def test_claimed_epsilon_holds_with_ties(monotone, sensitivity, scores):
    epsilon = 0.7
    mechanism = NoisyMax(epsilon, sensitivity, monotone)
    law = noisy_max_law(scores, mechanism.scale)
    shown = max(
        farthest(law, noisy_max_law(list(np.add(scores, move)), mechanism.scale))
        for move in moves(len(scores), sensitivity, monotone)
    )
    assert shown <= epsilon * (1 + 1e-6)
    if scores == [0, 90]:
        assert shown > 0.9 * epsilon  # nearly attained
    assert mechanism.loss() == Pure(epsilon)


def test_half_the_noise_is_caught():
    scale = NoisyMax(0.7).scale / 2
    assert farthest(noisy_max_law([0, 40], scale), noisy_max_law([1, 39], scale)) > 1.2


@pytest.mark.parametrize("monotone", [False, True])
def test_draws_follow_the_law(monotone):
    mechanism = NoisyMax(0.5, 1, monotone)
    assert fits(draws(mechanism, SCORES), lookup(noisy_max_law(SCORES, mechanism.scale)))


def test_broken_draws_are_caught():
    law = lookup(noisy_max_law(SCORES, NoisyMax(0.5).scale))
    assert not fits(draws(NoisyMax(1), SCORES), law)
    skips = draws(NoisyMax(0.5), SCORES)
    skips[::5] = 2
    assert not fits(skips, law)


def test_the_lowest_index_wins_a_tie():
    assert fits(draws(NoisyMax(3), [0, 0]), lookup(noisy_max_law([0, 0], NoisyMax(3).scale)))
    assert noisy_max_law([0, 0], NoisyMax(3).scale)[0] > 0.6
    assert not fits(draws(NoisyMax(3), [0, 0]), lookup([0.5, 0.5]))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_error_covers_and_is_not_loose(confidence, k):
    mechanism = NoisyMax(0.5)
    bound = mechanism.error(confidence, k)
    worst = [-math.floor(bound) - 1] * (k - 1) + [0]
    assert noisy_max_law(worst, mechanism.scale)[:-1].sum() <= 1 - confidence
    if bound > 0:
        near = noisy_max_law([-int(bound)] * (k - 1) + [0], mechanism.scale)[:-1].sum()
        assert near > (1 - confidence) / 3


def test_scores_need_room_for_noise():
    with pytest.raises(InputError, match="scores"):
        NoisyMax(1).release([0, 2**62 + 1])
    assert NoisyMax(1).error(0.95, 1) == 0
