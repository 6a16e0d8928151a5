"""An anchor in a second database, which several machines share: SQLite or PostgreSQL."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from discreet.errors import LedgerError, MissingExtraError
from discreet.ledger.anchor import Anchor

__all__ = ["PostgresAnchor", "SqliteAnchor"]

_TABLE = """CREATE TABLE IF NOT EXISTS discreet_anchor (
    ledger TEXT NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (ledger, line))"""

Execute = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


class _TableAnchor(Anchor):
    """The lines of one ledger in a table of a database, in the SQL that both kinds share."""

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self._execute: Execute | None = None  # while it is held for writing

    def _transaction(self) -> AbstractContextManager[Execute]:
        """Alone in the database; durable when it ends."""
        raise NotImplementedError

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._transaction() as execute:
            self._execute = execute
            try:
                yield
            finally:
                self._execute = None

    def _ask(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._execute is not None:
            return self._execute(statement, values)
        with self._transaction() as execute:
            return execute(statement, values)

    def _last_line(self) -> str | None:
        found = self._ask(
            "SELECT text FROM discreet_anchor WHERE ledger = ? ORDER BY line DESC LIMIT 1", (self._ledger,)
        )
        return found[0][0] if found else None

    def _lines(self) -> list[str]:
        found = self._ask("SELECT text FROM discreet_anchor WHERE ledger = ? ORDER BY line", (self._ledger,))
        return [text for (text,) in found]

    def _append(self, lines: Sequence[str]) -> None:
        ((last,),) = self._ask("SELECT COALESCE(MAX(line), 0) FROM discreet_anchor WHERE ledger = ?", (self._ledger,))
        for number, line in enumerate(lines, last + 1):
            self._ask("INSERT INTO discreet_anchor VALUES (?, ?, ?)", (self._ledger, number, line))

    def _replace(self, lines: Sequence[str]) -> None:
        self._ask("DELETE FROM discreet_anchor WHERE ledger = ?", (self._ledger,))
        self._append(lines)


class SqliteAnchor(_TableAnchor):
    """Lines in a SQLite file, of one or many ledgers."""

    def __init__(self, path: Path, ledger: str) -> None:
        super().__init__(ledger)
        self._path = path
        self.name = path.name

    @contextmanager
    def _transaction(self) -> Iterator[Execute]:
        try:
            with closing(sqlite3.connect(self._path, timeout=60, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = FULL")
                self._path.chmod(0o600)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLE)
                yield lambda statement, values: connection.execute(statement, values).fetchall()
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as problem:
            raise _unreachable(self.name, problem) from None


class PostgresAnchor(_TableAnchor):
    """Lines in a PostgreSQL database. It should not be the one that holds the ledger: both are restored together."""

    def __init__(self, url: str, ledger: str) -> None:
        super().__init__(ledger)
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError("postgres", "psycopg") from None
        self._library = psycopg
        self._url = url
        self.name = "postgresql://..."

    @contextmanager
    def _transaction(self) -> Iterator[Execute]:
        number = int.from_bytes(hashlib.sha256(f"anchor {self._ledger}".encode()).digest()[:8], "big", signed=True)
        try:
            with self._library.connect(self._url, connect_timeout=10) as connection:  # commits at the end
                connection.execute("SET synchronous_commit = on")
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (number,))
                if connection.execute("SELECT to_regclass('discreet_anchor')").fetchall() == [(None,)]:
                    connection.execute(_TABLE)

                def execute(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
                    cursor = connection.execute(statement.replace("?", "%s").encode(), values)
                    return cursor.fetchall() if cursor.description else []

                yield execute
        except self._library.Error as problem:
            raise _unreachable(self.name, problem) from None


def _unreachable(name: str, problem: Exception) -> LedgerError:
    return LedgerError(
        f"The guard {name!r} of the ledger cannot be reached ({type(problem).__name__}: {str(problem).strip()}). If a "
        "charge was being recorded, ask again under the same release id: it is not charged twice."
    )
