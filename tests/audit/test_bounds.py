"""Intervals that never promise too much, and the losses they refute."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from chance import at_most as seldom
from discreet.audit.bounds import _ORDERS, Rates, at_least, at_most, rates, tail, tail_ratio
from discreet.errors import InputError

CASES = [(0, 10, 0.05), (10, 10, 0.05), (1, 2, 0.3), (75, 100, 0.025), (5, 100_000, 1e-10), (60_000, 100_000, 1e-12)]


@pytest.mark.parametrize(("successes", "trials", "miss"), CASES)
def test_intervals_are_clopper_and_pearsons_rounded_outward(successes, trials, miss):
    low, high = at_least(successes, trials, miss), at_most(successes, trials, miss)
    exact_low = stats.beta.ppf(miss, successes, trials - successes + 1) if successes else 0.0
    exact_high = stats.beta.isf(miss, successes + 1, trials - successes) if successes < trials else 1.0
    assert exact_low * (1 - 1e-8) <= low <= exact_low
    assert exact_high <= high <= exact_high * (1 + 1e-8)


@pytest.mark.parametrize("probability", [0.001, 0.3, 0.999])
def test_intervals_cover_at_every_probability(probability):
    trials, miss = 50, 0.1
    mass = stats.binom.pmf(np.arange(trials + 1), trials, probability)
    above = sum(mass[k] for k in range(trials + 1) if at_least(k, trials, miss) > probability)
    below = sum(mass[k] for k in range(trials + 1) if at_most(k, trials, miss) < probability)
    assert above <= miss
    assert below <= miss


def test_an_interval_of_the_plain_kind_would_not_cover():
    # The twin: successes/trials minus 1.28 standard errors, at a probability of 0.999.
    trials, probability, miss = 50, 0.999, 0.1
    mass = stats.binom.pmf(np.arange(trials + 1), trials, probability)
    shares = np.arange(trials + 1) / trials
    plain = shares - stats.norm.isf(miss) * np.sqrt(shares * (1 - shares) / trials)
    assert mass[plain > probability].sum() > 9 * miss


def test_epsilon_of_rates():
    attack = Rates(0.75, 0.25)
    assert math.log(3) - 1e-9 < attack.epsilon() <= math.log(3)
    assert attack.epsilon(0.5) == pytest.approx(0.0, abs=1e-9)
    assert Rates(0.2, 0.3).epsilon() == 0
    # An alarm that is almost always right to be silent: the opposite attack is the strong one.
    assert Rates(0.999, 0.5).epsilon() == pytest.approx(math.log(500), abs=1e-9)


def test_mu_of_rates_is_the_shift():
    for mu in (0.3, 1.0, 4.0):
        for at in (-2.0, 0.0, 1.5):
            attack = Rates(stats.norm.sf(at - mu), stats.norm.sf(at))
            assert mu - 1e-6 < attack.mu() <= mu
    assert Rates(0.1, 0.2).mu() == 0


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_rho_of_rates_stays_below_the_true_one(mu):
    best = max(Rates(stats.norm.sf(at - mu), stats.norm.sf(at)).rho() for at in np.linspace(-6, 8, 60))
    assert 0.5 * mu**2 / 2 < best <= mu**2 / 2
    assert Rates(0.5, 0.5).rho() == 0
    assert Rates(0.4, 0.1).rho(0.35) < Rates(0.4, 0.1).rho()


def test_rates_hold_together():
    repeats, wrong = 600, 0
    drawn = stats.binom.rvs(200, [0.6, 0.2], size=(repeats, 2), random_state=7)
    for inside, outside in drawn.tolist():
        found = rates(inside, 200, outside, 200, miss=0.2)
        wrong += found.detected > 0.6 or found.alarmed < 0.2
    assert seldom(wrong, repeats, 0.2)
    assert wrong > 0


@pytest.mark.parametrize("wrong", [("successes", 11, 10, 0.1), ("trials", 0, 0, 0.1), ("miss", 1, 10, 0.0)])
def test_bad_counts_are_named(wrong):
    field, *values = wrong
    for bound in (at_least, at_most):
        with pytest.raises(InputError, match=field):
            bound(*values)


@pytest.mark.parametrize(("detected", "alarmed"), [(0.5 + 1e-6, 0.5), (0.1 + 1e-5, 0.1), (1e-6, 5e-7), (0.7, 0.2)])
def test_a_small_rho_is_rounded_down_too(detected, alarmed):
    """Against the same divergences in fifty digits, at the orders where digits cancel."""
    p, q = mpmath.mpf(detected), mpmath.mpf(alarmed)
    with mpmath.workdps(50):
        most = max(
            mpmath.log(one**a * other ** (1 - a) + (1 - one) ** a * (1 - other) ** (1 - a)) / (a - 1) / a
            for a in map(mpmath.mpf, _ORDERS.tolist())
            for one, other in ((p, q), (q, p))
        )
    assert 0 <= Rates(detected, alarmed).rho() <= most


def test_the_tail_ratio_is_from_above():
    exact = stats.binom.sf(59, 100, 0.5) / stats.binom.pmf(60, 100, 0.5)
    assert exact * (1 - 1e-12) <= tail_ratio(100, 0.5, 0.5, 60) <= exact * (1 + 1e-9)
    assert tail(10, 0.5, 0.5, 0) == 1
    assert tail(10, 0.5, 0.5, 11) == 0
