"""A ledger for a team: PostgreSQL, through psycopg (the `postgres` extra)."""

from __future__ import annotations

import hashlib
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from discreet.errors import LedgerError, MissingExtraError
from discreet.ledger.location import missing_ledger
from discreet.ledger.store import Reader, Writer, being_run
from discreet.ledger.tables import SCHEMA, TABLES, Execute, Transaction, check_format, in_transaction

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

__all__ = ["PostgresStore"]

_APPEND_ONLY = (
    """CREATE OR REPLACE FUNCTION discreet_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$""",
    """CREATE OR REPLACE TRIGGER discreet_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON discreet_record
        FOR EACH STATEMENT EXECUTE FUNCTION discreet_append_only()""",
)
_PREPARING = 0x0D15C4EE7  # the advisory lock of whoever creates the tables
_BESIDE = 0x0D15C4EE8  # the advisory lock of whoever writes tables that are no part of the ledger
_ALONE = "SELECT sequence FROM discreet_head WHERE one = 1 FOR UPDATE"


class PostgresStore:
    """Records in a PostgreSQL database. Writers queue for the row that holds the head of the chain.

    The address may hold a password, so it is shown nowhere.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError("postgres", "psycopg") from None
        self._library = psycopg
        self._url = url
        self._idle: list[tuple[int, Connection]] = []  # with the process that made each
        weakref.finalize(self, _close, self._idle)
        with self._translated():
            self._prepare(create)

    def __repr__(self) -> str:
        return "PostgresStore()"

    @property
    def path(self) -> None:
        """None: it is no file."""
        return

    def _prepare(self, create: bool) -> None:
        connection = self._connect()
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_PREPARING,))
                if connection.execute("SELECT to_regclass('discreet_head')").fetchall() == [(None,)]:
                    if not create:
                        raise missing_ledger(self._url)
                    for statement in (*SCHEMA, *_APPEND_ONLY):
                        connection.execute(statement)
            ((found,),) = connection.execute("SELECT format FROM discreet_head").fetchall()
            check_format(found)
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    def _connect(self) -> Connection:
        connection = self._library.connect(self._url, autocommit=True, connect_timeout=10)
        # A server may be set to answer before the charge is on disk. Not for this ledger.
        if connection.execute("SHOW synchronous_commit").fetchall() == [("off",)]:
            connection.execute("SET synchronous_commit = on")
        return connection

    def _take(self) -> tuple[Connection, bool]:
        """A connection, and whether it is new: an idle one may have died unnoticed."""
        while self._idle:
            with suppress(IndexError):  # another thread was faster
                owner, connection = self._idle.pop()
                # psycopg leaves a connection of another process alone when it is forgotten after a fork.
                if owner == os.getpid() and not connection.closed:
                    return connection, False
        return self._connect(), True

    def _give_back(self, connection: Connection) -> None:
        self._idle.append((os.getpid(), connection))

    def _begin(self, *statements: str) -> Connection:
        while True:
            connection, new = self._take()
            try:
                for statement in statements:
                    connection.execute(statement)
                return connection
            except BaseException as error:
                connection.close()
                if new or not isinstance(error, self._library.OperationalError):
                    raise

    @contextmanager
    def _transaction(self, *begin: str) -> Iterator[Transaction]:
        with self._translated():
            connection = self._begin(*begin)

            def execute(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
                cursor = connection.execute(statement.replace("?", "%s").encode(), values)
                return cursor.fetchall() if cursor.description else []

            def execute_many(statement: str, values: Sequence[Sequence[Any]]) -> None:
                with connection.cursor() as cursor:
                    cursor.executemany(statement.replace("?", "%s").encode(), values)

            with in_transaction(connection, execute, execute_many, self._give_back) as transaction:
                yield transaction

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """A snapshot."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as transaction:
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """The only writer: it holds the row of the head, and each statement after that sees all that is committed."""
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED", _ALONE) as transaction:
            yield transaction

    @contextmanager
    def beside(self, *, write: bool = True) -> Iterator[Execute]:
        """A transaction on tables that are no part of the ledger; alone among its like if it writes."""
        begin = ["BEGIN ISOLATION LEVEL READ COMMITTED", f"SELECT pg_advisory_xact_lock({_BESIDE})"]
        with self._transaction(*(begin if write else begin[:1])) as transaction:
            yield transaction.execute

    @contextmanager
    def running(self, release: str, *, wait: bool = True) -> Iterator[None]:
        """An advisory lock of a session, freed by the server when the session ends."""
        number = int.from_bytes(hashlib.sha256(release.encode()).digest()[:8], "big", signed=True)
        with self._translated():
            connection = self._begin(f"SELECT pg_advisory_lock({number})" if wait else "SELECT 1")
            if not wait and connection.execute(f"SELECT pg_try_advisory_lock({number})").fetchall() != [(True,)]:
                self._give_back(connection)
                raise being_run(release)
        try:
            yield
        finally:
            try:
                connection.execute(f"SELECT pg_advisory_unlock({number})")
                self._give_back(connection)
            except self._library.Error:  # the session is gone, and the lock with it
                connection.close()

    def set_aside(self) -> str:
        """Move the tables to a schema of their own, and make empty ones; the name of the schema."""
        with self._translated():
            connection, _ = self._take()
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_PREPARING,))
                ((name,),) = connection.execute(
                    "SELECT 'discreet_before_' || to_char(clock_timestamp(), 'YYYYMMDD_HH24MISS_US')"
                ).fetchall()
                connection.execute(f'CREATE SCHEMA "{name}"'.encode())
                for table in TABLES:
                    connection.execute(f'ALTER TABLE IF EXISTS {table} SET SCHEMA "{name}"'.encode())
                for statement in (*SCHEMA, *_APPEND_ONLY):
                    connection.execute(statement)
            self._give_back(connection)
        return str(name)

    def close(self) -> None:
        """Close idle connections."""
        _close(self._idle)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """psycopg's errors as ours. A message of the server may name the host and the role, never the password."""
        try:
            yield
        except self._library.Error as error:
            raise LedgerError(
                f"The ledger in PostgreSQL cannot be used now ({type(error).__name__}: {str(error).strip()}). If a "
                "charge was being recorded, ask again under the same release id: it is not charged twice."
            ) from None


def _close(connections: list[tuple[int, Connection]]) -> None:
    while connections:
        owner, connection = connections.pop()
        if owner == os.getpid():  # after a fork the connection is the parent's
            connection.close()
