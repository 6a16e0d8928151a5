"""Ledgers that older versions wrote, put back as they were: with a guard that has seen them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from discreet.ledger.anchor import Mark
from discreet.ledger.ledger import Ledger
from discreet.ledger.opening import store_at
from discreet.ledger.sqlite import SqliteStore

GOLDEN = Path(__file__).parent / "golden"
HEAD = "09a119fa55e20917a0be8e74609be5777416094255f0d49c53bac163417fbead"


def _restored(path: Path, name: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((GOLDEN / f"{name}.sql").read_text(encoding="utf-8"))
    return path


def old_ledger(folder: Path) -> Ledger:
    """What 0.1 left: rows (a unit nobody named), wards (a unit in words of one's own), visits (of a schema)."""
    path = _restored(folder / "old.db", "books_0_1")
    with SqliteStore(path).read() as reader:
        (folder / "old.db.head").write_text(Mark.of(reader).to_text(), encoding="ascii")
    return Ledger.open(path, create=True)


def golden_ledger(path: Path, name: str) -> Ledger:
    """A ledger of `tests/golden`, by its name, at a path where there is none."""
    store, guard = store_at(_restored(path, name), None, create=False)
    with store.read() as reader:
        guard.accept(reader)
    store.close()
    return Ledger.open(path)
