"""Run time as an output: a clock of its own, so that no test depends on how busy the machine is."""

from __future__ import annotations

import random

import pytest

from discreet.audit import Pair
from discreet.audit.timing import audit_time, coin_chance
from discreet.core import Pure
from discreet.errors import InputError


class Machine:
    """A clock that runs move forward: each by what its side costs, and by the load of a busy machine."""

    def __init__(self, seed, drift=True):
        self.now, self.seed, self.runs, self.drift = 0, random.Random(seed), 0, drift

    def clock(self):
        return self.now

    def side(self, cost):
        def run(runs):
            self.runs += 1
            busy = 1 + 5 * (self.runs // 150 % 3 == 1) if self.drift else 1  # others come and go
            self.now += int(busy * cost * self.seed.lognormvariate(0, 0.3)) + 1000 * (self.seed.random() < 0.02)
            return [0]

        return run


def timed(seed, inside, outside, claim=(1, 0), **how):
    machine = Machine(seed)
    pair = Pair(machine.side(inside), machine.side(outside), "with and without", data=("[1]", "[]"))
    return audit_time(pair, claim, clock=machine.clock, **{"runs": 4000, **how})


def test_a_time_that_depends_on_the_data_is_refuted():
    found = timed(1, 100_000, 10_000, confidence=1 - 1e-9)
    assert found.violated
    assert found.found > 1
    assert "more time with the person" in found.event
    assert "less time with the person" in timed(2, 10_000, 100_000, confidence=1 - 1e-9).event
    assert timed(3, 10_000, 100_000, (1, 1e-5), confidence=0.999).violated


def test_a_time_that_does_not_is_not_refuted_however_busy_the_machine():
    """Stated: 1 in 1,000 at most, for a claim of 0."""
    wrong = sum(timed(seed, 10_000, 10_000, Pure("0.0001"), runs=200).violated for seed in range(50))
    assert wrong <= 4  # P[binomial(50, 0.001) > 4] < 1e-8


def test_the_bound_is_that_of_coins_and_counts_what_delta_gives_away():
    assert coin_chance(10, 10, 100, 0.0) == pytest.approx(2**-10)
    assert coin_chance(0, 10, 100, 0.0) == 1
    assert coin_chance(10, 10, 100, 0.0, 0.001) > coin_chance(10, 10, 100, 0.0)
    assert coin_chance(10, 10, 100, 0.0, 0.5) > 0.99  # half of them are given away


def test_a_curve_is_no_claim_about_time():
    from discreet.accounting.tradeoff import tradeoff

    with pytest.raises(InputError):
        timed(1, 1, 1, tradeoff(Pure(1)))
