"""A ledger that 0.1 wrote: rows (a unit nobody named), wards (a unit in words of one's own), visits (of a schema)."""

import sqlite3
from contextlib import closing
from pathlib import Path

from discreet.ledger.anchor import Mark
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite import SqliteStore

HEAD = "09a119fa55e20917a0be8e74609be5777416094255f0d49c53bac163417fbead"


def old_ledger(folder: Path) -> Ledger:
    """The ledger as 0.1 left it, with its guard."""
    path = folder / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "golden" / "books_0_1.sql").read_text(encoding="utf-8"))
    with SqliteStore(path).read() as reader:
        (folder / "old.db.head").write_text(Mark.of(reader).to_text(), encoding="ascii")
    return Ledger.open(path, create=True)
