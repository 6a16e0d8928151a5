"""A ledger in one file: SQLite, the default."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger.lock import file_lock, opened_by_sqlite
from discreet.ledger.store import Reader, Writer, being_run
from discreet.ledger.tables import SCHEMA, Execute, Transaction, check_format, in_transaction

__all__ = ["SqliteStore", "in_use"]

_PATIENCE = 60.0  # seconds to wait for other writers before giving up

_APPEND_ONLY = tuple(
    f"CREATE TRIGGER IF NOT EXISTS discreet_no_{verb} BEFORE {verb} ON discreet_record "
    "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
    for verb in ("update", "delete")
)


class SqliteStore:
    """Records in a SQLite file: write-ahead log, every commit flushed to disk, one writer at a time.

    Idle connections are kept in a pool. A connection must never cross a fork, so the pool is emptied before each one.
    Beside the file lie `<file>.lock` and, while releases run, `<file>.running/`; keep the file on a local disk.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock_path = path.with_name(path.name + ".lock")
        self._running_path = path.with_name(path.name + ".running")
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        if not path.parent.is_dir():
            raise LedgerError(f"The folder of the ledger {path.name!r} does not exist. Nothing was spent.")
        if path.is_dir():
            raise LedgerError(
                f"{path.name!r} is a folder, and a ledger is a file. Nothing was spent, and nothing can be spent from "
                "a backup: put it in place with `discreet ledger restore`."
            )
        with _translated(), file_lock(self._lock_path):
            self._prepare()
        _stores.add(self)
        weakref.finalize(self, _close, self._idle)

    def __repr__(self) -> str:
        return f"SqliteStore({self.path.name!r})"

    def _prepare(self) -> None:
        with suppress(OSError):  # answers, names and reasons are for its owner until they say otherwise
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = self._connect()
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":
                raise LedgerError("SQLite cannot keep a write-ahead log here. Put the ledger on a local disk.")
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'discreet_head'").fetchall():
                connection.execute("BEGIN IMMEDIATE")
                for statement in (*SCHEMA, *_APPEND_ONLY):
                    connection.execute(statement)
                connection.execute("COMMIT")
            check_format(connection.execute("SELECT format FROM discreet_head").fetchone()[0])
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    def _connect(self) -> sqlite3.Connection:
        # Transactions are ours to begin and end (isolation_level), and a pooled connection moves between threads.
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            self._idle.append(connection)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        with _translated():
            connection = self._take()

            def execute(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
                return connection.execute(statement, values).fetchall()

            def execute_many(statement: str, values: Sequence[Sequence[Any]]) -> None:
                connection.executemany(statement, values)

            with in_transaction(connection, execute, execute_many, self._give_back, begin) as transaction:
                yield transaction

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """A snapshot: SQLite's log shows a reader one state until it ends."""
        with self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """The only writer. BEGIN IMMEDIATE alone makes it so; the lock file makes others queue instead of polling."""
        with file_lock(self._lock_path), self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    @contextmanager
    def beside(self, *, write: bool = True) -> Iterator[Execute]:
        """A transaction on tables that are no part of the ledger; alone if it writes."""
        if not write:
            with self._transaction("BEGIN") as transaction:
                yield transaction.execute
            return
        with file_lock(self._lock_path), self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction.execute

    @contextmanager
    def running(self, release: str, *, wait: bool = True) -> Iterator[None]:
        """A lock file for each release that runs."""
        name = hashlib.sha256(release.encode()).hexdigest()[:32]
        self._running_path.mkdir(mode=0o700, exist_ok=True)
        with file_lock(self._running_path / name, remove=True, busy=None if wait else being_run(release)):
            yield

    def close(self) -> None:
        """Close idle connections."""
        with self._guard:
            _close(self._idle)

    def _renew(self) -> None:
        self._guard = threading.Lock()  # a thread that is not in this child may have file_lock it
        self._idle.clear()


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()


@contextmanager
def _translated() -> Iterator[None]:
    """SQLite's own errors as ours; none of them holds more than a statement of this file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise LedgerError(
            f"The ledger cannot be used now (SQLite: {error}). If a charge was being recorded, ask again under the "
            "same release id: it is not charged twice."
        ) from None
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise LedgerError(
                "This file is no ledger, or its beginning is damaged (SQLite: file is not a database). Name the "
                "ledger; restore one that is damaged from a backup, and leave its .head file as it is."
            ) from None
        raise LedgerError(
            f"The ledger file is damaged or refuses the change (SQLite: {error}). Restore it from a backup, leave "
            "its .head file as it is, and run `discreet ledger verify`."
        ) from None


_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()


def in_use(path: Path) -> bool:
    """Whether somebody has the ledger in a file open. Idle connections of this process are closed, and do not count."""
    for store in list(_stores):
        if store.path.absolute() == path.absolute():
            store.close()
    return opened_by_sqlite(path)


def _before_fork() -> None:
    for store in list(_stores):
        store.close()


def _after_fork() -> None:
    for store in list(_stores):
        store._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
