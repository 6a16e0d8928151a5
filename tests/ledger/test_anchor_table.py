"""Anchors in databases: several machines share one, and one that cannot be reached stops spending."""

import pytest

from discreet.errors import LedgerError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.opening import store_at
from ledger_copies import begin, copy, open_ledger, spend


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    return ledger


def test_a_dump_restored_gives_nothing_back(tmp_path, postgres_copy):
    restored = postgres_copy
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(restored, "r3")
    restored.acknowledge(who="carla", why="restored from a dump")
    assert restored.remaining("visits").amount == 8


@pytest.fixture
def postgres_copy():
    """A PostgreSQL ledger that went on after a dump, and the dump, restored."""
    import psycopg

    from servers import fresh_schema

    place, other = fresh_schema(), fresh_schema()
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    store_at(other, None, create=True)
    names = [url.partition("search_path%3D")[2] for url in (place, other)]
    with psycopg.connect(place, autocommit=True) as connection:
        for table in ("discreet_record", "discreet_total", "discreet_epsilon", "discreet_digest"):
            connection.execute(f"INSERT INTO {names[1]}.{table} SELECT * FROM {names[0]}.{table}")
        connection.execute(f"DELETE FROM {names[1]}.discreet_head")
        connection.execute(f"INSERT INTO {names[1]}.discreet_head SELECT * FROM {names[0]}.discreet_head")
    spend(ledger, "r2")
    return Ledger.open(other)


def test_several_machines_share_a_witness(tmp_path, witness, monkeypatch):
    """What one machine spent, another one knows, although it has never seen the ledger."""
    monkeypatch.setenv("DISCREET_ANCHOR", witness)
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    ledger.close()
    copy(tmp_path, tmp_path / "backup")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "second machine"))
    there = Ledger.open(tmp_path / "discreet.db")
    spend(there, "r2")
    there.close()
    old = Ledger.open(tmp_path / "backup" / "discreet.db")
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(old, "r3")
    old.acknowledge(who="carla", why="restored")
    assert old.remaining("visits").amount == 8
    spend(old, "r3")
    assert old.verify().anchored


def test_a_witness_that_cannot_be_reached_stops_spending(ledger, tmp_path):
    lonely = Ledger.open(tmp_path / "discreet.db", anchor=f"sqlite:///{tmp_path}/nowhere/witness.db")
    with pytest.raises(LedgerError, match="cannot be reached"):
        spend(lonely, "r2")
    assert ledger.remaining("visits").amount == 9


@pytest.mark.parametrize("place", ["folder", "sqlite", "postgres"])
def test_every_kind_of_guard_is_compacted(small_logs, tmp_path, monkeypatch, place):
    if place == "postgres":
        from servers import fresh_schema

        named = fresh_schema()
    else:
        (tmp_path / "shared").mkdir()
        named = str(tmp_path / "shared") if place == "folder" else f"sqlite:///{tmp_path}/shared/witness.db"
    monkeypatch.setenv("DISCREET_ANCHOR", named)
    ledger = begin(tmp_path / "books.db")
    for each in range(40):
        spend(ledger, f"r{each}")
    with ledger._store.read() as reader:
        from discreet.ledger.guard import identity_of

        logs = [anchor.history() for anchor in ledger._guard.watch(identity_of(reader)).own]
    assert len(logs) == 2
    assert all(len(log) < 22 for log in logs)
    assert all(log[-1].head == ledger.head() for log in logs)
