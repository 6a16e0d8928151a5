"""Connections to PostgreSQL between two questions: kept, bounded, only read with, and replaced once when dead."""

from __future__ import annotations

import threading

import psycopg
import pytest

import discreet
from discreet import Budget, Category, Schema
from discreet.data.connection import Connection
from discreet.data.postgres import Sessions, sessions
from discreet.data.source import source_of
from discreet.errors import RunError, SourceError
from servers import fresh_schema

SCHEMA = Schema("visits", {"ward": Category(["a", "b"], nullable=False)})


@pytest.fixture
def address():
    found = fresh_schema()
    with psycopg.connect(found, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits AS SELECT unnest(ARRAY['a', 'b', 'b']) AS ward")
    yield source_of(found, "visits").place
    sessions.drain()


@pytest.fixture
def curator(address, tmp_path):
    return discreet.open(
        source_of(address, "visits"), SCHEMA, ledger=tmp_path / "books.db", budget=Budget(1000), create=True
    )


def released(curator, **how):
    table = curator.table().group_by("ward").agg(n=discreet.count()).plan(epsilon=40).release(**how)
    return list(table.columns["n"])


def end_all(address):
    """What a restart does to connections."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def test_one_connection_serves_one_question_after_another(address, curator):
    assert released(curator) == [1, 2]
    assert sessions.idle(address) == 1
    with sessions.lent(address) as backend:
        first = backend.con.info.backend_pid
    for _ in range(3):
        assert released(curator) == [1, 2]
    with sessions.lent(address) as backend:
        assert backend.con.info.backend_pid == first


def test_a_kept_connection_reads_only_and_in_utc_whatever_was_done_with_it(address):
    with sessions.lent(address) as backend:
        backend.raw_sql("SET TimeZone = 'Asia/Tokyo'; SET default_transaction_read_only = off").close()
    with sessions.lent(address) as backend:
        assert backend.raw_sql("SHOW TimeZone").fetchone() == ("UTC",)
        for write in ("INSERT INTO visits VALUES ('a')", "CREATE TEMP TABLE t (n int)", "CREATE TABLE t (n int)"):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                backend.raw_sql(write)


def test_no_more_are_kept_than_may_be_and_none_for_ever(address):
    few = Sessions(most=2, age=60.0)
    held = [few.lent(address) for _ in range(4)]
    for one in held:
        one.__enter__()
    for one in held:
        one.__exit__(None, None, None)
    assert few.idle(address) == 2
    few.drain()
    assert few.idle(address) == 0
    brief = Sessions(age=-1.0)
    brief.reach(address)
    with brief.lent(address) as backend:
        again = backend.con.info.backend_pid
    assert brief._kept(address) is None
    assert again


def test_a_question_that_failed_leaves_no_connection(address):
    with pytest.raises(ZeroDivisionError), sessions.lent(address):
        raise ZeroDivisionError
    assert sessions.idle(address) == 0
    with sessions.lent(address) as backend:
        backend.con.autocommit = False
        backend.raw_sql("SELECT 1").close()  # a transaction that is still open
    assert sessions.idle(address) == 0


def test_after_a_restart_the_next_question_is_answered(address, curator):
    assert released(curator) == [1, 2]
    end_all(address)
    assert released(curator) == [1, 2]


def test_a_database_that_is_gone_costs_nothing(tmp_path, address, curator, monkeypatch):
    sessions.drain()
    nowhere = source_of("postgresql://reader:s3cret@127.0.0.1:1/nothing", "visits")
    for ask in (nowhere.columns, nowhere.reach, lambda: nowhere.version(b"key")):
        with pytest.raises(SourceError) as caught:
            ask()
        assert "s3cret" not in str(caught.value)
        assert caught.value.__cause__ is None
    monkeypatch.setattr(type(nowhere), "reach", lambda self: sessions.reach("postgresql://x@127.0.0.1:1/nothing"))
    with pytest.raises(SourceError):
        released(curator, release="r1")
    assert curator.standing()[0].spent.amount == 0
    assert curator.ledger.find("r1") is None


def test_a_connection_that_is_cut_in_a_run_is_opened_once_more_under_one_charge(address, curator, monkeypatch):
    cuts, real = [1], Connection._integers

    def cut(self, expression):
        if cuts:
            cuts.pop()
            end_all(address)
        return real(self, expression)

    monkeypatch.setattr(Connection, "_integers", cut)
    assert released(curator, release="r1") == [1, 2]
    assert cuts == []
    assert [record.kind for record in curator.ledger.records() if record.release == "r1"][:2] == ["charge", "note"]
    assert curator.standing()[0].spent.amount == 40


def test_cut_twice_it_is_open_and_asked_again_it_is_answered_at_no_further_cost(address, curator, monkeypatch):
    cuts, real = [1, 1], Connection._integers

    def cut(self, expression):
        if cuts:
            cuts.pop()
            end_all(address)
        return real(self, expression)

    monkeypatch.setattr(Connection, "_integers", cut)
    with pytest.raises(SourceError, match="charged once"):
        released(curator, release="r1")
    assert curator.standing()[0].spent.amount == 40
    assert released(curator, release="r1") == [1, 2]
    assert curator.standing()[0].spent.amount == 40
    assert curator.ledger.verify().ok


def test_what_a_row_does_is_no_cut(address, curator, monkeypatch):
    """A run that fails while the database is there has failed, and says nothing of why."""

    def broken(self, expression):
        self._backend.raw_sql("SELECT 1 / 0")

    monkeypatch.setattr(Connection, "_integers", broken)
    with pytest.raises(RunError, match="did not finish"):
        released(curator, release="r1")


def test_several_at_once_have_connections_of_their_own(address):
    seen, both = set(), threading.Barrier(2)

    def ask():
        with sessions.lent(address) as backend:
            both.wait(60)
            seen.add(backend.con.info.backend_pid)
            both.wait(60)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2
