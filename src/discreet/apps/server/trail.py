"""Who changed what on a server besides budgets, which the ledger records: tokens, surveys, schemas."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from discreet.core.wire import Json

__all__ = ["Entry", "Trail"]

_TABLES = (
    """CREATE TABLE IF NOT EXISTS trail (
        number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, who TEXT NOT NULL, kind TEXT NOT NULL,
        subject TEXT NOT NULL, what TEXT NOT NULL, why TEXT NOT NULL
    )""",
    "CREATE TRIGGER IF NOT EXISTS trail_kept BEFORE UPDATE ON trail BEGIN SELECT RAISE(ABORT, 'kept'); END",
    "CREATE TABLE IF NOT EXISTS trail_delivered (ledger TEXT PRIMARY KEY, number INTEGER NOT NULL)",
    "CREATE TRIGGER IF NOT EXISTS trail_whole BEFORE DELETE ON trail BEGIN SELECT RAISE(ABORT, 'kept'); END",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One change: when, by whom, of which kind of thing, which one, what was done, and why if somebody said so."""

    time: str
    who: str
    kind: str
    subject: str
    what: str
    why: str = ""

    def to_json(self) -> dict[str, Json]:
        """Plain values, without who: the record of it says that."""
        return {"time": self.time, "about": self.kind, "subject": self.subject, "what": self.what, "why": self.why}


class Trail:
    """Entries in an SQLite file that only its owner can read. They are added, and never changed or removed.

    Whoever can write the file can remove the triggers that say so: what `deliver` carries to a ledger stays there.
    """

    def __init__(self, path: str | Path, deliver: Callable[[], object] | None = None) -> None:
        self.path = Path(path)
        self.deliver = deliver
        """What carries entries on, called when some were added; None where nobody does."""
        if not self.path.exists():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        with self._open() as rows:
            for statement in _TABLES:
                rows.execute(statement)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        rows = sqlite3.connect(self.path, timeout=10)
        try:
            with rows:
                yield rows
        finally:
            rows.close()

    def add(self, who: str, kind: str, subject: str, what: str, why: str = "") -> None:
        """Write one change down."""
        with self._open() as rows:
            self.add_with(rows, who, kind, subject, what, why)
        self.added()

    def added(self) -> None:
        """To be called when a transaction that added something has ended."""
        if self.deliver is not None:
            self.deliver()

    def after(self, number: int) -> list[tuple[int, Entry]]:
        """Entries above a number, with their numbers, the oldest first."""
        with self._open() as rows:
            found = rows.execute(
                "SELECT number, time, who, kind, subject, what, why FROM trail WHERE number > ? ORDER BY number",
                (number,),
            ).fetchall()
        return [(row[0], Entry(*row[1:])) for row in found]

    def delivered(self, ledger: str) -> int:
        """The number of the last entry that is on a ledger."""
        with self._open() as rows:
            found = rows.execute("SELECT number FROM trail_delivered WHERE ledger = ?", (ledger,)).fetchone()
        return 0 if found is None else int(found[0])

    def note_delivered(self, ledger: str, number: int) -> None:
        """Note that all entries up to a number are on a ledger."""
        with self._open() as rows:
            rows.execute(
                "INSERT INTO trail_delivered VALUES (?, ?) ON CONFLICT (ledger) DO UPDATE SET number = excluded.number",
                (ledger, number),
            )

    @staticmethod
    def add_with(rows: sqlite3.Connection, who: str, kind: str, subject: str, what: str, why: str = "") -> None:
        """Write one change down in the transaction that makes it: both are done, or neither is."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows.execute(
            "INSERT INTO trail (time, who, kind, subject, what, why) VALUES (?, ?, ?, ?, ?, ?)",
            (now, who, kind, subject, what, why),
        )

    def listed(self, kind: str, most: int = 50) -> list[Entry]:
        """The last entries of a kind, the newest first."""
        with self._open() as rows:
            found = rows.execute(
                "SELECT time, who, kind, subject, what, why FROM trail WHERE kind = ? ORDER BY number DESC LIMIT ?",
                (kind, most),
            ).fetchall()
        return [Entry(*row) for row in found]
