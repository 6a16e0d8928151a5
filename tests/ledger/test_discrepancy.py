"""A ledger that is not the one last seen: refused until acknowledged, and it gives no budget back."""

import shutil
from fractions import Fraction

import pytest

from discreet.errors import InputError, LedgerError
from discreet.ledger import discrepancy as discrepancy_module
from discreet.ledger.anchor import FileAnchor
from discreet.ledger.budget import Budget, Charge
from ledger_copies import copy, guards, open_ledger, restore, spend


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    return ledger


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
    assert [record.kind for record in old.acknowledge(who="carla", why="disk died")] == ["charge", "failure", "note"]
    assert old.remaining("visits").amount == 7  # what was truly spent
    spend(old, "r4")
    assert old.verify().ok
    assert old.acknowledge(who="carla", why="again") == ()


def test_a_discrepancy_says_what_acknowledging_would_charge_and_changes_nothing(ledger, tmp_path):
    assert ledger.discrepancy() is None
    old = restore(ledger, tmp_path)
    before = old.head()
    discrepancy = old.discrepancy()
    assert discrepancy.lost == (("visits", "questions", Charge(Fraction(2))),)
    assert not discrepancy.moved
    assert old.head() == before
    assert old.acknowledge(who="carla", why="disk died")[0].charge == discrepancy.lost[0][2]
    assert old.discrepancy() is None


def test_a_crash_after_the_word_and_before_its_mark_can_be_acknowledged_again(ledger, tmp_path, monkeypatch):
    old = restore(ledger, tmp_path)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FileAnchor, "rewrite", crash)
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
        shutil.copy(path, tmp_path / path.name)
    for name in ("discreet.db-wal", "discreet.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    ledger = open_ledger(tmp_path)
    ledger.acknowledge(who="carla", why="disk died")
    ledger.create("visits", Budget(epsilon=10), who="ann")
    assert ledger.remaining("visits") == Charge(Fraction(9))
    assert ledger.verify().ok


def test_a_lost_guard_gives_no_budget_back_by_default(ledger, tmp_path, state):
    """An old copy, its guard lost, acknowledged: in 0.1 the budget came back."""
    old = restore(ledger, tmp_path)
    for path in guards(state):
        path.unlink()
    with pytest.raises(LedgerError, match=r"missing.*--write-off"):
        spend(old, "r4")
    for amounts in (
        None,
        {},
        {("visits", "typo"): Charge(Fraction(1))},
        {("visits", "questions"): Charge(Fraction(-1))},
    ):
        with pytest.raises(InputError, match="write_off"):
            old.acknowledge(who="carla", why="disk died", write_off=amounts)
    old.acknowledge(who="carla", why="two were published", write_off={("visits", "questions"): Charge(Fraction(2))})
    assert old.remaining("visits").amount == 7
    spend(old, "r4")
    assert old.verify().ok


@pytest.mark.parametrize(("word", "left"), [("everything", 0), ("nothing", 9)])
def test_what_is_written_off_may_be_said_in_a_word(ledger, tmp_path, state, word, left):
    old = restore(ledger, tmp_path)
    for path in guards(state):
        path.unlink()
    old.acknowledge(who="carla", why="w", write_off=word)
    assert old.remaining("visits").amount == left
    assert old.verify().ok


def test_a_guard_that_knows_is_not_overruled(ledger, tmp_path):
    old = restore(ledger, tmp_path)
    with pytest.raises(InputError, match="knows what is missing"):
        old.acknowledge(who="carla", why="w", write_off="nothing")
    assert old.discrepancy() is not None


def test_histories_that_went_apart_are_charged_beyond_what_they_have_in_common(ledger, tmp_path, state):
    """The copy went on where its guard did not see it: 0.1 charged the difference of the totals: too little."""
    ledger.close()
    copy(tmp_path, tmp_path / "backup")  # one charge in common
    for release in ("a", "b", "c", "e", "f"):
        spend(ledger, release)
    ledger.close()
    for path in (tmp_path / "backup").iterdir():
        shutil.copy(path, tmp_path / path.name)
    for name in ("discreet.db-wal", "discreet.db-shm"):
        if not (tmp_path / "backup" / name).exists():
            (tmp_path / name).unlink(missing_ok=True)
    state.rename(tmp_path / "away")  # on another machine, say
    stray = open_ledger(tmp_path)
    stray.acknowledge(who="eve", why="w", write_off="nothing")
    spend(stray, "x")
    spend(stray, "y")
    stray.close()
    shutil.rmtree(state)
    (tmp_path / "away").rename(state)
    back = open_ledger(tmp_path)
    assert back.discrepancy().lost == (("visits", "questions", Charge(Fraction(5))),)
    back.acknowledge(who="carla", why="both count")
    assert back.remaining("visits").amount == 10 - 1 - 2 - 5
    assert back.verify().ok


def test_what_was_spent_under_a_larger_budget_stays_spent(ledger, tmp_path):
    ledger.close()
    copy(tmp_path, tmp_path / "backup")
    ledger.raise_budget("visits", Budget(epsilon=20), who="ann", why="more")
    spend(ledger, "big", 15)
    ledger.close()
    for path in (tmp_path / "backup").iterdir():
        shutil.copy(path, tmp_path / path.name)
    for name in ("discreet.db-wal", "discreet.db-shm"):
        if not (tmp_path / "backup" / name).exists():
            (tmp_path / name).unlink(missing_ok=True)
    old = open_ledger(tmp_path)
    old.acknowledge(who="carla", why="restored")
    assert old.remaining("visits").amount == 0
    assert old.verify().ok
    old.raise_budget("visits", Budget(epsilon=20), who="ann", why="as before")
    assert old.remaining("visits").amount == 4
    assert old.verify().ok


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


def test_a_guard_that_forgets_what_they_have_in_common_would_be_seen(ledger, tmp_path, monkeypatch):
    """The planted bug: the difference of totals, as 0.1 charged it, after the copy went on."""
    monkeypatch.setattr(discrepancy_module, "agrees", lambda mark, reader: mark.head.sequence <= reader.head().sequence)
    with pytest.raises(AssertionError):
        test_histories_that_went_apart_are_charged_beyond_what_they_have_in_common(ledger, tmp_path, tmp_path / "state")
