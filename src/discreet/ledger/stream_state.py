"""What a stream must remember of people between its periods: private, in a file of its own beside the ledger.

Kept are the exact sums of every closed period, in how many periods each person has counted (under a keyed hash of the
id), and what was published. It is written before anything is published, in one transaction, and never restarted: a
stream whose file is lost goes no further. Proof: docs/proofs/stream.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.wire import Json, canonical
from discreet.errors import LedgerError
from discreet.ledger.location import private_folder, settle
from discreet.noise.bits import SystemBits

__all__ = ["StreamState", "copy_states"]

Sums = list[list[int]]  # for each measure, the sum of each group

_TABLES = (
    "CREATE TABLE stream (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL, ids TEXT NOT NULL)",
    "CREATE TABLE period (number INTEGER PRIMARY KEY, sums TEXT NOT NULL, result TEXT NOT NULL)",
    "CREATE TABLE person (hash BLOB PRIMARY KEY, periods INTEGER NOT NULL) WITHOUT ROWID",
)


@dataclass(frozen=True, slots=True)
class StreamState:
    """The file of the stream called `name` with digest `job`, in a folder that only its owner can read."""

    folder: Path
    name: str
    job: str

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.folder / (hashlib.sha256(f"{self.job} {self.name}".encode()).hexdigest()[:32] + ".db")

    def check(self, period: int, ids: str = "") -> None:
        """`LedgerError` unless exactly the periods before `period` are there, or it as well after a crash.

        `ids` is how ids of people are stored: under another type the same person would have another hash.
        """
        known, stored = 0, ids
        if self.path.exists():
            with self._opened() as connection:
                (known,) = connection.execute("SELECT COUNT(*) FROM period").fetchone()
                (stored,) = connection.execute("SELECT ids FROM stream").fetchone()
        if known not in (period - 1, period):
            raise LedgerError(
                f"The stream {self.name!r} cannot go on with period {period}: its file {self.path.name!r} in "
                f"{str(self.folder)!r}, which says who was counted, holds {known} periods. Nothing was spent and no "
                "data was read. Put the file back, or start a stream under another name, which is paid anew. "
                "(Streams begun with 0.1 have no such file.)"
            )
        if known and ids and stored != ids:
            raise LedgerError(
                f"The stream {self.name!r} was begun with ids stored as {stored}, and they are stored as {ids} now, so "
                "the same person could count again. Nothing was spent and no data was read. Store them as before."
            )

    def result(self, period: int) -> Json:
        """What was drawn for a period; None if nothing was."""
        if not self.path.exists():
            return None
        with self._opened() as connection:
            found = connection.execute("SELECT result FROM period WHERE number = ?", (period,)).fetchone()
        return None if found is None else json.loads(found[0])

    def begin(self, ids: str) -> None:
        """Make the file, if this is the first period."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.path.exists():
            return
        draft = self.path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN")
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO stream VALUES (1, ?, ?)", (SystemBits().read(32).tobytes(), ids))
            connection.execute("COMMIT")
        draft.replace(self.path)

    def hashes(self, people: Iterable[bytes]) -> list[bytes]:
        """Each id under the secret of the file."""
        with self._opened() as connection:
            (secret,) = connection.execute("SELECT secret FROM stream").fetchone()
        return [hashlib.blake2b(person, key=secret, digest_size=16).digest() for person in people]

    def spent(self, people: Iterable[bytes], limit: int) -> set[bytes]:
        """Those of these people who have counted in `limit` periods already."""
        with self._opened() as connection:
            _list(connection, people)
            found = connection.execute("SELECT hash FROM here JOIN person USING (hash) WHERE periods >= ?", (limit,))
            return {hash for (hash,) in found}

    def sums(self, after: int, to: int) -> list[Sums]:
        """The exact sums of the periods after one up to another."""
        with self._opened() as connection:
            found = connection.execute(
                "SELECT sums FROM period WHERE number > ? AND number <= ? ORDER BY number", (after, to)
            ).fetchall()
        return [json.loads(text) for (text,) in found]

    def record(self, period: int, sums: Sums, people: Iterable[bytes], result: Json) -> None:
        """Close a period: on disk, all of it or nothing, when this returns."""
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            (known,) = connection.execute("SELECT COUNT(*) FROM period").fetchone()
            if known != period - 1:
                raise LedgerError(f"Period {period} of stream {self.name!r} does not follow {known} others.")
            _list(connection, people)
            connection.execute(
                "INSERT INTO person SELECT hash, 1 FROM here WHERE true "
                "ON CONFLICT (hash) DO UPDATE SET periods = periods + 1"
            )
            values: Sequence[Any] = (period, json.dumps(sums), canonical(result))
            connection.execute("INSERT INTO period VALUES (?, ?, ?)", values)
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        problem = ""
        try:
            # Never made here: a file that vanished meanwhile must not come back empty.
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=60, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA temp_store = MEMORY")
                yield connection
        except sqlite3.Error as error:
            problem = type(error).__name__
        if problem:  # outside the handler: nothing of the file hangs on the error
            raise LedgerError(f"The file {self.path.name!r} of stream {self.name!r} cannot be used ({problem}).")


def copy_states(old: Path, new: Path) -> None:
    """Copy the files of all streams of a ledger, each as it is between two transactions, durably."""
    if old == new or not old.is_dir():
        return
    for file in private_folder(new).iterdir():  # of a try that failed, and older than what is copied now
        file.unlink()
    for file in sorted(old.glob("*.db")):
        with suppress(sqlite3.Error):
            copy = new / file.name
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            # Written to where a crash has left something to undo.
            address = f"{file.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True)) as source, closing(sqlite3.connect(copy)) as target:
                target.execute("PRAGMA synchronous = FULL")
                source.backup(target)
            continue
        raise LedgerError(f"The file {file.name!r} of a stream cannot be copied; the ledger was left where it is.")
    settle(new)


def _list(connection: sqlite3.Connection, people: Iterable[bytes]) -> None:
    connection.execute("CREATE TEMP TABLE here (hash BLOB PRIMARY KEY) WITHOUT ROWID")
    connection.executemany("INSERT OR IGNORE INTO here VALUES (?)", ((person,) for person in people))
