"""What would have been caught is caught about as often as said, and a smaller error is not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from audit_cases import additive
from discreet.audit import Rates, audit, audit_until_sure, read_claim
from discreet.audit.power import Sign, catchable, scaled
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
