"""The best of a random number of runs: its price against the exact law of tiny mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from chance import fits
from discreet.accounting.rdp import ORDERS, renyi
from discreet.accounting.selection import RunCount, best_curve, best_of
from discreet.core.loss import Composed, GaussianNoise, Pure
from discreet.errors import InputError

LAWS = [RunCount(mean, shape) for mean in (2, 10, 100) for shape in (1, 0, "-1/2", "1/3")]
EVERY = np.arange(1, 20_000)


def chances(runs: RunCount):
    """P[K = k] for k = 1, 2, ..., by the formula."""
    eta, stop = float(runs.shape), float(runs.stop)
    if eta == 0:
        return (1 - stop) ** EVERY / (EVERY * -math.log(stop))
    logs = special.gammaln(EVERY + eta) - special.gammaln(EVERY + 1.0) + EVERY * math.log1p(-stop)
    return np.exp(logs) / abs(special.gamma(eta)) / abs(stop**-eta - 1)


@pytest.mark.parametrize("runs", LAWS, ids=str)
def test_the_law_has_the_mean_it_says(runs):
    law = chances(runs)
    mean = float((law * EVERY).sum())
    assert law.sum() == pytest.approx(1, abs=1e-2)
    assert mean <= float(runs.expected)
    slope = (generated(runs, 1.0) - generated(runs, 1 - 1e-9)) / 1e-9
    assert float(runs.expected) == pytest.approx(slope, rel=1e-4) == pytest.approx(float(runs.mean), rel=1e-4)
    for point in (0.1, 0.9):
        assert generated(runs, point) == pytest.approx(float((law * point**EVERY).sum()), rel=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [1, 0])
def test_numbers_of_runs_are_of_the_stated_law(shape):
    runs = RunCount(3, shape)
    law = chances(runs)
    drawn = np.array([runs.draw() for _ in range(2000)])
    assert fits(drawn, lambda k: law[k - 1] * (k > 0))
    other = chances(RunCount(5, shape))
    assert not fits(drawn, lambda k: other[k - 1] * (k > 0))


def best_law(each, runs: RunCount):
    """The exact law of the best of K draws from `each`, whose outcomes are listed from the worst to the best."""
    below = np.minimum(np.concatenate([[0.0], np.cumsum(each)]), 1.0)
    return np.diff([generated(runs, point) for point in below])


def generated(runs: RunCount, point: float) -> float:
    """The mean of point^K: the chance that all draws are at or below an outcome, if one is with chance `point`."""
    eta, stop = float(runs.shape), float(runs.stop)
    inside = 1 - (1 - stop) * point
    if eta == 0:
        return math.log(inside) / math.log(stop)
    return (inside**-eta - 1) / (stop**-eta - 1)


def divergence(one, other, order):
    return math.log(float((one**order * other ** (1 - order)).sum())) / (order - 1)


def pairs(epsilon):
    """Neighbours of epsilon-private mechanisms: randomized response whose answer is the score, and more."""
    high = math.exp(epsilon)
    yield np.array([high, 1.0]) / (1 + high), np.array([1.0, high]) / (1 + high)
    rare = 1e-3
    yield (
        np.array([1 - rare * high, rare * high]),
        np.array([1 - rare, rare]),
    )
    flat = np.full(4, 0.25)
    tilted = flat * np.exp(np.array([-0.5, -0.5, 0.5, 0.5]) * epsilon)
    yield flat, tilted / tilted.sum()


def worst_excess(epsilon, runs, curve):
    """By how much, at most, the true divergence of the best is above a curve; below 0 it holds."""
    worst = -math.inf
    for one, other in pairs(epsilon):
        for here, there in ((one, other), (other, one)):
            a, b = best_law(here, runs), best_law(there, runs)
            for order, most in zip(ORDERS, curve, strict=True):
                if order <= 64:
                    worst = max(worst, divergence(a, b, order) - most)
    return worst


@pytest.mark.parametrize("runs", LAWS, ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_true_loss_of_the_best_is_within_its_price(runs, epsilon):
    assert worst_excess(epsilon, runs, best_curve([Pure(Fraction(epsilon).limit_denominator(10))], runs)) <= 0


def test_the_price_of_one_run_is_exceeded_by_the_best_of_many():
    """The planted bug: the best is charged as a single run."""
    assert worst_excess(1.0, RunCount(10), renyi(Pure(1))) > 0.3


@pytest.mark.parametrize("runs", LAWS, ids=str)
def test_no_event_is_likelier_than_the_epsilon_at_delta_allows(runs):
    delta = 1e-4
    epsilon = float(best_of([Pure("1/2")], runs, delta))
    for one, other in pairs(0.5):
        for here, there in ((one, other), (other, one)):
            a, b = best_law(here, runs), best_law(there, runs)
            assert np.maximum(a - math.exp(epsilon) * b, 0).sum() <= delta


def test_the_price_is_the_written_formula():
    """Pure epsilon and a geometric number of runs: three times epsilon as orders grow (Liu and Talwar)."""
    runs, loss = RunCount(10, 1), Pure("1/10")
    assert best_curve([loss], runs)[-1] == pytest.approx(0.3, rel=0.1)
    orders, each = np.array(ORDERS), renyi(loss)
    written = each + 2 * min((1 - 1 / b) * r + math.log(10) / b for b, r in zip(ORDERS, each, strict=True))
    assert np.allclose(best_curve([loss], runs), written + math.log(10) / (orders - 1), rtol=1e-6)


def test_runs_of_several_prices_cost_what_the_dearest_does():
    cheap, dear, runs = GaussianNoise(10, 1), GaussianNoise(5, 1), RunCount(5)
    assert best_of([cheap, dear], runs, 1e-6) == best_of([dear], runs, 1e-6) > best_of([cheap], runs, 1e-6)
    assert best_of([Composed([cheap, dear])], runs, 1e-6) > best_of([dear], runs, 1e-6)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"mean": 1}, "more than 1"), ({"mean": 2, "shape": -1}, "more than -1"), ({"mean": 2, "shape": 2}, "at most 1")],
)
def test_a_bad_law_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        RunCount(**given)
    with pytest.raises(InputError, match="less than 1"):
        best_of([Pure(1)], RunCount(2), 1)
