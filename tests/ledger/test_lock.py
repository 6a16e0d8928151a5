"""Locks are files of their owner: whoever could open one could hold it for ever."""

import os

from discreet.ledger.ledger import Ledger
from discreet.ledger.lock import file_lock


def test_what_lies_beside_a_ledger_is_for_its_owner_whatever_the_umask_says(tmp_path):
    old = os.umask(0)
    try:
        with file_lock(tmp_path / "x.lock"):
            assert (tmp_path / "x.lock").stat().st_mode & 0o077 == 0
        ledger = Ledger.open(tmp_path / "books.db", create=True)
        with ledger.running("r"):
            assert (tmp_path / "books.db.running").stat().st_mode & 0o077 == 0
            found = [path for path in tmp_path.rglob("*") if path.stat().st_mode & 0o077]
        assert found == []
    finally:
        os.umask(old)
