"""What a release does beside counting: a budget on transactions, statements and records read, so that it stays small.

A count of work, not of time. Whoever needs more says why here.
"""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pyarrow
import pytest

from discreet import Budget, Category, Real, Schema, Unit, count, mean
from discreet import open as open_curator
from discreet.ledger.record import Record
from discreet.ledger.sqlite import SqliteStore
from discreet.ledger.tables import Transaction

SCHEMA = Schema(
    "people", {"pay": Real(0, 1000), "county": Category(["Ash", "Elm", "Oak"])}, unit=Unit("person", groups=1, rows=2)
)
# Read: the budget twice (for the plan and before the charge), what is left. Written: charge, measurement, answer.
READ, WRITTEN, STATEMENTS, RECORDS = 3, 3, 70, 10


@pytest.fixture
def release(tmp_path):
    county = np.array(["Ash", "Elm", "Oak"])[np.arange(90) % 3]
    table = pyarrow.table({"person": np.arange(90), "pay": np.full(90, 500.0), "county": county})
    curator = open_curator(table, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(100), who="t", create=True)
    question = curator.table().group_by("county").agg(n=count(), m=mean("pay"))
    return lambda: question.plan(epsilon=1).release()


@pytest.fixture
def work(monkeypatch):
    """What was done, by its name, by this thread: a server that another test left has a ledger of its own."""
    done: Counter[str] = Counter()
    here = threading.get_ident()

    def add(name):
        done[name] += threading.get_ident() == here

    transaction, begin, read = SqliteStore._transaction, Transaction.__init__, Record.from_values.__func__

    def counted(self, kind):
        add(kind)
        return transaction(self, kind)

    def watched(self, execute, execute_many):
        def run(statement, values):
            add("statements")
            return execute(statement, values)

        begin(self, run, execute_many)

    def reading(cls, values):
        add("records")
        return read(cls, values)

    monkeypatch.setattr(SqliteStore, "_transaction", counted)
    monkeypatch.setattr(Transaction, "__init__", watched)
    monkeypatch.setattr(Record, "from_values", classmethod(reading))
    return done


def test_a_release_does_no_more_on_the_ledger_than_it_must(release, work):
    for _ in range(3):
        release()
    work.clear()
    release()
    assert work["BEGIN IMMEDIATE"] == WRITTEN
    assert work["BEGIN"] <= READ
    assert 30 < work["statements"] <= STATEMENTS
    assert 4 < work["records"] <= RECORDS


def test_it_takes_no_more_of_a_longer_ledger(release, work):
    for _ in range(3):
        release()
    work.clear()
    release()
    before = Counter(work)
    for _ in range(20):
        release()
    work.clear()
    release()
    assert work == before
