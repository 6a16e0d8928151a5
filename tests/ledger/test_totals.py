"""What was edited outside discreet is refused when it is used, not only when somebody verifies."""

import sqlite3
from contextlib import closing

import pytest

from discreet import Budget, Ledger, Pure
from discreet.errors import LedgerError
from discreet.ledger import ledger as ledger_module
from discreet.ledger.door import release
from discreet.ledger.record import Record
from jobs import Data, Job
from old import old_ledger


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=2), who="ann")
    release(Job(), Data(), ledger, who="ann", release="first")
    ledger.spend("visits", Pure("1/2"), release="second", who="ann", digest="d")
    return ledger


def edit(ledger, statement, *values):
    with closing(sqlite3.connect(ledger._store.path)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS discreet_no_update")
        connection.execute(statement, values)
        connection.commit()


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


def test_an_edited_answer_is_not_read(ledger):
    (row,) = [record for record in ledger.records() if record.kind == "measurement"]
    body = row.body().replace('count\\"', 'tnuoc\\"')
    edit(ledger, "UPDATE discreet_record SET body = ? WHERE sequence = ?", body, row.sequence)
    for read in (lambda: ledger.find("first"), lambda: list(ledger.records()), lambda: ledger.releases()):
        with pytest.raises(LedgerError, match="changed after it was written"):
            read()
    with pytest.raises(LedgerError, match="changed after it was written"):
        release(Job(), Data(), ledger, who="ann", release="first")


def test_an_answer_edited_with_its_hash_is_not_read(ledger):
    (row,) = [record for record in ledger.records() if record.kind == "measurement"]
    body = row.body().replace('count\\"', 'tnuoc\\"')
    statement = "UPDATE discreet_record SET body = ?, hash = ? WHERE sequence = ?"
    edit(ledger, statement, body, Record.hash_of(body), row.sequence)
    with pytest.raises(LedgerError, match="changed after it was written"):
        ledger.find("first")


def test_an_edited_budget_is_not_spent_from(ledger):
    body = list(ledger.records())[1].body().replace('"amount":"2"', '"amount":"9"')
    edit(ledger, "UPDATE discreet_record SET body = ?, hash = ? WHERE sequence = 2", body, Record.hash_of(body))
    with pytest.raises(LedgerError, match="Record 2 of the ledger was changed"):
        ledger.spend("visits", Pure(3), release="third", who="eve", digest="d")


def test_edited_columns_are_noticed(ledger):
    edit(ledger, "UPDATE discreet_record SET release = 'third' WHERE kind = 'answer'")
    with pytest.raises(LedgerError, match="changed after it was written"):
        ledger.find("third")


def test_the_totals_of_0_1_are_added_up_once(tmp_path):
    ledger = old_ledger(tmp_path)
    edit(ledger, "UPDATE discreet_total SET amount = '0' WHERE dataset = 'visits'")
    with pytest.raises(LedgerError, match="totals"):
        ledger.spend("rows", Pure("1/100"), release="r3", who="eve", digest="d")
    edit(ledger, "UPDATE discreet_total SET amount = '2' WHERE dataset = 'visits'")
    ledger.spend("rows", Pure("1/100"), release="r3", who="ann", digest="d")
    assert ledger.verify().ok
