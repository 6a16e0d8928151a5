"""Audits find what is wrong, seldom cry wolf, and say so in plain words."""

import math

import numpy as np
import pytest

from audit_cases import additive, float_laplace
from chance import at_most as seldom
from discreet.accounting import gaussian_sigma, tradeoff
from discreet.audit import Pair, audit, audit_any, audit_until_sure, worst
from discreet.core.loss import ZCDP, Pure, RealGaussianNoise
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace, NoisyMax, RandomizedResponse
from discreet.noise.bernoulli import bernoulli

pytestmark = pytest.mark.statistical

SURE = 1 - 1e-10

STEPS = 20

LAPLACE = additive(Laplace(STEPS), STEPS)

CLAIMS = {
    "laplace": (LAPLACE, Pure(1), 0.90, 1.0),  # 0.976, give or take 0.008
    "laplace of unit scale": (additive(Laplace(1), 1), Pure(1), 0.94, 1.0),  # 0.985, 0.004
    "gaussian": (additive(Gaussian(STEPS * gaussian_sigma(1, 1e-5)), STEPS), (1, 1e-5), 0.15, 1.0),  # 0.556, 0.042
    "five numbers": (additive(Laplace(5), 1, 5), Pure(1), 0.68, 1.0),  # 0.918, 0.022
}


def response():
    coin = RandomizedResponse(2, math.log(3))
    return Pair(lambda runs: coin.release([1] * runs), lambda runs: coin.release([0] * runs))


CLAIMS["randomized response"] = (response(), Pure("1.09862"), 1.04, math.log(3))  # 1.085, 0.004


@pytest.mark.parametrize("name", CLAIMS)
def test_true_claims_stand_and_the_bound_comes_close(name):
    pair, claim, least, truth = CLAIMS[name]
    found = audit(pair, claim, runs=200_000, confidence=0.95)
    assert found.found > least
    sure = audit(pair, claim, runs=50_000, confidence=SURE)
    assert not sure.violated
    assert sure.found <= truth
    assert "found no violation" in sure.sentence()
    assert "50,000 times" in sure.sentence()


def skipping(value, share=0.01, scale=10**6):
    def run(runs):
        noisy = Laplace(scale).release(np.full(runs, value))
        return np.where(bernoulli(share, runs), value, noisy)

    return run


BROKEN = {
    "sensitivity wrong by 2": (additive(Laplace(STEPS), 2 * STEPS), Pure(1), 1.84),
    "inverted scale": (additive(Laplace("0.5"), 1), Pure("0.5"), 1.84),
    "no noise at zero": (
        Pair(lambda runs: Laplace(1).release([1] * runs), lambda runs: np.zeros(runs, dtype=np.int64)),
        Pure(1),
        8.7,
    ),
    "noise skipped in one run of a hundred": (Pair(skipping(10**6), skipping(0)), Pure(1), 4.7),
    "the same on coarser steps": (Pair(skipping(1000, scale=1000), skipping(0, scale=1000)), Pure(1), 1.9),  # 3.6, 0.15
    "a tenth less noise": (LAPLACE, Laplace("200/9").loss(STEPS), 0.9),
    "a tenth less Gaussian noise": (additive(Gaussian(18), STEPS), Gaussian(20).loss(STEPS), 0.97),
    "noise in floats": (
        Pair(lambda runs: 1 + float_laplace(runs), lambda runs: 0 + float_laplace(runs)),
        Pure(1),
        5.0,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_mechanisms_are_caught(name):
    pair, claim, least = BROKEN[name]
    found = audit(pair, claim, runs=200_000, confidence=1 - 1e-6)  # eight deviations and more above every claim
    assert found.violated
    assert audit(pair, claim, runs=200_000, confidence=0.95).found > least
    assert "too well" in found.sentence()
    assert "proved" not in found.sentence()
    early = audit_until_sure(pair, claim, most_runs=400_000, confidence=SURE)
    assert early.violated
    assert early.runs < 400_000
    assert "too well" in early.sentence()


def test_thresholds_alone_would_miss_the_skipped_noise():
    found = audit(Pair(skipping(10**6), skipping(0)), Pure(1), confidence=SURE)
    assert "exactly" in found.event or "one of" in found.event


def test_true_claims_are_refuted_no_more_often_than_stated():
    repeats, wrong, above = 100, 0, 0
    for _ in range(repeats):
        found = audit(additive(Laplace(1), 1), Pure(1), runs=2_000, confidence=0.7)
        wrong += found.violated
        above += found.found > 1
    assert seldom(wrong, repeats, 0.3)
    assert seldom(above, repeats, 0.3)


def test_moments_and_curves_are_claims_too():
    pair = additive(Gaussian(STEPS), STEPS)
    assert not audit(pair, ZCDP("0.5"), runs=50_000, confidence=SURE).violated
    assert audit(pair, ZCDP("0.2"), runs=100_000, confidence=SURE).violated
    assert not audit(pair, tradeoff(RealGaussianNoise("0.99"), 401), runs=50_000, confidence=SURE).violated
    assert audit(pair, tradeoff(RealGaussianNoise("1.25"), 401), runs=100_000, confidence=SURE).violated
    with pytest.raises(InputError, match="stops early"):
        audit_until_sure(pair, tradeoff(Pure(1)))


def test_functions_of_no_arguments_and_outputs_of_any_kind():
    mechanism = NoisyMax(epsilon=1)
    names = ["ash", "elm", "oak"]
    inside, outside = (lambda: {"tree": names[mechanism.release([1, 0, 0])]}), (lambda: {"tree": names[2]})
    assert audit((inside, outside), Pure(1), runs=1_000).violated


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -0.0, 1e308])
def test_outputs_that_are_hardly_numbers_give_a_person_away_too(odd):
    def side(value, width):
        def run(runs):
            noisy = float_laplace(runs * width)
            noisy[:: 3 * width] = value
            return noisy.reshape(runs, width)

        return run

    for width in (1, 3):
        found = audit((side(odd, width), side(0.0, width)), Pure(2), runs=3_000, confidence=SURE)
        assert found.violated
        assert found.sentence()


