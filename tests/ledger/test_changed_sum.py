"""A budget that is changed keeps its promise for pure releases that the plain sum paid, past the cap on rho."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from discreet.accounting.convert import approx, zcdp
from discreet.core.loss import Pure, Repeated
from discreet.errors import BudgetError, InputError
from discreet.ledger.account import Account
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

BUDGETS = [
    Budget(epsilon=3, delta="1e-6"),
    Budget(epsilon="5/2", delta="1e-3"),  # a larger cap on rho than the first, and a smaller epsilon
    Budget(epsilon=2, delta="1e-30"),
    Budget(epsilon=1, delta="1e-3"),  # a larger cap than the one before, and half its epsilon
    Budget(epsilon=4, delta="1e-6"),
    Budget(rho="1/2", delta="1e-3"),
    Budget(rho="1/100", delta="1e-30"),
]
WAYS = (Ledger.raise_budget, Ledger.lower_budget, Ledger.divide_budget)


@pytest.fixture
def opened(tmp_path):
    """A ledger in which budgets are opened under names of their own."""
    ledger = Ledger.open(tmp_path / "books.db", create=True)

    def new(budget, releases):
        name = f"d{len(ledger.datasets())}"
        ledger.create(name, budget, who="rosa")
        for number in range(releases):
            spend(ledger, name, Pure("1/2"), f"{name} {number}")
        return ledger, name

    return new


def spend(ledger, name, loss, release):
    return ledger.spend(name, loss, release=release, digest=release, who="ann")


def keeps(budget, epsilon, releases):
    """Whether so many releases of `epsilon` are within what a budget promises: by the law of randomized response."""
    loss = Repeated(Pure(epsilon), releases) if releases > 1 else Pure(epsilon)
    if budget.rho is not None:
        return zcdp(loss).rho <= budget.rho
    return min(epsilon * releases, approx(loss, budget.delta).epsilon) <= budget.epsilon


def most(ledger, name):
    """The largest pure release that still fits, of some."""
    for epsilon in (Fraction(4), Fraction(5, 2), Fraction(2), Fraction(1), Fraction(1, 10)):
        try:
            spend(ledger, name, Pure(epsilon), f"{name} most")
            return epsilon
        except BudgetError:
            continue
    return Fraction(0)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_whatever_change_is_allowed_the_promise_holds_for_what_was_released(opened, way):
    allowed = 0
    for old, releases in product(BUDGETS, (0, 2, 6)):
        try:
            ledger, name = opened(old, releases)
        except BudgetError:
            continue
        for new in BUDGETS:
            try:
                way(ledger, name, new, who="rosa", why="tried")
            except InputError:
                continue
            allowed += new != old
            assert releases == 0 or keeps(new, Fraction(1, 2), releases), (old, new, releases)
            if releases == 0 and way is not Ledger.raise_budget and (epsilon := most(ledger, name)):
                assert keeps(old, epsilon, 1), (old, new, epsilon)
            ledger, name = opened(old, releases)
    assert allowed >= 2
    assert ledger.verify().problems == ()


def test_a_raise_does_not_leave_behind_what_the_plain_sum_paid(opened):
    ledger, name = opened(BUDGETS[0], 6)
    for other in (BUDGETS[1], BUDGETS[5]):
        with pytest.raises(InputError, match="covers what was charged"):
            ledger.raise_budget(name, other, who="rosa", why="x")
    assert ledger.raise_budget(name, BUDGETS[4], who="rosa", why="x").budget == BUDGETS[4]
    assert ledger.pure_left(name) == 1


def test_what_the_plain_sum_paid_does_not_stop_a_lower_budget_that_covers_it(opened):
    ledger, name = opened(BUDGETS[0], 5)
    ledger.lower_budget(name, Budget(epsilon="5/2", delta="1e-6"), who="rosa", why="x")
    assert ledger.pure_left(name) == 0
    with pytest.raises(InputError, match="at least what is spent"):
        ledger.lower_budget(name, Budget(epsilon="2.4", delta="1e-6"), who="rosa", why="x")
    assert ledger.verify().problems == ()


def test_a_part_of_a_lower_budget_has_no_larger_epsilon(opened):
    first = [Allotment("a", "zcdp", epsilon=1, delta="1e-3"), Allotment("b", "pure", epsilon=1)]
    ledger, name = opened(Budget(2, delta="1e-3", allotments=first), 0)
    other = Budget(2, delta="1e-3", allotments=[Allotment("a", "zcdp", epsilon=2, delta="1e-30")])
    with pytest.raises(InputError, match="at most what it has now; got more"):
        ledger.lower_budget(name, other, who="rosa", why="x")


def test_verify_names_a_raise_that_leaves_it_behind(opened, monkeypatch):
    """The planted bug: caps alone are compared."""
    ledger, name = opened(BUDGETS[0], 6)
    monkeypatch.setattr("discreet.ledger.account.Spent.fits", lambda self, part: True)
    ledger.raise_budget(name, BUDGETS[1], who="rosa", why="x")
    monkeypatch.undo()
    (problem,) = ledger.verify().problems
    assert "below what was spent" in problem


def test_without_the_comparison_of_promises_a_lower_budget_would_take_more(opened, monkeypatch):
    """The planted bug: its caps are smaller, and its epsilon is not."""
    ledger, name = opened(BUDGETS[3], 0)
    monkeypatch.setattr(Account, "_check_promise", lambda *_: None)
    monkeypatch.setattr("discreet.ledger.account._no_larger", lambda new, old: new.cap.within(old.cap))
    ledger.lower_budget(name, BUDGETS[2], who="rosa", why="x")
    spend(ledger, name, Pure(2), "more")
    assert not keeps(BUDGETS[3], Fraction(2), 1)
