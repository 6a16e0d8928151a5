"""An audit that may stop early cries wolf no more often than stated; one that cheats is caught."""

import pytest

from audit_cases import additive
from chance import at_most as seldom
from discreet.audit import audit_until_sure
from discreet.audit.claim import read_claim
from discreet.audit.many_runs import sides_alike
from discreet.audit.sequential import _State
from discreet.core.loss import Pure
from discreet.mechanisms import Laplace

pytestmark = pytest.mark.statistical


def test_stopping_early_cries_wolf_no_more_often_than_stated():
    repeats, wrong = 60, 0
    for _ in range(repeats):
        wrong += audit_until_sure(additive(Laplace(1), 1), Pure(1), most_runs=4_000, confidence=0.7).violated
    assert seldom(wrong, repeats, 0.3)


def test_a_gambler_who_sees_the_runs_first_would_cry_wolf():
    # The twin: bets chosen on the very runs that settle them, again and again. Eight in ten end rich; six of all
    # sixteen are far beyond chance.
    wrong, repeats, miss = 0, 16, 0.001
    for _ in range(repeats):
        inside, outside, _ = sides_alike(additive(Laplace(1), 1), 100)
        state = _State(read_claim(Pure(1)), miss)
        for _ in range(30):
            state.step(inside, outside, inside, outside)
            if state.sure:
                wrong += 1
                break
    assert not seldom(wrong, repeats, miss), wrong
