"""Where randomised reports are kept: one SQLite file, or PostgreSQL. Nothing else about anyone is written down.

A store belongs to one survey. A row is a token, the survey's digest and the randomised answers: no time, no address.
Rows of SQLite lie in the order of their tokens, which are random, so the file does not tell who came first. Its log
(the -wal file beside it) does, of the latest reports: SQLite empties it now and then, and when the server is stopped.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from discreet.errors import DiscreetError, InputError, MissingExtraError, Phrase

__all__ = [
    "Outcome",
    "PostgresReports",
    "Reports",
    "SqliteReports",
    "is_address",
    "make_private",
    "open_reports",
    "sqlite_errors",
]

FORMAT = 1

Outcome = Literal["new", "same", "other"]

_SCHEMA = (
    """CREATE TABLE discreet_survey (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL,
        digest TEXT NOT NULL)""",
    "CREATE TABLE discreet_report (token TEXT PRIMARY KEY, survey TEXT NOT NULL, answers TEXT NOT NULL)",
)
_PATIENCE = 10.0  # seconds to wait for another writer
_PREPARING = 0x0D15C4EE8  # the advisory lock of whoever creates the tables
_PAGE = 10_000
_AT_ONCE = 300  # reports in a statement: SQLite may be compiled to take no more than 999 values


class Reports(Protocol):
    """A store of reports. Safe to use from many threads."""

    def keep(self, token: str, digest: str, answers: str) -> Outcome:
        """Write one report down: "new", or "same" if it is there already, or "other" if the token has another."""
        ...

    def keep_all(self, digest: str, reports: Mapping[str, str]) -> int:
        """Write reports down that are at hand already, answers by token, in few transactions: how many were new.

        A token that has a report keeps it.
        """
        ...

    def tally(self) -> list[tuple[str, str, int]]:
        """Every (digest, answers) there is, and how often."""
        ...

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Every (token, digest, answers), in the order of the tokens."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class _Tables:
    """Every statement on the tables, in the SQL that SQLite and PostgreSQL share, one at a time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def _check(self, digest: str) -> None:
        ((written, found),) = self._execute("SELECT format, digest FROM discreet_survey")
        if written != FORMAT:
            raise InputError(
                "reports", Phrase(f"format {written}"), f"of format {FORMAT}", "Another version of discreet made it."
            )
        if found != digest:
            raise InputError(
                "reports",
                Phrase(f"survey {found[:12]}"),
                f"reports of this survey, {digest[:12]}",
                "Another survey, or this one with another wording or another epsilon. Give each a store of its own.",
            )

    def keep(self, token: str, digest: str, answers: str) -> Outcome:
        with self._guard:
            made = self._execute(
                "INSERT INTO discreet_report (token, survey, answers) VALUES (?, ?, ?) "
                "ON CONFLICT (token) DO NOTHING RETURNING token",
                (token, digest, answers),
            )
            if made:
                return "new"
            found = self._execute("SELECT survey, answers FROM discreet_report WHERE token = ?", (token,))
            return "same" if found == [(digest, answers)] else "other"

    def keep_all(self, digest: str, reports: Mapping[str, str]) -> int:
        new, items = 0, list(reports.items())
        for start in range(0, len(items), _AT_ONCE):
            some = items[start : start + _AT_ONCE]
            rows = ", ".join(["(?, ?, ?)"] * len(some))
            values = [value for token, answers in some for value in (token, digest, answers)]
            with self._guard:
                made = self._execute(
                    f"INSERT INTO discreet_report (token, survey, answers) VALUES {rows} "
                    "ON CONFLICT (token) DO NOTHING RETURNING token",
                    values,
                )
            new += len(made)
        return new

    def tally(self) -> list[tuple[str, str, int]]:
        with self._guard:
            found = self._execute("SELECT survey, answers, COUNT(*) FROM discreet_report GROUP BY survey, answers")
        return [(str(digest), str(answers), int(count)) for digest, answers, count in found]

    def rows(self) -> Iterator[tuple[str, str, str]]:
        last = ""
        while True:  # in pages, so that many reports need no long memory and keep nobody waiting
            with self._guard:
                page = self._execute(
                    f"SELECT token, survey, answers FROM discreet_report WHERE token > ? ORDER BY token LIMIT {_PAGE}",
                    (last,),
                )
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1][0]


