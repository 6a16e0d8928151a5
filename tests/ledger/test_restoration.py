"""A backup that is put back gives no budget back, and nothing that was there is lost."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.core.loss import Pure
from discreet.errors import InputError, LedgerError
from discreet.ledger import restoration
from discreet.ledger.backup import back_up
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.restoration import restore_backup
from servers import fresh_schema


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    return tmp_path / "books.db" if request.param == "sqlite" else fresh_schema()


@pytest.fixture
def ledger(place, tmp_path):
    opened = Ledger.open(place, create=True)
    opened.create("visits", Budget(epsilon=5), who="ann")
    spend(opened, "r1")
    opened.answer("r1", '{"n": 7}', who="ann")
    opened.version_of(object())
    back_up(opened, tmp_path / "copy")
    return opened


def test_what_was_spent_since_is_charged_when_it_is_acknowledged(ledger, place, tmp_path):
    spend(ledger, "r2", 2)
    head = ledger.head()
    with pytest.raises(InputError, match="--replace"):
        restore_backup(tmp_path / "copy", place)
    assert ledger.head() == head
    ledger.close()
    done = restore_backup(tmp_path / "copy", place, replace=True)
    assert done.aside is not None
    assert [lost[2].amount for lost in done.ledger.discrepancy().lost] == [2]
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(done.ledger, "r3")
    done.ledger.acknowledge(who="ann", why="the disk died")
    assert done.ledger.remaining("visits").amount == 2
    assert done.ledger.find("r1").answer == '{"n": 7}'
    assert done.ledger.verify().ok
    spend(done.ledger, "r3", 2)


def test_nobody_else_reads_a_ledger_while_it_is_put_back(tmp_path, monkeypatch):
    opened = Ledger.open(tmp_path / "books.db", create=True)
    back_up(opened, tmp_path / "copy")
    opened.close()
    (tmp_path / "books.db.restoring").write_text("left by one that was killed")
    (tmp_path / "books.db.restoring").chmod(0o644)
    seen, copied = [], shutil.copyfile

    def copy(source, target):
        seen.append(Path(target).stat().st_mode & 0o777)
        copied(source, target)

    monkeypatch.setattr(shutil, "copyfile", copy)
    restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True).ledger.close()
    assert seen == [0o600]
    assert (tmp_path / "books.db").stat().st_mode & 0o777 == 0o600


def test_where_nothing_was_spent_since_it_goes_on(ledger, place, tmp_path):
    ledger.close()
    done = restore_backup(tmp_path / "copy", place, replace=True)
    assert done.ledger.discrepancy() is None
    assert done.ledger.remaining("visits").amount == 4
    spend(done.ledger, "r2")


def test_what_was_there_is_set_aside(ledger, place, tmp_path):
    spend(ledger, "r2")
    ledger.close()
    done = restore_backup(tmp_path / "copy", place, replace=True)
    again = restore_backup(tmp_path / "copy", place, replace=True)
    assert done.aside != again.aside
    if isinstance(place, str):
        import psycopg

        with psycopg.connect(place) as connection:
            query = f'SELECT COUNT(*) FROM "{done.aside}".discreet_record'
            assert connection.execute(query).fetchall() == [(5,)]
            connection.execute(f'DROP SCHEMA "{done.aside}" CASCADE')
            connection.execute(f'DROP SCHEMA "{again.aside}" CASCADE')
    else:
        with restoration.store_at(done.aside, None, create=False)[0].read() as reader:
            assert reader.head().sequence == 5


def test_another_store_takes_it_as_well(ledger, place, tmp_path):
    other = fresh_schema() if not isinstance(place, str) else tmp_path / "other.db"
    done = restore_backup(tmp_path / "copy", other)
    assert [each.body() for each in done.ledger.records()] == [each.body() for each in ledger.records()]
    assert done.ledger.discrepancy() is None
    assert done.ledger.verify().ok
    spend(done.ledger, "r2")  # and now that one is the ledger, and the first a copy
    with pytest.raises(LedgerError, match="not the one last seen"):
        spend(ledger, "r3")


def test_a_secret_that_is_gone_comes_back(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=5), who="ann")
    secret = tmp_path / "books.db.key"
    secret.write_bytes(b"k" * 32)
    back_up(ledger, tmp_path / "copy")
    ledger.close()
    secret.unlink()
    restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
    assert secret.read_bytes() == b"k" * 32


def test_half_a_backup_is_not_put_in_place(ledger, place, tmp_path):
    (tmp_path / "copy" / "manifest.json").unlink()
    with pytest.raises(LedgerError, match="not a complete backup"):
        restore_backup(tmp_path / "copy", place, replace=True)
    spend(ledger, "r2")


def killed_with_its_log(folder):
    """A ledger with a backup from before its last charge, and that charge in a log that nobody wrote back."""
    opened = Ledger.open(folder / "books.db", create=True)
    opened.create("visits", Budget(epsilon=5), who="ann")
    manifest = back_up(opened, folder / "copy")
    spend(opened, "r2", 2)
    names = ("books.db", "books.db-wal", "books.db-shm")
    kept = {name: (folder / name).read_bytes() for name in names}
    head = opened.head()
    opened.close()
    for name, content in kept.items():
        (folder / name).write_bytes(content)
    assert len(kept["books.db-wal"]) > 4096
    return manifest, head


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_stopped_anywhere_the_same_again_puts_it_back_and_sets_all_aside(tmp_path, monkeypatch, moves):
    manifest, head = killed_with_its_log(tmp_path)
    whole, left = Path.replace, [moves]

    def replace(path, target):
        if path.parent == tmp_path:
            if not left[0]:
                raise _Killed
            left[0] -= 1
        return whole(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        with pytest.raises(_Killed):
            restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
    done = restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
    assert done.ledger.head() == manifest.head
    assert [lost[2].amount for lost in done.ledger.discrepancy().lost] == [2]
    with sqlite3.connect(tmp_path / "books.db.before-restore-1") as aside:
        assert aside.execute("SELECT MAX(sequence) FROM discreet_record").fetchall() == [(head.sequence,)]


def test_the_log_of_a_ledger_that_was_removed_is_not_written_into_the_one_put_back(tmp_path):
    manifest, _ = killed_with_its_log(tmp_path)
    (tmp_path / "books.db").unlink()
    done = restore_backup(tmp_path / "copy", tmp_path / "books.db")
    assert done.ledger.head() == manifest.head
    assert (tmp_path / "books.db.before-restore-1-wal").exists()


def test_what_is_set_aside_is_never_written_over(tmp_path):
    manifest, _ = killed_with_its_log(tmp_path)
    (tmp_path / "books.db.before-restore-1-wal").write_text("the log of another")
    done = restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
    assert done.aside == str(tmp_path / "books.db.before-restore-2")
    assert (tmp_path / "books.db.before-restore-1-wal").read_text() == "the log of another"
    assert done.ledger.head() == manifest.head


@pytest.mark.skipif(sys.platform == "win32", reason="such files cannot be renamed there")
def test_a_ledger_that_somebody_has_open_is_not_taken_from_under_them(tmp_path):
    """SQLite would write on in the file that was set aside, and at its end remove the log of the one put back."""
    opened = Ledger.open(tmp_path / "books.db", create=True)
    opened.create("visits", Budget(epsilon=5), who="ann")
    back_up(opened, tmp_path / "copy")
    spend(opened, "r2", 2)
    with opened._store.read(), pytest.raises(LedgerError, match=r"in use\. Nothing was changed\. Stop the server"):
        restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
    assert opened.remaining("visits").amount == 3
    opened.close()
    other = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path / "books.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(LedgerError, match="in use"):
            restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
        other.kill()
    assert restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True).aside


_HOLD = """
import sqlite3, sys
books = sqlite3.connect(sys.argv[1])
books.execute("SELECT * FROM discreet_head").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


