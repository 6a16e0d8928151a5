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
from discreet.noise.choice import Gaps, flip, peel

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
    picks = [peel(gaps, 1, SystemBits())[0] > 0 for _ in range(3000)]
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


def test_peeling_never_repeats_and_prefers_the_best():
    gaps = Gaps([10, 0, 10, 5], Fraction(1))
    for _ in range(200):
        picks = peel(gaps, 4, SystemBits())
        assert sorted(picks) == [0, 1, 2, 3]
    firsts = [peel(gaps, 2, SystemBits())[0] for _ in range(4000)]
    truth = softmax([10, 0, 10, 5], 1.0)
    assert fits(firsts, lambda i: truth[i])


def test_peeled_pairs_have_the_law_of_repeated_selection():
    scores, rate = [2, 1, 0], 1.0
    pairs = [tuple(peel(Gaps(scores, Fraction(1)), 2, SystemBits())) for _ in range(20_000)]
    first = softmax(scores, rate)
    truth = np.zeros(9)
    for i in range(3):
        for j in range(3):
            if i != j:
                truth[3 * i + j] = first[i] * first[j] / (1 - first[i])
    assert fits([3 * i + j for i, j in pairs], lambda cell: truth[cell])


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
