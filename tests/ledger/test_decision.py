"""A decision says what it does before it does it, and puts it on record once."""

import pytest

from discreet.core.loss import Pure
from discreet.core.unit import Unit
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.decision import change_of, check_reason, decide_change, decide_closing, decide_opening
from discreet.ledger.ledger import Ledger


def budget(**parts):
    return Budget(sum(parts.values()), allotments=[Allotment(name, "pure", epsilon=e) for name, e in parts.items()])


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", budget(a=4, b=4), who="ann")
    ledger.spend("visits", Pure(1), release="r", who="ann", digest="d", allotment="a")
    return ledger


@pytest.mark.parametrize(
    ("parts", "way"),
    [
        ({"a": 5, "b": 4}, "raise"),
        ({"a": 4, "b": 4, "c": 1}, "raise"),
        ({"a": 3, "b": 4}, "lower"),
        ({"a": 3}, "lower"),
        ({"a": 3, "b": 5}, "divide"),
        ({"a": 4, "c": 4}, "divide"),
    ],
)
def test_a_change_goes_the_way_that_leads_there(ledger, parts, way):
    account = ledger.account("visits")
    assert change_of(account, budget(**parts)) == way
    decision = decide_change(ledger, "visits", budget(**parts), way)
    head = ledger.head()
    assert decision.lines
    assert ledger.head() == head  # nothing happens before the yes
    decision.make(who="rosa", why="w")
    assert ledger.account("visits").budget == budget(**parts)
    assert ledger.verify().ok


def test_what_changes_is_said_for_each_allotment(ledger):
    decision = decide_change(ledger, "visits", budget(a=3, c=5), "divide")
    assert decision.changes == (
        ("a", "epsilon = 4", "epsilon = 3"),
        ("c", "", "epsilon = 5"),
        ("b", "epsilon = 4", ""),
    )
    assert decision.lines == ("a: epsilon = 4 -> epsilon = 3.", "c: new: epsilon = 5.", "b: epsilon = 4 -> none.")
    assert decision.words[0].startswith("The budget of 'visits', which protects one row")


def test_a_decision_without_a_reason_is_none(ledger):
    head = ledger.head()
    with pytest.raises(InputError, match="a reason, in words"):
        decide_closing(ledger, "visits").make(who="rosa", why=" ")
    assert ledger.head() == head
    assert check_reason("the board") == "the board"
    decide_closing(ledger, "visits").make(who="rosa", why="over")
    with pytest.raises(InputError, match="not closed"):
        decide_change(ledger, "visits", budget(a=9, b=9), "raise")


def test_a_new_name_beside_others_is_asked_about(ledger):
    decision = decide_opening(ledger, "vists", budget(a=1), Unit())
    assert "Is 'vists' none of them?" in decision.words[-1]
    decision.make(who="rosa")
    assert "vists" in ledger.datasets()
    with pytest.raises(InputError, match="on this ledger"):
        decide_closing(ledger, "nobody")
