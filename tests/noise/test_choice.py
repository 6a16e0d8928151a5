"""Selection is exactly proportional to e^(rate * score), and nothing overflows."""

import math
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    picks = [noise.choice(SCORES, epsilon=1) for _ in range(12_000)]
    truth = softmax(SCORES, 0.5)
    assert fits(picks, lambda i: truth[i])
    wrong = softmax(SCORES, 0.6)  # it passes once in 10^10 runs: a statistic of 278, deviation 33, below 66
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


FAR_APART = {
    "floats whose gap is no float": ([-1.7e308, 1.7e308], Fraction(2, 34 * 10**307)),
    "long integers": ([10**400, 0, 3 * 10**400], Fraction(1, 10**400)),
    "long integers in an array": (np.array([10**400, 0, 3 * 10**400], dtype=object), Fraction(1, 10**400)),
    "a rate that is no float": ([0, 2**62, 2**63 - 1], Fraction(1, 10**30)),
    "a rate below all floats": ([0.0, 1.5e308, -1.5e308], Fraction(1, 10**308)),
    "a rate above all floats": ([0, 1, 1], Fraction(10**400)),
    "denormal gaps, a huge rate": ([5e-324, 0.0, 2e-323], Fraction(10**323)),
    "fractions": ([Fraction(1, 10**400), Fraction(3, 10**400)], Fraction(10**400)),
    "long doubles": (np.array([1, 1 + 2**-60], dtype=np.longdouble), Fraction(2**60)),
}


@pytest.mark.parametrize(("scores", "rate"), FAR_APART.values(), ids=list(FAR_APART))
def test_the_law_is_exact_where_gaps_or_rates_leave_the_floats(scores, rate):
    gaps = Gaps(scores, rate)
    exact = [gaps.exponent(i) for i in range(len(gaps))]
    weights = np.array([math.exp(-min(float(min(e, 10**4)), 1e4)) for e in exact])
    truth = weights / weights.sum()
    picks = [pick(gaps, SystemBits()) for _ in range(4000)]
    assert fits(picks, lambda i: truth[i])
    heads = np.sum([flip(gaps, SystemBits()) for _ in range(1000)], axis=0)
    assert all(frequency_fits(h, 1000, p) for h, p in zip(heads, weights, strict=True))


def test_infinite_gaps_would_be_noticed():
    """As in 0.1: a gap that is no float counts as infinite, so that the far candidate is never chosen."""
    scores, rate = FAR_APART["floats whose gap is no float"]
    gaps = Gaps(scores, rate)
    assert math.exp(-2) * 0.99 < math.exp(-gaps.exponents[0]) < math.exp(-2) * 1.01
    gaps.exponents = np.array([np.inf, 0.0])
    picks = [pick(gaps, SystemBits()) for _ in range(4000)]
    truth = np.array([math.exp(-2), 1]) / (1 + math.exp(-2))
    assert not fits(picks, lambda i: truth[i])


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**500), 10**500), min_size=1),
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.integers(-400, 400),
)
def test_no_envelope_is_below_its_weight(scores, rate, power):
    """What makes the law exact: the float exponent is right to 2**-50, however far out scores and rate are."""
    gaps = Gaps(scores, rate * Fraction(10) ** power)
    for index, shown in enumerate(gaps.exponents):
        exact = gaps.exponent(index)
        if math.isinf(shown):
            assert exact > 10**308
        elif shown < 1e-300:
            assert exact < Fraction(1, 10**299)
        else:
            assert abs(Fraction(float(shown)) - exact) <= exact / 2**50


@pytest.mark.parametrize("margin", [2.0**-40, 2.0])
def test_coins_of_candidates_are_exact(monkeypatch, margin):
    monkeypatch.setattr(choice_module, "_MARGIN", margin)
    gaps = Gaps([0, -1, -3], Fraction(1, 2))
    heads = np.sum([flip(gaps, SystemBits()) for _ in range(5000)], axis=0)
    assert heads[0] == 5000
    assert frequency_fits(heads[1], 5000, math.exp(-0.5))
    assert frequency_fits(heads[2], 5000, math.exp(-1.5))


@pytest.mark.parametrize(
    "scores", [[], [[1, 2]], [[1], [2, 3]], 5, None, [float("nan"), 1.0], [1.0, float("inf")], ["a", "b"], [None]]
)
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
