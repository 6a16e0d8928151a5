"""Selection is exactly proportional to e^(rate * score), and nothing overflows."""

import math
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from chance import LEVEL, fit, fits, frequency_fits
from discreet import noise
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps, flip, pick

choice_module = import_module("discreet.noise.choice")


def softmax(scores, rate):
    weights = np.exp(rate * (np.asarray(scores, dtype=float) - max(scores)))
    return weights / weights.sum()


SCORES = [3, 0, 5, 5, 1, -2]


@pytest.mark.parametrize("margin", [2.0**-40, 0.5])
def test_probabilities_are_exact_even_when_proposals_are_refused_often(monkeypatch, margin):
    monkeypatch.setattr(choice_module, "_MARGIN", margin)
    picks = [noise.choice(SCORES, epsilon=1) for _ in range(20_000)]
    truth = softmax(SCORES, 0.5)
    assert fits(picks, lambda i: truth[i])
    wrong = softmax(SCORES, 0.6)
    assert fit(picks, lambda i: wrong[i]) < LEVEL


def test_monotone_scores_double_the_rate():
    picks = [noise.choice(SCORES, epsilon=1, monotone=True) for _ in range(10_000)]
    truth = softmax(SCORES, 1.0)
    assert fits(picks, lambda i: truth[i])


def test_a_mutant_that_keeps_every_proposal_is_caught(monkeypatch):
    """A coarse envelope (as if weights had four bits) biases the choice unless the exact coin corrects it."""
    monkeypatch.setattr(choice_module, "below", lambda *_: True)
    monkeypatch.setattr(choice_module, "_MARGIN", 0.0)
    scores = np.concatenate([[0], np.full(200, -80)])
    gaps = Gaps(scores, Fraction(1, 2))
    heavy = 62 - len(gaps).bit_length()
    assert math.exp(-40) * 2**heavy < 1  # the envelope of the others is the +1 alone
    truth = softmax(scores, 0.5)
    monkeypatch.setattr(np, "floor", lambda x, real=np.floor: real(x / 2.0**50))
    picks = [pick(gaps, SystemBits()) > 0 for _ in range(3000)]
    assert not frequency_fits(sum(picks), 3000, float(truth[1:].sum()))


@pytest.mark.parametrize(
    "scores",
    [
        [1e308, -1e308, 0.0],
        [2**200, 0, -(2**200)],
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1, 0], dtype=np.uint64),
        [Fraction(10**30, 7), 0],
    ],
    ids=["floats", "long ints", "int64", "uint64", "fractions"],
)
def test_extreme_scores_do_not_overflow(scores):
    assert {noise.choice(scores, epsilon=1) for _ in range(20)} == {0}


def test_equal_extreme_scores_are_equally_likely():
    picks = [noise.choice([1e308, 1e308], epsilon=1) for _ in range(4000)]
    assert frequency_fits(sum(picks), 4000, 0.5)


def test_a_million_candidates():
    scores = np.zeros(1_000_000, dtype=np.int64)
    scores[123_456] = 100
    assert noise.choice(scores, epsilon=1) == 123_456


def test_long_integers_mixed_with_negative_ones_stay_exact():
    """numpy makes floats of such a list; the gap of 4 must survive that."""
    scores = [2**63 + 1024, 2**63 + 1020, -1]
    picks = [noise.choice(scores, epsilon=Fraction(1, 2)) for _ in range(4000)]
    truth = softmax([4, 0], 0.25)
    assert fits(picks, lambda i: np.append(truth, 0.0)[i])


@pytest.mark.parametrize("margin", [2.0**-40, 2.0])
def test_coins_of_candidates_are_exact(monkeypatch, margin):
    monkeypatch.setattr(choice_module, "_MARGIN", margin)
    gaps = Gaps([0, -1, -3], Fraction(1, 2))
    heads = np.sum([flip(gaps, SystemBits()) for _ in range(5000)], axis=0)
    assert heads[0] == 5000
    assert frequency_fits(heads[1], 5000, math.exp(-0.5))
    assert frequency_fits(heads[2], 5000, math.exp(-1.5))


@pytest.mark.parametrize("scores", [[], [[1, 2]], [float("nan"), 1.0], [1.0, float("inf")], ["a", "b"], [None]])
def test_bad_scores_are_refused(scores):
    with pytest.raises(InputError, match="scores"):
        noise.choice(scores, epsilon=1)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_bad_epsilon_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon"):
        noise.choice([1, 2], epsilon=epsilon)


@pytest.mark.parametrize("sensitivity", [0, -1, float("nan")])
def test_bad_sensitivity_is_refused(sensitivity):
    with pytest.raises(InputError, match="sensitivity"):
        noise.choice([1, 2], epsilon=1, sensitivity=sensitivity)
