"""What would have been caught is caught about as often as said, and a smaller error is not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from audit_cases import additive
from discreet.audit import OneRun, Pair, Rates, audit, audit_until_sure, read_claim
from discreet.audit.power import Sign, catchable, catchable_by_bets, finest, finest_by_bets, scaled, widest
from discreet.core.loss import Pure
from discreet.mechanisms import Gaussian, Laplace

pytestmark = pytest.mark.statistical
RUNS, SURE = 4_000, 1 - 1e-6
TRIALS = 20


def caught(noise, moved, claim):
    """How many of some audits refute the claim."""
    pair = additive(noise, moved)
    return sum(audit_until_sure(pair, claim, most_runs=RUNS, confidence=SURE).violated for _ in range(TRIALS))


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_an_error_as_large_as_said_is_caught_and_a_much_smaller_one_is_not(kind):
    claim = kind(20).loss(20)
    times = audit_until_sure(additive(kind(20), 20), claim, most_runs=RUNS, confidence=SURE).catchable
    assert 1.2 < times < 3
    # Of 20 audits each caught with 0.9 fewer than 8 are caught once in 10^7; the estimate errs on the safe side.
    assert caught(kind(Fraction(20) / Fraction(times)), 20, claim) >= 8
    # The twin: with a sixth of the error the very same audits see nothing.
    assert caught(kind(Fraction(20) / Fraction(1 + (times - 1) / 6)), 20, claim) <= 3


def test_more_runs_catch_smaller_errors_and_a_sign_that_tells_nothing_catches_none():
    claim, miss = read_claim(Pure(1)), 1e-6
    times = [catchable(claim, [Sign(73 * n, 100 * n, 27 * n, 100 * n)], miss) for n in (10, 100, 1000)]
    assert times == sorted(times, reverse=True)
    assert 1 < times[-1] < 1.1 < times[0]
    assert catchable(claim, [Sign(500, 1000, 500, 1000)], miss) is None
    assert catchable(claim, [Sign(0, 1000, 0, 1000)], miss) is None
    # A sign that shows half of the claim must see more than twice of it.
    assert catchable(claim, [Sign(62_246, 100_000, 37_754, 100_000)], miss) > 2


def test_a_coin_of_twice_the_loss_is_a_coin_of_twice_the_loss():
    seen = Rates(math.e / (1 + math.e), 1 / (1 + math.e))
    detected, alarmed = scaled(seen, np.array([1.0, 2.0]), gaussian=False)
    assert np.allclose(detected / alarmed, [math.e, math.e**2])
    assert np.allclose((1 - detected) / (1 - alarmed), [1 / math.e, 1 / math.e**2])
    detected, alarmed = scaled(seen, np.array([1.0, 2.0]), gaussian=True)
    assert np.isclose(Rates(detected[1], alarmed[1]).mu(), 2 * seen.mu(), atol=1e-6)


def test_findings_say_what_would_have_been_caught():
    fine = audit(additive(Laplace(20), 20), Pure(1), runs=20_000, confidence=SURE)
    assert not fine.blind
    assert not fine.weak
    assert fine.catchable_epsilon == fine.catchable
    assert "times the claimed loss" in fine.sentence()
    assert fine.to_dict()["would_catch_times"] == fine.catchable
    assert fine.to_dict()["seen"]["runs_inside"] == 14_000
    few = audit(additive(Laplace(20), 2), Pure(1), runs=200, confidence=SURE)  # a person who moves a tenth
    assert few.blind
    assert few.weak
    assert "Too little was shown" in few.sentence()
    wrong = audit(additive(Laplace(5), 20), Pure(1), runs=20_000, confidence=SURE)
    assert wrong.catchable is None
    assert wrong.would_have_caught() == ""
    assert not wrong.blind
    soft = audit(additive(Gaussian(20), 20), Gaussian(20).loss(20), runs=20_000, confidence=SURE)
    assert soft.catchable_epsilon > soft.claimed


def coins_of(epsilon):
    """Randomised response: one sign that shows all of its loss."""
    draw, share = np.random.default_rng(), math.exp(epsilon) / (1 + math.exp(epsilon))
    return Pair(lambda runs: (draw.random(runs) < share) * 1, lambda runs: (draw.random(runs) < 1 - share) * 1)


def test_at_best_is_what_an_attack_that_shows_all_of_a_loss_finds():
    found = audit_until_sure(coins_of(1), Pure(1), most_runs=400, confidence=1 - 1e-9)
    assert 1.5 < found.finest < 3
    assert found.finest <= found.catchable

    def refuted(epsilon):
        pair = coins_of(epsilon)
        return sum(audit_until_sure(pair, Pure(1), most_runs=400, confidence=1 - 1e-9).violated for _ in range(TRIALS))

    # Of 20 audits each caught with 0.9 fewer than 11 are caught once in 10^5; about 90% of them are.
    assert refuted(found.finest) >= 11
    assert refuted(1 + (found.finest - 1) / 3) <= 3


def test_the_widest_sign_is_the_corner_of_a_claim():
    assert widest(read_claim((1, 0))).epsilon() == pytest.approx(1, abs=1e-6)
    assert widest(read_claim((1, 0.1))).epsilon(0.1) == pytest.approx(1, abs=1e-6)
    assert widest(read_claim((0, 0))).epsilon() == pytest.approx(0, abs=1e-6)


def test_more_runs_find_smaller_errors_at_best_and_too_few_find_nothing():
    claim = read_claim(Pure(1))
    for way in (finest, finest_by_bets):
        every = [way(claim, runs, 1e-9) for runs in (10, 200, 2000, 20_000)]
        assert every == sorted(every, reverse=True)
        assert every[0] == math.inf
        assert 1 < every[-1] < 1.3
    assert catchable_by_bets(claim, [Sign(500, 1000, 500, 1000)], 1000, 1e-9) is None
    assert catchable_by_bets(claim, [], 1000, 1e-9) is None


def test_runs_that_can_refute_nothing_are_said_to():
    none = audit(coins_of(1), Pure(8), runs=40, confidence=SURE)
    assert none.idle
    assert none.to_dict()["could_refute"] is False
    assert none.to_dict()["would_catch_at_best_times"] is None
    assert "nothing would have been caught" in none.sentence()
    some = audit(coins_of(0), Pure(1), runs=2000, confidence=SURE)
    assert not some.idle
    assert "at best" in some.would_have_caught() or some.catchable


def test_one_run_says_what_it_would_have_caught():
    claim = (1, 0)
    fine = OneRun(canaries=1000, guesses=300, correct=215).finding(claim, confidence=0.999)
    assert not fine.violated
    assert 1 < fine.finest < fine.catchable < 3
    # Guesses that are right as often as said refute the claim nine times in ten.
    right = 1 / (1 + math.exp(-fine.finest))
    draws = np.random.default_rng(1).binomial(300, right, 300)
    caught_often = np.mean([OneRun(1000, 300, int(k)).refutes(claim, 0.999) for k in draws])
    assert 0.8 < caught_often < 0.98
    few = OneRun(canaries=10, guesses=10, correct=10).finding((8, 0), confidence=0.999)
    assert few.idle
    assert OneRun(1000, 300, 290).finding(claim, confidence=0.999).catchable is None  # refuted
