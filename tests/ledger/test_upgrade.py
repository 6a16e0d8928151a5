"""Ledgers of earlier formats, brought to the present one, keep every record and every budget."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from discreet.core.loss import Pure
from discreet.errors import BudgetError, LedgerError
from discreet.ledger import chain, upgrade
from discreet.ledger.backup import read_backup
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.postgres import PostgresStore
from discreet.ledger.tables import FORMAT
from discreet.ledger.upgrade import format_of, upgrade_ledger
from old import GOLDEN, golden_ledger, old_ledger
from servers import fresh_schema

NAMES = sorted(path.stem for path in GOLDEN.glob("kinds_*.sql"))


def golden(tmp_path, name):
    return old_ledger(tmp_path) if name == "books_0_1" else golden_ledger(tmp_path / "old.db", name)


@pytest.mark.parametrize("name", ["books_0_1", *NAMES])
def test_a_golden_ledger_of_every_version_is_upgraded_once(tmp_path, name):
    ledger = golden(tmp_path, name)
    before = [record.body() for record in ledger.records()]
    left = {each: ledger.standing(each) for each in ledger.datasets()}
    former = format_of(ledger)
    upgrade_ledger(ledger, tmp_path / "before", who="ann")
    assert format_of(ledger) == FORMAT
    assert [record.body() for record in ledger.records()][: len(before)] == before
    assert {each: ledger.standing(each) for each in ledger.datasets()} == left
    assert ledger.verify().ok
    if former != FORMAT:
        with read_backup(tmp_path / "before") as found:
            assert [record.body() for record in found.records()] == before
        assert next(reversed(list(ledger.records()))).detail == {"upgraded": [former, FORMAT]}
    head = ledger.head()
    assert upgrade_ledger(ledger, tmp_path / "again", who="ann") is None
    assert ledger.head() == head
    assert not (tmp_path / "again").exists()


def test_after_it_no_write_walks_the_chain(tmp_path, monkeypatch):
    """In format 1 a plain sum of epsilons is added up from all records, and 0.1 binds no totals."""
    ledger = old_ledger(tmp_path)
    upgrade_ledger(ledger, tmp_path / "before", who="ann")
    ledger.create("both", Budget(epsilon=3, delta="1e-6"), who="ann")

    def walked(reader):
        raise AssertionError("the chain was walked")

    monkeypatch.setattr(chain, "check_chain", walked)
    for number in range(6):
        ledger.spend("both", Pure("1/2"), release=f"b{number}", who="ann", digest="d")
    with pytest.raises(BudgetError):
        ledger.spend("both", Pure("1/2"), release="b6", who="ann", digest="d")
    monkeypatch.undo()
    assert ledger.verify().ok


def first_format(place):
    """A ledger as the first format has it, in PostgreSQL."""
    ledger = Ledger.open(place, create=True)
    import psycopg

    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("DROP TABLE discreet_epsilon")
        connection.execute("DROP TABLE discreet_digest")
        connection.execute("UPDATE discreet_head SET format = 1")
    ledger.create("both", Budget(epsilon=3, delta="1e-6"), who="ann")
    for number in range(3):
        ledger.spend("both", Pure("1/2"), release=f"b{number}", who="ann", digest="d")
    return ledger


def test_a_database_is_upgraded_too(tmp_path):
    ledger = first_format(fresh_schema())
    assert format_of(ledger) == 1
    assert ledger.pure_left("both") * 2 == 3
    assert upgrade_ledger(ledger, tmp_path / "before", who="ann") == 1
    assert ledger.pure_left("both") * 2 == 3
    ledger.spend("both", Pure("1/2"), release="b3", who="ann", digest="e")
    assert ledger.verify().ok
    with ledger._store.read() as reader:
        assert reader.charged_for("both", "d") == ["b0", "b1", "b2"]
        assert reader.charged_for("both", "e") == ["b3"]
    assert isinstance(ledger._store, PostgresStore)


def test_killed_in_the_middle_it_is_as_it_was_and_can_be_done_again(tmp_path):
    ledger = old_ledger(tmp_path)
    head = ledger.head()
    ledger.close()
    killed = (
        "import os, signal\nfrom discreet.ledger import Ledger, upgrade\n"
        "upgrade.append = lambda *a, **b: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"upgrade.upgrade_ledger(Ledger.open({str(tmp_path / 'old.db')!r}), {str(tmp_path / 'copy')!r}, who='ann')\n"
    )
    done = subprocess.run([sys.executable, "-c", killed], env=os.environ, timeout=120, check=False)
    assert done.returncode == -9
    ledger = Ledger.open(tmp_path / "old.db")
    assert (ledger.head(), format_of(ledger)) == (head, 1)
    assert upgrade_ledger(ledger, tmp_path / "second", who="ann") == 1
    assert ledger.verify().ok


def test_a_ledger_that_does_not_verify_is_left_as_it_is(tmp_path):
    ledger = old_ledger(tmp_path)
    with closing(sqlite3.connect(tmp_path / "old.db")) as books:
        books.execute("UPDATE discreet_total SET amount = '0'")
        books.commit()
    with pytest.raises(LedgerError, match="left as it is"):
        upgrade_ledger(ledger, tmp_path / "before", who="ann")
    assert format_of(ledger) == 1
    assert upgrade.FORMAT == FORMAT
