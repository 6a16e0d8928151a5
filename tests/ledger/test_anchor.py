"""The anchor: what was written is known elsewhere; a crash in between heals; a damaged one is noticed."""

import multiprocessing
import os
import shutil
import signal
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import LedgerError
from discreet.ledger import anchor as anchor_module
from discreet.ledger.anchor import FileAnchor, Mark, compacted
from discreet.ledger.budget import Budget, Charge
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import Head
from ledger_copies import begin, copy, guards, open_ledger, restore, spend
from old import old_ledger


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    return ledger


def test_a_copy_elsewhere_on_this_machine_shares_the_guard(ledger, tmp_path):
    """Both may not spend: whichever is behind is refused."""
    ledger.close()
    copy(tmp_path, tmp_path / "elsewhere")
    twin = open_ledger(tmp_path / "elsewhere")
    spend(twin, "x")
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(ledger, "r2")


def test_a_folder_that_is_renamed_keeps_its_guard(tmp_path):
    (tmp_path / "project").mkdir()
    ledger = open_ledger(tmp_path / "project")
    ledger.create("visits", Budget(epsilon=10), who="ann")
    ledger.close()
    (tmp_path / "project").rename(tmp_path / "renamed")
    spend(Ledger.open(tmp_path / "renamed" / "discreet.db"), "r1")


def test_a_crash_between_commit_and_anchor_heals(ledger, monkeypatch):
    def crash(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FileAnchor, "follow", crash)
        with pytest.raises(KeyboardInterrupt):
            spend(ledger, "r2")
    assert ledger.verify().ok  # ahead of its anchor
    assert spend(ledger, "r2").already_paid
    spend(ledger, "r3")
    assert ledger.remaining("visits").amount == 7
    assert ledger.verify().anchored


def test_an_anchor_that_cannot_be_written_is_said_and_the_charge_stays(ledger, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(FileAnchor, "_append", full)
        with pytest.raises(LedgerError, match="No space left"):
            spend(ledger, "r2")
    assert spend(ledger, "r2").already_paid


def test_a_damaged_anchor_is_refused_until_acknowledged(ledger, state):
    (guard,) = guards(state)
    guard.write_text("{")
    with pytest.raises(LedgerError, match="cannot be read"):
        spend(ledger, "r2")
    assert not ledger.verify().ok
    ledger.acknowledge(who="carla", why="looked at it", write_off="nothing")
    spend(ledger, "r2")
    assert ledger.verify().ok


def test_a_line_cut_short_by_a_crash_is_forgotten(ledger, state):
    (guard,) = guards(state)
    with guard.open("a") as file:
        file.write('{"sequ')
    spend(ledger, "r2")
    assert ledger.verify().anchored
    assert len(guard.read_text().splitlines()) == 4  # created, opened, two charges


def test_the_guard_is_for_its_owner_and_in_another_folder(ledger, tmp_path, state):
    (guard,) = guards(state)
    assert guard.stat().st_mode & 0o777 == 0o600
    assert guard.parent.stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.glob("*.head"))


def test_a_guard_of_version_0_1_beside_the_ledger_is_heeded(tmp_path, state):
    """0.1 kept one line, of the head and all totals."""
    old = old_ledger(tmp_path)
    beside = tmp_path / "old.db.head"
    line = beside.read_text()
    assert old.discrepancy() is None
    old.note("q1", "seen", who="ann")  # it is the guard, and another is begun
    assert len(guards(state)) == 1
    assert len(beside.read_text().splitlines()) == 2
    beside.write_text(line.replace('"sequence":14', '"sequence":99').replace('"2","0"', '"4","0"'))
    assert ("visits", "questions", Charge(Fraction(4))) in old.discrepancy().lost


def test_ledger_and_guard_restored_together_is_what_cannot_be_noticed(ledger, tmp_path):
    old = restore(ledger, tmp_path, anchor=True)
    assert old.verify().ok  # stated in docs/proofs/ledger.md
    spend(old, "r4")


KEY = ("visits", "answers")


def log(length):
    """A log as it is written: all that was spent first, then a line for each record."""
    first = Mark(Head(1, "1"), {KEY: Charge(Fraction(1))}, whole=True)
    return [first, *(Mark(Head(i, str(i)), {KEY: Charge(Fraction(1))} if i % 3 else {}) for i in range(2, length))]


def totals(marks):
    """What was spent up to each mark, by the number of its record."""
    out, spent = {}, {}
    for mark in marks:
        spent = mark.after(spent)
        out[mark.head.sequence] = spent
    return out


