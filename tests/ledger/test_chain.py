"""What is edited or hidden buys nothing: no larger total, no rerun, no larger budget, no reopened account."""

import sqlite3
from contextlib import closing

import pytest

from discreet import Budget, Ledger, Pure
from discreet.errors import BudgetError, LedgerError
from discreet.ledger import chain as chain_module
from discreet.ledger import ledger as ledger_module
from discreet.ledger.chain import check_chain
from discreet.ledger.door import ATTEMPTS, release
from jobs import Data, Job
from old import old_ledger


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=5), who="ann")
    release(Job(), Data(), ledger, who="ann", release="first")
    return ledger


def edit(ledger, *statements):
    with closing(sqlite3.connect(ledger._store.path)) as connection:
        for verb in ("update", "delete"):
            connection.execute(f"DROP TRIGGER IF EXISTS discreet_no_{verb}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def later(ledger):
    """A record after those that are to be hidden: the last one is looked at in any case."""
    ledger.spend("visits", Pure(1), release="later", who="ann", digest="d")


HIDDEN = {
    "another release": "UPDATE discreet_record SET release = 'x' || sequence WHERE kind IN ('measurement', 'answer')",
    "another kind": "UPDATE discreet_record SET kind = 'note' WHERE kind IN ('measurement', 'answer')",
    "removed": "DELETE FROM discreet_record WHERE kind IN ('measurement', 'answer')",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_a_hidden_answer_is_not_made_again(ledger, how):
    later(ledger)
    edit(ledger, HIDDEN[how])
    data = Data()
    with pytest.raises(LedgerError, match=r"Record \d+ of the ledger was changed"):
        release(Job(), data, ledger, who="eve", release="first")
    assert data.opened == 0


def test_a_hidden_attempt_is_not_made_again(ledger):
    ledger.spend("visits", Pure(1), release="lost", who="ann", digest=Job().digest)
    for _ in range(ATTEMPTS - 1):
        ledger.note("lost", "its answer was lost", who="ann")
    later(ledger)
    edit(ledger, "UPDATE discreet_record SET release = 'x' || sequence WHERE release = 'lost' AND kind = 'note'")
    data = Data()
    with pytest.raises(LedgerError, match="was changed"):
        release(Job(), data, ledger, who="eve", release="lost")
    assert data.opened == 0


def test_without_the_walk_a_hidden_answer_is_drawn_again_for_nothing(ledger, monkeypatch):
    """The planted bug: fresh noise under an old charge."""
    monkeypatch.setattr(ledger_module, "check_chain", lambda reader: None)
    later(ledger)
    left = ledger.remaining("visits")
    edit(ledger, HIDDEN["another release"])
    data = Data()
    release(Job(), data, ledger, who="eve", release="first")
    assert data.opened == 1
    assert ledger.remaining("visits") == left


CLOSED = [
    "UPDATE discreet_record SET kind = 'note' WHERE kind = 'close'",
    "DELETE FROM discreet_record WHERE kind = 'close'",
]


@pytest.mark.parametrize("statement", CLOSED)
def test_a_closed_budget_stays_closed(ledger, statement):
    ledger.close_budget("visits", who="carla", why="done")
    ledger.note("first", "a record after it", who="ann")
    edit(ledger, statement)
    for act in (
        lambda: ledger.spend("visits", Pure(1), release="r2", who="eve", digest="d"),
        lambda: ledger.remaining("visits"),
        lambda: ledger.declare("visits", Budget(epsilon=5), who="eve"),
    ):
        with pytest.raises(LedgerError, match="budgets of the ledger"):
            act()


LOWERED = [
    "DELETE FROM discreet_record WHERE kind = 'open' AND sequence > 2",
    "UPDATE discreet_record SET dataset = 'other' WHERE kind = 'open' AND sequence > 2",
    "INSERT INTO discreet_record SELECT 92, dataset, kind, '', body, hash FROM discreet_record WHERE sequence = 2",
]


@pytest.mark.parametrize("statement", LOWERED)
def test_a_lowered_budget_stays_lowered(ledger, statement):
    ledger.lower_budget("visits", Budget(epsilon=1), who="carla", why="enough")
    ledger.note("first", "a record after it", who="ann")
    edit(ledger, statement)
    with pytest.raises(LedgerError, match="changed"):
        ledger.spend("visits", Pure(1), release="r2", who="eve", digest="d")


def test_without_the_check_a_larger_budget_comes_back(ledger, monkeypatch):
    """The planted bug: accounts are looked up and nothing is compared."""
    monkeypatch.setattr(chain_module, "check_accounts", lambda *_, **__: None)
    ledger.lower_budget("visits", Budget(epsilon=1), who="carla", why="enough")
    ledger.note("first", "a record after it", who="ann")
    with pytest.raises(BudgetError):
        ledger.spend("visits", Pure(1), release="r2", who="ann", digest="d")
    edit(ledger, LOWERED[0])
    ledger.spend("visits", Pure(1), release="r2", who="eve", digest="d")
    assert not ledger.verify().ok


def test_the_books_of_0_1_are_walked_until_a_record_binds_their_accounts(tmp_path):
    ledger = old_ledger(tmp_path)
    edit(ledger, "UPDATE discreet_record SET kind = 'note' WHERE sequence = 2")
    with pytest.raises(LedgerError, match="Record 2 of the ledger was changed"):
        ledger.note("q1", "seen", who="eve")
    edit(ledger, "UPDATE discreet_record SET kind = 'open' WHERE sequence = 2")
    ledger.note("q1", "seen", who="ann")
    assert list(ledger.records())[-1].accounts
    assert ledger.verify().ok


def test_a_whole_chain_is_walked_without_a_word_and_a_cut_one_is_not(ledger):
    later(ledger)
    with ledger._store.read() as reader:
        check_chain(reader)
    edit(ledger, "DELETE FROM discreet_record WHERE sequence = (SELECT MAX(sequence) FROM discreet_record)")
    with ledger._store.read() as reader, pytest.raises(LedgerError, match="end at 5, not where its head says"):
        check_chain(reader)


def test_verify_compares_the_accounts_that_a_record_was_written_with(ledger, monkeypatch):
    with monkeypatch.context() as bug:
        bug.setattr(chain_module, "hash_of_accounts", lambda entries: "0" * 64)
        bug.setattr(chain_module, "check_accounts", lambda *_, **__: None)
        ledger.close_budget("visits", who="carla", why="done")
    assert any("other budgets" in problem for problem in ledger.verify().problems)


def test_an_acknowledgement_does_not_bind_what_was_edited(ledger, tmp_path):
    ledger.close_budget("visits", who="carla", why="done")
    ledger.note("first", "a record after it", who="ann")
    edit(ledger, CLOSED[0])
    for path in (tmp_path / "state" / "guards").glob("*.head"):
        path.unlink()
    with pytest.raises(LedgerError, match="budgets of the ledger"):
        ledger.acknowledge(who="carla", why="moved", write_off="nothing")


def test_an_edited_total_buys_nothing(ledger):
    edit(ledger, "UPDATE discreet_total SET amount = '0'")
    data = Data()
    with pytest.raises(LedgerError, match="totals"):
        release(Job(digest="other"), data, ledger, who="eve")
    for read in (lambda: ledger.remaining("visits"), lambda: ledger.standing("visits")):
        with pytest.raises(LedgerError, match="totals"):
            read()
    assert data.opened == 0


@pytest.mark.parametrize(
    "statement", ["DELETE FROM discreet_total", "INSERT INTO discreet_total VALUES ('x','y','1','0')"]
)
def test_a_total_removed_or_added_is_noticed(ledger, statement):
    edit(ledger, statement)
    with pytest.raises(LedgerError, match="totals"):
        ledger.spend("visits", Pure("1/2"), release="third", who="eve", digest="d")


def test_without_the_check_an_edited_total_is_spent(ledger, monkeypatch):
    """The bug of 0.1, planted."""
    edit(ledger, "UPDATE discreet_total SET amount = '0'")
    monkeypatch.setattr(ledger_module, "check_bound", lambda *_, **__: None)
    ledger.spend("visits", Pure(2), release="third", who="eve", digest="d")
    assert not ledger.verify().ok


def test_the_totals_of_0_1_are_added_up_once(tmp_path):
    ledger = old_ledger(tmp_path)
    edit(ledger, "UPDATE discreet_total SET amount = '0' WHERE dataset = 'visits'")
    with pytest.raises(LedgerError, match="totals"):
        ledger.spend("rows", Pure("1/100"), release="r3", who="eve", digest="d")
    edit(ledger, "UPDATE discreet_total SET amount = '2' WHERE dataset = 'visits'")
    ledger.spend("rows", Pure("1/100"), release="r3", who="ann", digest="d")
    assert ledger.verify().ok
