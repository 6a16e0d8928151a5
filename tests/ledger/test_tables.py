"""Records edited outside discreet are refused when they are used, not only when somebody verifies."""

import sqlite3
from contextlib import closing

import pytest

from discreet import Budget, Ledger, Pure
from discreet.errors import LedgerError
from discreet.ledger.chain import append
from discreet.ledger.door import release
from discreet.ledger.record import Record
from jobs import Data, Job


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


def test_a_transaction_reads_a_record_once_until_it_writes(ledger):
    with ledger._store.write() as writer:
        statements, execute = [], writer._execute
        writer._execute = lambda statement, values: statements.append(statement) or execute(statement, values)
        for _ in range(3):
            assert len(writer.of_release("first")) == 3
            assert writer.last().release == "second"
        assert len(statements) == len(set(statements)) + 2  # the record after each of three is looked for
        before = writer.head()
        append(writer, kind="note", dataset="visits", release="first", who="ann", why="one more")
        assert writer.head().sequence == before.sequence + 1
        assert len(writer.of_release("first")) == 4
        assert writer.last().why == "one more"
