"""What a custodian does to a budget: lowered to what is spent, closed for good, each on record and verified."""

from dataclasses import replace

import pytest

from discreet.core.loss import Pure
from discreet.errors import BudgetError, InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger


def spend(ledger, release, epsilon, allotment="a"):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d", allotment=allotment)


def budget(**parts):
    return Budget(sum(parts.values()), allotments=[Allotment(name, "pure", epsilon=e) for name, e in parts.items()])


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", budget(a=5, b=5), who="ann")
    spend(ledger, "r1", 2)
    return ledger


def lower(ledger, **parts):
    return ledger.lower_budget("visits", budget(**parts), who="rosa", why="less will do")


def test_a_budget_is_lowered_down_to_what_is_spent(ledger):
    lower(ledger, a=2)  # and an allotment that nobody used may go
    assert [one.allotment.name for one in ledger.standing("visits")] == ["a"]
    assert ledger.remaining("visits").amount == 0
    with pytest.raises(BudgetError):
        spend(ledger, "r2", 1)
    last = list(ledger.records())[-1]
    assert (last.kind, last.who, last.why) == ("open", "rosa", "less will do")
    assert ledger.verify().ok


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"a": 1, "b": 5}, "what is spent"),
        ({"b": 5}, "something was spent"),
        ({"a": 6}, "at most"),
        ({"a": 5, "c": 1}, "left out: it is new"),
    ],
)
def test_a_lower_budget_that_is_none_is_refused(ledger, parts, says):
    before = ledger.head()
    with pytest.raises(InputError, match=says):
        lower(ledger, **parts)
    assert ledger.head() == before


def test_verify_sees_a_budget_that_was_lowered_below_what_was_spent(ledger, monkeypatch):
    """The planted bug: nobody looks at what is spent."""
    monkeypatch.setattr("discreet.ledger.account.Account.check_lower", lambda *_: None)
    lower(ledger, a=1)
    assert "below what was spent" in "; ".join(ledger.verify().problems)


def test_a_closed_budget_takes_no_charge_and_keeps_its_answers(ledger):
    ledger.answer("r1", "7", who="ann")
    ledger.close_budget("visits", who="rosa", why="the study is over")
    assert ledger.close_budget("visits", who="rosa", why="again").closed
    with pytest.raises(BudgetError, match="closed"):
        spend(ledger, "r2", 1)
    assert spend(ledger, "r1", 2).already_paid
    assert ledger.find("r1").answer == "7"
    assert ledger.remaining("visits", "a").amount == 0
    for change in (ledger.raise_budget, ledger.lower_budget):
        with pytest.raises(InputError, match="not closed"):
            change("visits", budget(a=5, b=5), who="rosa", why="")
    assert [record.kind for record in ledger.records()].count("close") == 1
    assert ledger.verify().ok


def test_verify_sees_a_charge_to_a_closed_budget(ledger, monkeypatch):
    """The planted bug: an account that forgets that it is closed."""
    ledger.close_budget("visits", who="rosa", why="")
    from discreet.ledger import ledger as module

    honest = module.account_of
    monkeypatch.setattr(module, "account_of", lambda reader, name: replace(honest(reader, name), closed=False))
    spend(ledger, "r2", 1)
    assert "after its budget was closed" in "; ".join(ledger.verify().problems)


# Divided: the same promise in other parts.


def divide(ledger, **parts):
    return ledger.divide_budget("visits", budget(**parts), who="rosa", why="a new team")


def test_a_budget_is_divided_anew_within_what_it_promised(ledger):
    divide(ledger, a=3, c=7)  # b, which nobody used, goes; a covers what is spent
    assert {one.allotment.name: one.left.amount for one in ledger.standing("visits")} == {"a": 1, "c": 7}
    spend(ledger, "r2", 7, "c")
    with pytest.raises(BudgetError):
        spend(ledger, "r3", 2)
    last = [record for record in ledger.records() if record.kind == "open"][-1]
    assert (last.who, last.why) == ("rosa", "a new team")
    assert ledger.verify().ok


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"a": 5, "b": 6}, "at most 10, as before"),
        ({"a": 1, "b": 9}, "at least what is spent"),
        ({"b": 10}, "something was spent"),
    ],
)
def test_a_division_that_promises_more_or_covers_less_is_refused(ledger, parts, says):
    before = ledger.head()
    with pytest.raises(InputError, match=says):
        divide(ledger, **parts)
    assert ledger.head() == before


def test_a_division_that_counts_otherwise_is_refused(ledger):
    other = Budget(10, delta="1e-6", allotments=[Allotment("a", "pure", epsilon=5)])
    with pytest.raises(InputError, match=r"`budget.delta` must be at most 0"):
        ledger.divide_budget("visits", other, who="rosa", why="w")
    with pytest.raises(InputError, match="counted as it is now"):
        ledger.divide_budget("visits", Budget(rho=1), who="rosa", why="w")
    ledger.create("more", Budget(2, delta="1e-6"), who="ann")
    pure = Budget(2, allotments=[Allotment("questions", "pure", epsilon=2)])
    with pytest.raises(InputError, match="a zcdp allotment"):
        ledger.divide_budget("more", pure, who="rosa", why="w")


def test_without_the_comparison_a_division_would_promise_more(ledger, monkeypatch):
    """The planted bug: what the checks above refuse is then written, and more is spent than was ever promised."""
    monkeypatch.setattr("discreet.ledger.account.Account.check_divide", lambda *_: None)
    divide(ledger, a=5, b=50)
    spend(ledger, "r2", 50, "b")
    assert sum(one.spent.amount for one in ledger.standing("visits")) > 10