def test_noise_that_is_used_twice_cancels():
    def side(value):
        def run(runs):
            noise = Laplace(10**6).release(np.zeros(runs, dtype=np.int64))
            return np.stack([noise + value, noise], axis=1)

        return run

    found = audit((side(10**5), side(0)), Pure(1), runs=3_000, confidence=SURE)
    assert found.violated
    assert "less number" in found.event


ONE = Pair(lambda runs: [1] * runs, lambda runs: [0] * runs)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("runs", lambda: audit(ONE, Pure(1), runs=3)),
        ("runs", lambda: audit(ONE, Pure(1), runs=True)),
        ("confidence", lambda: audit(ONE, Pure(1), confidence=1)),
        ("delta", lambda: audit(ONE, Pure(1), delta=1)),
        ("claim", lambda: audit(ONE, 1)),
        ("pair", lambda: audit(3, Pure(1))),
        ("pair", lambda: audit((lambda runs: [1], lambda runs: [1]), Pure(1), runs=100)),
        ("pair", lambda: audit((np.zeros, lambda runs: np.zeros((runs, 2))), Pure(1), runs=100)),
        ("pair", lambda: audit((lambda runs: 1, lambda runs: 2), Pure(1), runs=100)),
        ("pair", lambda: audit((lambda runs: np.full(runs, 1j), lambda runs: np.full(runs, 1j)), Pure(1), runs=100)),
        ("pairs", lambda: worst([], Pure(1))),
        ("pairs", lambda: audit_any([], Pure(1))),
        ("share", lambda: worst([ONE], Pure(1), share=1)),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_a_curve_rises_and_bends_one_way_whatever_the_sign_speaks_for():
    """A set of values that speaks for absence once drew a curve that fell to the other side of the diagonal."""
    for _ in range(3):
        for values in ((1, 0), (0, 1)):
            inside, outside = values
            pair = Pair(
                lambda runs, at=inside: Laplace(1).release(np.full(runs, at)),
                lambda runs, at=outside: Laplace(1).release(np.full(runs, at)),
            )
            xs, ys = np.array(audit(pair, Pure(1), runs=8000).roc).T
            assert (np.diff(xs) >= 0).all()
            assert (np.diff(ys) >= 0).all()
            assert (ys >= xs).all()
            slopes = np.diff(ys) / np.maximum(np.diff(xs), 1e-12)
            assert (np.diff(slopes) <= 1e-9 * slopes[:-1]).all()