class SqliteReports(_Tables):
    """Reports in a SQLite file: write-ahead log, every report on disk before the server says thanks."""

    def __init__(self, path: Path, digest: str, *, create: bool = True) -> None:
        super().__init__()
        if not create and not path.is_file():
            raise InputError("reports", str(path), "a file of reports", "discreet survey serve makes one.")
        if create:
            make_private(path)
        with sqlite_errors():
            self._connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(path, digest, create)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, path: Path, digest: str, create: bool) -> None:
        run = self._connection.execute
        there = "SELECT 1 FROM sqlite_master WHERE name = 'discreet_survey'"
        if create:
            run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = FULL")
            run("BEGIN IMMEDIATE")
            if not run(there).fetchall():
                for statement in _SCHEMA:
                    run(statement + (" WITHOUT ROWID" if "discreet_report" in statement else ""))
                run("INSERT INTO discreet_survey VALUES (1, ?, ?)", (FORMAT, digest))
            run("COMMIT")
        elif not run(there).fetchall():
            raise InputError("reports", str(path), "a file of reports, as discreet survey serve makes it")
        self._check(digest)

    def __repr__(self) -> str:
        return "SqliteReports()"

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with sqlite_errors():
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._connection.close()


class PostgresReports(_Tables):
    """Reports in PostgreSQL, through psycopg (the `postgres` extra). The address may hold a password: shown nowhere."""

    def __init__(self, url: str, digest: str, *, create: bool = True) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError("postgres", "psycopg") from None
        self._library = psycopg
        self._url = url
        self._connection: Any = None
        try:
            self._prepare(digest, create)
        except BaseException:
            self.close()
            raise

    def _prepare(self, digest: str, create: bool) -> None:
        if create:
            self._execute("SELECT pg_advisory_lock(?)", (_PREPARING,))
        try:
            if self._execute("SELECT to_regclass('discreet_survey')") == [(None,)]:
                if not create:
                    raise InputError(
                        "reports", Phrase("an empty database"), "reports as discreet survey serve stores them"
                    )
                for statement in _SCHEMA:
                    self._execute(statement)
                self._execute("INSERT INTO discreet_survey VALUES (1, ?, ?)", (FORMAT, digest))
        finally:
            if create:
                self._execute("SELECT pg_advisory_unlock(?)", (_PREPARING,))
        self._check(digest)

    def __repr__(self) -> str:
        return "PostgresReports()"

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._library.connect(self._url, autocommit=True, connect_timeout=10)
            cursor = self._connection.execute(statement.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description else []
        except self._library.Error as problem:
            if self._connection is not None and isinstance(problem, self._library.OperationalError):
                self._connection.close()  # the next report makes a new one
            raise _unusable(problem) from None

    def close(self) -> None:
        """Close the connection."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()


def is_address(place: str) -> bool:
    """Whether a place is in PostgreSQL."""
    return place.startswith(("postgresql://", "postgres://"))


def open_reports(place: str, digest: str, *, create: bool = True) -> Reports:
    """The store at a path or at postgresql://..., made if need be; refused if it belongs to another survey."""
    if is_address(place):
        return PostgresReports(place, digest, create=create)
    return SqliteReports(Path(place), digest, create=create)


def make_private(path: Path) -> None:
    """A file that only its owner can read, in a folder that exists or is made so; SQLite's -wal and -shm follow it.

    A file that others could read, as version 0.1 made them, is closed to them.
    """
    folder = path.absolute().parent
    try:
        if not folder.exists() and folder.parent.is_dir():
            folder.mkdir(mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        for each in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
            if each.exists() and each.stat().st_mode & 0o077:
                each.chmod(0o600)
    except OSError as problem:
        allowed = f"a file of yours that can be written, in a folder that exists ({problem.strerror})"
        raise InputError("reports", str(path), allowed) from None


def _unusable(problem: Exception) -> DiscreetError:
    return DiscreetError(
        f"The store of reports cannot be used now ({type(problem).__name__}: {str(problem).strip()}). "
        "Reports that were not confirmed wait on the devices that made them."
    )


@contextmanager
def sqlite_errors() -> Iterator[None]:
    """SQLite's own errors as ours; none of them holds more than a statement of this file."""
    try:
        yield
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise DiscreetError(
                "This file is no store of reports, or its beginning is damaged (SQLite: file is not a database). Name "
                "the one that survey serve writes (--db), or an export that ends in .csv or .parquet."
            ) from None
        raise _unusable(problem) from None
