"""Released loads, read from the ledger: paid once, read again for free, and feasible."""

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet import Budget, Ledger
from discreet.curator import hide_loads
from discreet.errors import BudgetError
from discreet.power.loads import Loads
from grids import feasible, ring

pytest.importorskip("clarabel", reason="needs discreet[power]")


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "ledger.db", create=True)


class Watched(Loads):
    """Counts how often it was opened."""

    __slots__ = ("opened",)

    def open(self):
        self.opened = getattr(self, "opened", 0) + 1
        return super().open()


def test_describe_plan_release(ledger):
    grid, exact = ring()
    loads = Watched(exact)
    question = hide_loads(grid, loads, ledger, alpha=1, budget=Budget(epsilon=1), who="me")
    offer = question.plan(epsilon=0.6, cost="measured")
    told = str(offer)
    assert "protects one load, moved by at most 1 MW" in told
    assert "measured with epsilon = 0.15" in told
    assert not hasattr(loads, "opened")
    answer = offer.release(release="first")
    assert loads.opened == 1
    assert "measured" in str(answer)
    assert len(answer.loads) == len(answer.noisy) == grid.loads
    assert answer.table["load"][0] == "load 0"
    assert ledger.remaining("loads").amount == Fraction(2, 5)
    with pytest.warns(UserWarning, match="may describe earlier data"):
        assert offer.release(release="first").loads == answer.loads
    assert loads.opened == 1
    with pytest.raises(BudgetError):
        offer.release()
    assert loads.opened == 1
    assert "would be refused" in str(offer)
    assert "declared public" in str(question.plan(epsilon=0.2, cost=3000))
    assert str(exact[0]) not in repr(loads)


def test_the_answer_says_when_the_cost_was_declared(ledger):
    grid, exact = ring()
    question = hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(epsilon=2, delta=1e-6), who="me")
    answer = question.plan(epsilon=0.1, cost=2900).release()
    assert "declared public" in str(answer)
    assert answer.report["reference"] == 2900
    assert "NOT within" in str(replace(answer, report={**answer.report, "within": False}))


def test_loads_beyond_all_generation_are_released_and_feasible(ledger):
    """A grid that cannot feed its true loads is no reason to fail after the charge: that would tell."""
    grid, exact = ring()
    question = hide_loads(grid, Loads(exact * 100), ledger, alpha=1, budget=Budget(epsilon=2), who="me")
    answer = question.plan(epsilon=1, cost="measured").release()
    assert feasible(grid, answer.loads)
