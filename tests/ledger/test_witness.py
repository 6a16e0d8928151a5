"""An answer is shown when its guard has seen it, and not before: copies of a ledger give no second draw."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet import Budget
from discreet.errors import LedgerError
from discreet.ledger import ledger as ledger_module
from discreet.ledger.door import release, stored
from discreet.ledger.guard import Guard
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import outcome_in
from jobs import Data, Job


class Killed(BaseException):
    """The power went away."""


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DISCREET_ANCHOR", raising=False)
    return tmp_path / "state"


@pytest.fixture
def folder(tmp_path):
    """Where the ledger lies, in a folder of its own."""
    (tmp_path / "a").mkdir()
    ledger = Ledger.open(tmp_path / "a" / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=5), who="ann")
    ledger.close()
    return tmp_path


@dataclass(frozen=True)
class Backed(Job):
    """A job during whose run a backup is made."""

    folder: Path | None = None

    def measure(self, data, bits):
        shutil.copytree(self.folder / "a", self.folder / "copy", dirs_exist_ok=True)
        return super().measure(data, bits)


def killed_after_the_commit(folder):
    """Run the release; the process ends when what was drawn is committed and before the guard has its line."""
    ledger = Ledger.open(folder / "a" / "books.db")
    with pytest.MonkeyPatch.context() as patch:

        def die(self, store, step=None):
            with store.read() as reader:
                if outcome_in(reader, "q").measurement is not None:
                    raise Killed
            follow(self, store, step)

        follow = Guard.follow
        patch.setattr(Guard, "follow", die)
        with pytest.raises(Killed):
            release(Backed(folder=folder), Data(), ledger, who="ann", release="q")
    ledger.close()
    return ledger


def drawn(ledger):
    """What is read of the release: it was measured, and not published yet."""
    return json.loads(ledger.find("q").measurement)


def put_back(folder, name="copy"):
    shutil.rmtree(folder / "a", ignore_errors=True)
    shutil.copytree(folder / name, folder / "a")
    return Ledger.open(folder / "a" / "books.db")


def test_an_answer_that_was_read_after_a_crash_is_not_drawn_again_from_a_copy(folder):
    first = killed_after_the_commit(folder)
    assert drawn(first)["count"]
    old = put_back(folder)
    with pytest.raises(LedgerError, match="restored from an old copy"):
        release(Job(), Data(), old, who="ann", release="q")


@pytest.mark.parametrize("read", [Ledger.releases, lambda ledger: list(ledger.records())])
def test_an_answer_that_was_listed_after_a_crash_is_not_drawn_again_from_a_copy(folder, read):
    first = killed_after_the_commit(folder)
    read(first)
    with pytest.raises(LedgerError, match="restored from an old copy"):
        release(Job(), Data(), put_back(folder), who="ann", release="q")


def test_of_two_copies_that_each_drew_an_answer_one_is_shown(folder):
    killed_after_the_commit(folder)
    shutil.move(folder / "a", folder / "aside")
    shown = release(Job(), Data(), put_back(folder), who="ann", release="q").result
    shutil.move(folder / "a", folder / "b")
    shutil.move(folder / "aside", folder / "a")
    other = Ledger.open(folder / "a" / "books.db")
    with pytest.raises(LedgerError, match="never saw"):
        other.find("q")
    with pytest.raises(LedgerError, match="never saw"):
        release(Job(), Data(), other, who="ann", release="q")
    assert stored(put_back(folder, "b").find("q")).result == shown


def test_an_old_copy_shows_what_was_answered_before_it_was_made(folder):
    ledger = Ledger.open(folder / "a" / "books.db")
    answered = release(Job(), Data(), ledger, who="ann", release="q").result
    ledger.close()
    shutil.copytree(folder / "a", folder / "later")
    release(Job(digest="sha256:2"), Data(), ledger, who="ann", release="r")
    ledger.close()
    old = put_back(folder, "later")
    assert old.discrepancy() is not None
    assert stored(old.find("q")).result == answered


def test_books_without_a_guard_can_be_read_and_are_vouched_for_by_nobody(folder, state):
    ledger = Ledger.open(folder / "a" / "books.db")
    release(Job(), Data(), ledger, who="ann", release="q")
    ledger.close()
    shutil.rmtree(state)
    alone = Ledger.open(folder / "a" / "books.db")
    assert alone.find("q").answer is not None
    assert alone.discrepancy() is not None


def test_a_guard_that_cannot_be_written_shows_nothing_that_it_has_not_seen(folder, monkeypatch):
    ledger = killed_after_the_commit(folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Guard, "lead", full)
    with pytest.raises(LedgerError, match="Make room"):
        ledger.find("q")


def test_a_reader_that_does_not_wait_for_the_guard_would_be_seen(folder, monkeypatch):
    """The planted bug, which was there: a second draw under one charge."""

    def unseen(store, guard, release):
        with store.read() as reader:
            return outcome_in(reader, release)

    monkeypatch.setattr(ledger_module, "witnessed_outcome", unseen)
    first = killed_after_the_commit(folder)
    seen = drawn(first)
    again = release(Job(), Data(), put_back(folder), who="ann", release="q").result
    assert again != seen
