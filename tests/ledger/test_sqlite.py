"""A ledger in a SQLite file: for its owner alone, and safe to fork."""

import os

import pytest

from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_new_ledger_is_for_its_owner(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=1), who="ann")
    made = [path for path in tmp_path.iterdir() if path.name in ("books.db", "books.db-wal", "books.db-shm")]
    assert made
    assert all(path.stat().st_mode & 0o077 == 0 for path in made)
    (tmp_path / "books.db").chmod(0o660)  # shared on purpose: it stays so
    Ledger.open(tmp_path / "books.db", create=True).create("others", Budget(epsilon=1), who="ann")
    assert (tmp_path / "books.db").stat().st_mode & 0o777 == 0o660
