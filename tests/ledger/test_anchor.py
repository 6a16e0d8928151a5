"""The anchor: a restored ledger is noticed and gives no budget back; a crash in between heals."""

import shutil
from fractions import Fraction

import pytest

from discreet.core.loss import Pure
from discreet.errors import LedgerError
from discreet.ledger.anchor import Anchor
from discreet.ledger.budget import Budget, Charge
from discreet.ledger.ledger import Ledger


def open_ledger(folder):
    return Ledger.open(folder / "discreet.db")


def spend(ledger, release):
    return ledger.spend("visits", Pure(1), release=release, who="ann", digest="d")


def copy(folder, target):
    target.mkdir(exist_ok=True)
    for path in folder.glob("discreet.db*"):
        if path.is_file():
            shutil.copy(path, target / path.name)


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    return ledger


def restore(ledger, folder, *, anchor=False):
    """Spend, then put back the files from before; the anchor stays unless told otherwise."""
    ledger.close()
    copy(folder, folder / "backup")
    for release in ("r2", "r3"):
        spend(ledger, release)
    ledger.close()
    for path in (folder / "backup").iterdir():
        if anchor or not path.name.endswith(".head"):
            shutil.copy(path, folder / path.name)
    for name in ("discreet.db-wal", "discreet.db-shm"):
        if not (folder / "backup" / name).exists():
            (folder / name).unlink(missing_ok=True)
    return open_ledger(folder)


def test_a_restored_ledger_is_refused_until_acknowledged_and_gives_nothing_back(ledger, tmp_path):
    old = restore(ledger, tmp_path)
    assert old.remaining("visits").amount == 9  # what the old copy believes
    for act in (
        lambda: spend(old, "r4"),
        lambda: old.create("visits", Budget(epsilon=10), who="ann"),
        lambda: old.failed("r1", "x", who="ann"),
    ):
        with pytest.raises(LedgerError, match="restored from an old copy"):
            act()
    assert not old.verify().ok
    assert [record.kind for record in old.acknowledge(who="carla", why="disk died")] == ["charge", "note"]
    assert old.remaining("visits").amount == 7  # what was truly spent
    spend(old, "r4")
    assert old.verify().ok
    assert old.acknowledge(who="carla", why="again") == ()


def test_a_doubt_says_what_acknowledging_would_charge_and_changes_nothing(ledger, tmp_path):
    assert ledger.doubt() is None
    old = restore(ledger, tmp_path)
    before = old.head()
    doubt = old.doubt()
    assert doubt.lost == (("visits", "questions", Charge(Fraction(2))),)
    assert not doubt.moved
    assert old.head() == before
    assert old.acknowledge(who="carla", why="disk died")[0].charge == doubt.lost[0][2]
    assert old.doubt() is None


def test_a_crash_after_the_word_and_before_its_mark_can_be_acknowledged_again(ledger, tmp_path, monkeypatch):
    old = restore(ledger, tmp_path)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Anchor, "force", crash)
        with pytest.raises(KeyboardInterrupt):
            old.acknowledge(who="carla", why="disk died")
    old.acknowledge(who="carla", why="and the power failed")  # what is not known to be in common counts twice
    assert old.remaining("visits").amount <= 7
    assert old.verify().ok


def test_a_dataset_that_the_copy_never_had_stays_spent(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.close()
    copy(tmp_path, tmp_path / "backup")
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    ledger.close()
    for path in (tmp_path / "backup").iterdir():
        if not path.name.endswith(".head"):
            shutil.copy(path, tmp_path / path.name)
    for name in ("discreet.db-wal", "discreet.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    ledger = open_ledger(tmp_path)
    ledger.acknowledge(who="carla", why="disk died")
    ledger.create("visits", Budget(epsilon=10), who="ann")
    assert ledger.remaining("visits") == Charge(Fraction(9))
    assert ledger.verify().ok


def test_a_ledger_copied_without_its_anchor_is_refused(ledger, tmp_path):
    ledger.close()
    copy(tmp_path, tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "discreet.db.head").unlink()
    moved = open_ledger(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="missing"):
        spend(moved, "r2")
    moved.acknowledge(who="carla", why="moved house")
    spend(moved, "r2")
    assert moved.verify().ok


def test_another_ledger_in_its_place_is_refused_and_both_histories_count(ledger, tmp_path):
    (tmp_path / "other").mkdir()
    other = open_ledger(tmp_path / "other")
    other.create("visits", Budget(epsilon=10), who="eve")
    for index in range(5):
        spend(other, f"x{index}")
    for each in (ledger, other):
        each.close()
    for path in (tmp_path / "other").glob("discreet.db*"):
        if ".head" not in path.name and path.is_file():
            shutil.copy(path, tmp_path / path.name)
    swapped = open_ledger(tmp_path)
    with pytest.raises(LedgerError, match="another ledger"):
        spend(swapped, "r9")
    swapped.acknowledge(who="carla", why="merged")
    assert swapped.remaining("visits").amount == 4  # 5 here and 1 there
    assert swapped.verify().ok


def test_a_crash_between_commit_and_anchor_heals(ledger, monkeypatch):
    def crash(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Anchor, "move", crash)
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
        patch.setattr(Anchor, "_replace", full)
        with pytest.raises(LedgerError, match="No space left"):
            spend(ledger, "r2")
    assert spend(ledger, "r2").already_paid


def test_a_damaged_anchor_is_refused_until_acknowledged(ledger, tmp_path):
    (tmp_path / "discreet.db.head").write_text("{")
    with pytest.raises(LedgerError, match="cannot be read"):
        spend(ledger, "r2")
    assert not ledger.verify().ok
    ledger.acknowledge(who="carla", why="looked at it")
    spend(ledger, "r2")
    assert ledger.verify().ok


def test_both_files_restored_together_is_what_cannot_be_noticed(ledger, tmp_path):
    old = restore(ledger, tmp_path, anchor=True)
    assert old.verify().ok  # stated in docs/proofs/ledger.md
    spend(old, "r4")