JOURNAL = """
import os, sqlite3, sys
books = sqlite3.connect(sys.argv[1], isolation_level=None)
books.execute("PRAGMA journal_mode = DELETE")
books.execute("PRAGMA cache_size = 1")
books.execute("BEGIN IMMEDIATE")
books.execute("CREATE TABLE filler (text)")
for number in range(200):
    books.execute("INSERT INTO filler VALUES (?)", ("x" * 1000,))
os._exit(9)
"""


@pytest.mark.parametrize("name", ["books.db", "books.db.restoring"])
def test_the_journal_of_a_write_that_was_killed_is_not_played_back_into_the_one_put_back(tmp_path, name):
    """A restored file has a journal until it is first opened: of one killed there, pages of before are left."""
    place = tmp_path / "books.db"
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=50), who="ann")
    spend(ledger, "r1")
    back_up(ledger, tmp_path / "early")
    for number in range(30):
        spend(ledger, f"s{number}")
    head = ledger.head()
    back_up(ledger, tmp_path / "late")
    ledger.close()
    shutil.copy(tmp_path / "early" / "ledger.db", tmp_path / name)
    assert subprocess.run([sys.executable, "-c", JOURNAL, str(tmp_path / name)], check=False).returncode == 9
    assert (tmp_path / f"{name}-journal").stat().st_size > 0
    done = restore_backup(tmp_path / "late", place, replace=True)
    assert done.ledger.head() == head
    assert done.ledger.verify().ok
