"""A backup holds all of a ledger as it was at one moment, and nothing can be spent from it."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from discreet.core.loss import Pure
from discreet.errors import InputError, LedgerError
from discreet.ledger import backup
from discreet.ledger.backup import back_up, is_backup, read_backup
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from servers import fresh_schema


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request, tmp_path):
    opened = Ledger.open(tmp_path / "books.db" if request.param == "sqlite" else fresh_schema(), create=True)
    opened.create("visits", Budget(epsilon=1000), who="ann")
    spend(opened, "r1")
    opened.answer("r1", '{"n": 7}', who="ann")
    return opened


def test_it_holds_what_the_ledger_does_and_says_so(ledger, tmp_path):
    made = back_up(ledger, tmp_path / "copy")
    assert made.head == ledger.head()
    told = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    assert (told["records"], told["head"]["hash"]) == (4, ledger.head().hash)
    with read_backup(tmp_path / "copy") as found:
        assert list(found.records()) == list(ledger.records())
        assert found.standing("visits") == ledger.standing("visits")
        assert found.datasets() == ("visits",)
    assert is_backup(tmp_path / "copy")
    assert not is_backup(tmp_path)
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "copy").iterdir()} == {0o600}
    assert not list(tmp_path.glob("*.part"))


def test_nothing_is_spent_from_a_backup(ledger, tmp_path):
    """A copy of the file would be taken for the ledger by its guard. The planted bug: the mark left out."""
    back_up(ledger, tmp_path / "copy")
    with pytest.raises(LedgerError, match="This is a backup"):
        Ledger.open(tmp_path / "copy" / "ledger.db")
    with closing(sqlite3.connect(tmp_path / "copy" / "ledger.db")) as connection:
        connection.execute("UPDATE discreet_head SET format = -format")
        connection.commit()
    taken = Ledger.open(tmp_path / "copy" / "ledger.db")
    if taken.discrepancy() is None:
        spend(taken, "r2")
        with pytest.raises(LedgerError, match="not the one last seen"):
            spend(ledger, "r3")


def test_it_is_one_state_while_others_spend(ledger, tmp_path):
    stop = threading.Event()

    def spender():
        number = 0
        while not stop.is_set():
            number += 1
            spend(ledger, f"s{number}")

    worker = threading.Thread(target=spender)
    worker.start()
    try:
        made = [back_up(ledger, tmp_path / f"copy{number}") for number in range(3)]
    finally:
        stop.set()
        worker.join()
    for number, manifest in enumerate(made):
        with read_backup(tmp_path / f"copy{number}") as found:
            assert found.reader.head() == manifest.head
            assert list(found.records())[-1].head == manifest.head


@pytest.mark.parametrize("name", ["ledger.db", "manifest.json"])
def test_a_changed_file_is_refused(ledger, tmp_path, name):
    back_up(ledger, tmp_path / "copy")
    with (tmp_path / "copy" / name).open("r+b") as file:
        file.seek(100)
        file.write(b"?")
    with pytest.raises(LedgerError, match="backup"), read_backup(tmp_path / "copy"):
        pass


def test_a_manifest_of_another_ledger_is_refused(ledger, tmp_path):
    back_up(ledger, tmp_path / "one")
    spend(ledger, "r2")
    back_up(ledger, tmp_path / "two")
    shutil.copy(tmp_path / "one" / "manifest.json", tmp_path / "two")
    with pytest.raises(LedgerError, match="changed since it was made"), read_backup(tmp_path / "two"):
        pass


def test_only_into_a_new_folder(ledger, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="does not exist yet"):
        back_up(ledger, tmp_path / "full")
    (tmp_path / "other.part").mkdir()
    (tmp_path / "other.part" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="free for an unfinished"):
        back_up(ledger, tmp_path / "other")
    assert (tmp_path / "other.part" / "thesis.txt").read_text() == "mine"


def test_a_disk_that_is_full_leaves_no_backup(ledger, tmp_path, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_write", full)
    with pytest.raises(LedgerError, match="No space left"):
        back_up(ledger, tmp_path / "copy")
    assert not list(tmp_path.glob("copy*"))


def test_killed_in_the_middle_it_is_no_backup_and_the_next_one_is(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=9), who="ann")
    killed = (
        "import os, signal\nfrom discreet.ledger import Ledger, backup\n"
        "backup.check_chain = lambda reader: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"backup.back_up(Ledger.open({str(tmp_path / 'books.db')!r}), {str(tmp_path / 'copy')!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", killed], env=os.environ, timeout=120, check=False)
    assert done.returncode == -9
    assert not is_backup(tmp_path / "copy")
    assert (tmp_path / "copy.part").is_dir()
    back_up(ledger, tmp_path / "copy")
    with read_backup(tmp_path / "copy") as found:
        assert found.reader.head() == ledger.head()
    assert not (tmp_path / "copy.part").exists()


def test_a_backup_that_is_named_as_the_ledger_is_refused_with_what_to_do(tmp_path):
    with closing(Ledger.open(tmp_path / "books.db", create=True)) as books:
        back_up(books, tmp_path / "copy")
    before = sorted(tmp_path.rglob("*"))
    for create in (False, True):
        with pytest.raises(LedgerError, match=r"is a folder.*discreet ledger restore"):
            Ledger.open(tmp_path / "copy", create=create)
    assert sorted(tmp_path.rglob("*")) == before
