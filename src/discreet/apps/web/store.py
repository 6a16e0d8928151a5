"""What pages must find again after a restart: what a job was asked for, and the last audit. In the server's file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["Store"]

_TABLE = """CREATE TABLE IF NOT EXISTS kept (
    kind TEXT NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, time TEXT NOT NULL,
    PRIMARY KEY (kind, dataset, name)
)"""
_MOST = 1000  # of a kind and a dataset


class Store:
    """Plain values by kind, dataset and name, for all processes of a server. Nothing of the data is in them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as books:
            books.execute(_TABLE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self.path, timeout=30)
        try:
            with books:
                yield books
        finally:
            books.close()

    def keep(self, kind: str, dataset: str, name: str, value: Any, most: int | None = None) -> None:
        """Put a value down, in place of what was there under that name; of a kind and a dataset at most so many."""
        row = (kind, dataset, name, json.dumps(value), datetime.now(UTC).isoformat(timespec="seconds"))
        with self._open() as books:
            books.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?)", row)
            books.execute(
                "DELETE FROM kept WHERE kind = ? AND dataset = ? AND rowid NOT IN "
                "(SELECT rowid FROM kept WHERE kind = ? AND dataset = ? ORDER BY rowid DESC LIMIT ?)",
                (kind, dataset, kind, dataset, _MOST if most is None else most),
            )

    def find(self, kind: str, dataset: str, name: str) -> tuple[Any, str] | None:
        """A value and when it was put down; None if there is none."""
        with self._open() as books:
            row = books.execute(
                "SELECT text, time FROM kept WHERE kind = ? AND dataset = ? AND name = ?", (kind, dataset, name)
            ).fetchone()
        return None if row is None else (json.loads(row[0]), row[1])