@pytest.mark.parametrize("length", [2, 100, 5_000, 20_000])
def test_a_compacted_log_has_marks_of_the_log_with_their_totals(length):
    whole = log(length)
    short = compacted(whole)
    assert short[-1].head == whole[-1].head
    before = totals(whole)
    assert all(spent == before[sequence] for sequence, spent in totals(short).items())
    assert [Mark.from_text(mark.to_text()) for mark in short] == short
    ends = [mark.head.sequence for mark in short]
    recent = range(max(1, length - anchor_module.RECENT), length)
    assert set(recent) <= set(ends)
    assert len(short) <= anchor_module.RECENT * (1 + max(1, length // anchor_module.RECENT).bit_length())
    assert compacted(short) == short  # and again changes nothing


def test_a_compacted_log_stays_short_as_it_grows():
    marks, sizes = log(2), []
    for end in range(2, 40_000, 4_096):
        marks = compacted([*marks, *(Mark(Head(i, str(i))) for i in range(end, end + 4_096))])
        sizes.append(len(marks))
    assert sizes[-1] < 5 * anchor_module.RECENT


def test_marks_of_a_move_stay():
    whole = log(5_000)
    whole[1_000] = Mark(whole[1_000].head, moved=True)
    assert whole[1_000].head in [mark.head for mark in compacted(whole) if mark.moved]


def lines(tmp_path, place=None):
    if place is not None:
        return Path(place).read_text().splitlines()
    (guard,) = (tmp_path / "state" / "guards").glob("*.head")
    return guard.read_text().splitlines()


def test_a_ledger_with_a_compacted_guard_goes_on(small_logs, tmp_path):
    ledger = begin(tmp_path / "books.db")
    for each in range(60):
        spend(ledger, f"r{each}")
    assert len(lines(tmp_path)) < 25
    assert ledger.verify().ok
    assert ledger.discrepancy() is None


@pytest.mark.parametrize("kept", [1, 2, 7, 20, 37, 58])
def test_a_copy_from_before_is_charged_at_least_what_it_lost(small_logs, tmp_path, kept):
    ledger = begin(tmp_path / "books.db")
    for each in range(60):
        if each == kept:
            ledger.close()
            shutil.copy(tmp_path / "books.db", tmp_path / "backup.db")
        spend(ledger, f"r{each}")
    ledger.close()
    for path in tmp_path.glob("books.db-*"):
        path.unlink()
    shutil.copy(tmp_path / "backup.db", tmp_path / "books.db")
    old = Ledger.open(tmp_path / "books.db")
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(old, "again")
    old.acknowledge(who="ann", why="a backup")
    spent = 1000 - old.remaining("visits").amount
    assert 60 <= spent <= 60 + kept  # all that was lost; of what the copy has, at most what shares a line with it
    spend(old, "again")
    assert old.verify().ok


def test_a_log_that_loses_charges_would_give_budget_back(small_logs, tmp_path, monkeypatch):
    """The planted bug: lines are left out with what they charged."""

    def forgetful(marks):
        kept = {mark.head for mark in compacted(marks)}
        return [mark for mark in marks if mark.head in kept]

    monkeypatch.setattr(anchor_module, "compacted", forgetful)
    with pytest.raises(AssertionError):
        test_a_copy_from_before_is_charged_at_least_what_it_lost(None, tmp_path, 20)


STOPS = {"while the new log is written": "fsync", "before it takes the place of the old one": "replace"}


def _killed(path, state, stop):
    """Spend until the log is compacted, and die in the middle of that."""
    os.environ["DISCREET_STATE"] = state
    anchor_module.RECENT, anchor_module._EVERY = 2, 8
    replacing = FileAnchor._replace

    def dying(self, entries):
        if self.path.exists():
            if stop == "fsync":
                os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
            else:
                Path.replace = lambda self, target: os.kill(os.getpid(), signal.SIGKILL)
        replacing(self, entries)

    FileAnchor._replace = dying
    ledger = Ledger.open(path)
    for each in range(60):
        spend(ledger, f"k{each}")


@pytest.mark.parametrize("when", STOPS)
def test_killed_in_the_middle_the_log_is_the_old_one_or_the_new_one(small_logs, tmp_path, when):
    ledger = begin(tmp_path / "books.db")
    spend(ledger, "r1")
    ledger.close()
    process = multiprocessing.get_context("spawn").Process(
        target=_killed, args=(str(tmp_path / "books.db"), str(tmp_path / "state"), STOPS[when])
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    again = Ledger.open(tmp_path / "books.db")
    assert again.discrepancy() is None
    marks = [Mark.from_text(line) for line in lines(tmp_path)]
    assert marks[-1].head.sequence in (again.head().sequence, again.head().sequence - 1)
    before = again.remaining("visits").amount
    for each in range(20):
        spend(again, f"s{each}")
    assert again.remaining("visits").amount == before - 20
    assert again.verify().ok
    assert len(lines(tmp_path)) < 25
