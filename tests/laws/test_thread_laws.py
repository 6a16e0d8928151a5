"""Whatever counts what may still be said or spent counts right when many threads ask at once.

A hook inside each object (its bits, or the comparison of an amount with what is left) holds every thread until all of
them are there. Without the lock all have then seen the state before any has changed it: the twin shows it. With the
lock only one gets that far, waits in vain for the others and goes on.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext, suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.errors import DiscreetError
from discreet.learn.estimators.plan import FitPrice
from discreet.learn.estimators.sums import SumMeter
from discreet.local.longitudinal import Longitudinal
from discreet.local.rappor import Rappor
from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter
from discreet.mechanisms import ContinualCount, SparseVector
from discreet.noise.bits import SystemBits

THREADS = 4
DOMAIN = Domain.of(Schema("t", {"a": Category(["x", "y"], nullable=False)}))


class Gate:
    """Holds whoever passes until `THREADS` are there, or until the time is up."""

    def __init__(self, seconds: float) -> None:
        self._barrier = threading.Barrier(THREADS)
        self._seconds = seconds
        self._passed = threading.local()

    def wait(self) -> None:
        if getattr(self._passed, "yes", False):  # each thread is held once
            return
        self._passed.yes = True
        with suppress(threading.BrokenBarrierError):
            self._barrier.wait(self._seconds)


class GatedBits:
    """Random bits, behind a gate."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def read(self, count: int):
        self._gate.wait()
        return SystemBits().read(count)


class GatedAmount(Fraction):
    """An amount that is compared with what is left behind a gate: just after, so that all may find it enough."""

    gate: Gate

    def __gt__(self, other: Any) -> bool:
        return self._held(super().__gt__(other), other)

    def __le__(self, other: Any) -> bool:
        return self._held(super().__le__(other), other)

    def _held(self, answer: bool, other: Any) -> bool:
        if isinstance(other, Fraction):  # what is left; not the plain zero of another rule
            self.gate.wait()
        return answer


def gated(amount: Any, gate: Gate) -> GatedAmount:
    made = GatedAmount(amount)
    made.gate = gate
    return made


class Sparse:
    """At most one yes."""

    def __init__(self, gate: Gate) -> None:
        self.session = SparseVector(threshold=0, epsilon=1).start()
        self.session._bits = GatedBits(gate)

    def unlock(self) -> None:
        self.session._lock = nullcontext()

    def act(self) -> Any:
        return self.session.ask(10**6)

    def holds(self, answers: list[Any]) -> bool:
        return answers.count(True) == 1 and self.session.remaining == 0


class Continual:
    """No more periods than were paid for, each with a total of its own."""

    def __init__(self, gate: Gate) -> None:
        self.session = ContinualCount(periods=2, epsilon=1).start()
        self.session._bits = GatedBits(gate)

    def unlock(self) -> None:
        self.session._lock = nullcontext()

    def act(self) -> Any:
        return self.session.add(1)

    def holds(self, answers: list[Any]) -> bool:
        return sum(isinstance(answer, float) for answer in answers) == 2 and self.session.period == 2


class Metered:
    """No more spent than the price of a synthesis."""

    def __init__(self, gate: Gate) -> None:
        counts = ArrayCounts(DOMAIN, np.zeros((5, 1), dtype=np.int64))
        self.meter = Meter(counts, Sensitivity(1), "rho", Fraction(1))
        self.gate = gate

    def unlock(self) -> None:
        self.meter._balance.lock = nullcontext()

    def act(self) -> Any:
        return self.meter.measure((0,), gated(1, self.gate))

    def holds(self, answers: list[Any]) -> bool:
        return len(self.meter.answers) == 1 and self.meter.spent <= self.meter.price


class SumMetered:
    """No more spent than the price of a fit."""

    def __init__(self, gate: Gate) -> None:
        self.meter = SumMeter(FitPrice("rho", Fraction(1)))
        self.gate = gate

    def unlock(self) -> None:
        self.meter._lock = nullcontext()

    def act(self) -> Any:
        return self.meter.sums(np.zeros(3, dtype=np.int64), share=gated(1, self.gate), l1=1, l2_squared=1)

    def holds(self, answers: list[Any]) -> bool:
        return sum(isinstance(answer, np.ndarray) for answer in answers) == 1 and self.meter._left >= 0


class Remembered:
    """An answer is turned into one thing for good."""

    def __init__(self, gate: Gate) -> None:
        self.memory = Longitudinal(10**6, permanent=1).start()
        self.bits = GatedBits(gate)

    def unlock(self) -> None:
        self.memory._lock = nullcontext()

    def act(self) -> Any:
        return self.memory.report(3, bits=self.bits)

    def holds(self, answers: list[Any]) -> bool:
        return len(set(answers)) == 1


class Strings:
    """A string is turned into one row of bits for good: drawn once, whoever asks."""

    def __init__(self, gate: Gate) -> None:
        self.client = Rappor(bits=128).start()
        self.bits = GatedBits(gate)
        self.drawn: list[bytes] = []
        memory, drawn = self.client._memory, self.drawn

        class Watched(dict):
            def __setitem__(self, key: Any, value: Any) -> None:
                drawn.append(value)
                super().__setitem__(key, value)

        self.client._memory = Watched(memory)

    def unlock(self) -> None:
        self.client._lock = nullcontext()

    def act(self) -> Any:
        return self.client.report("word", bits=self.bits)

    def holds(self, answers: list[Any]) -> bool:
        return len(self.drawn) == 1


CASES = [Sparse, Continual, Metered, SumMetered, Remembered, Strings]


def together(case: Any) -> list[Any]:
    answers: list[Any] = []

    def one() -> None:
        try:
            answers.append(case.act())
        except DiscreetError as refusal:
            answers.append(refusal)

    threads = [threading.Thread(target=one) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_threads_that_ask_at_once_get_no_more_than_one_after_another(case):
    made = case(Gate(0.2))
    answers = together(made)
    assert len(answers) == THREADS  # nothing but answers and refusals
    assert made.holds(answers)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_without_the_lock_the_same_threads_get_more(case):
    made = case(Gate(30))
    made.unlock()
    assert not made.holds(together(made))
