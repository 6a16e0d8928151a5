"""The anchor: a restored ledger is noticed and gives no budget back; a crash in between heals."""

import shutil
from fractions import Fraction

import pytest

from discreet.core.loss import Pure
from discreet.errors import InputError, LedgerError
from discreet.ledger import discrepancy as discrepancy_module
from discreet.ledger.anchor import FileAnchor
from discreet.ledger.budget import Budget, Charge
from discreet.ledger.ledger import Ledger
from discreet.ledger.opening import store_at
from old import old_ledger


def open_ledger(folder):
    return Ledger.open(folder / "discreet.db", create=True)


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The state folder of this machine."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("DISCREET_ANCHOR", raising=False)
    return tmp_path / "state"


def guards(state):
    return sorted((state / "guards").glob("*.head"))


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
    """Spend, then put back the files from before; the guard stays unless `anchor`."""
    ledger.close()
    copy(folder, folder / "backup")
    shutil.copytree(folder / "state", folder / "old-state")
    for release in ("r2", "r3"):
        spend(ledger, release)
    ledger.close()
    if anchor:
        shutil.copytree(folder / "old-state", folder / "state", dirs_exist_ok=True)
    for path in (folder / "backup").iterdir():
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
    assert [record.kind for record in old.acknowledge(who="carla", why="disk died")] == ["charge", "failure", "note"]
    assert old.remaining("visits").amount == 7  # what was truly spent
    spend(old, "r4")
    assert old.verify().ok
    assert old.acknowledge(who="carla", why="again") == ()


def test_a_doubt_says_what_acknowledging_would_charge_and_changes_nothing(ledger, tmp_path):
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


def test_a_ledger_that_is_gone_is_not_made_again_without_a_word(ledger, tmp_path):
    ledger.close()
    for path in tmp_path.glob("discreet.db*"):
        path.unlink()
    with pytest.raises(LedgerError, match="is gone"):
        open_ledger(tmp_path)
    anew = Ledger.open(tmp_path / "discreet.db", create=True, anew=True)
    anew.create("visits", Budget(epsilon=10), who="ann")
    spend(anew, "r1")
    assert anew.verify().ok


def test_a_dump_restored_gives_nothing_back(tmp_path, postgres_copy):
    restored = postgres_copy
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(restored, "r3")
    restored.acknowledge(who="carla", why="restored from a dump")
    assert restored.remaining("visits").amount == 8


@pytest.fixture
def postgres_copy():
    """A PostgreSQL ledger that went on after a dump, and the dump, restored."""
    import psycopg

    from servers import fresh_schema

    place, other = fresh_schema(), fresh_schema()
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    store_at(other, None, create=True)
    names = [url.partition("search_path%3D")[2] for url in (place, other)]
    with psycopg.connect(place, autocommit=True) as connection:
        for table in ("discreet_record", "discreet_total"):
            connection.execute(f"INSERT INTO {names[1]}.{table} SELECT * FROM {names[0]}.{table}")
        connection.execute(f"DELETE FROM {names[1]}.discreet_head")
        connection.execute(f"INSERT INTO {names[1]}.discreet_head SELECT * FROM {names[0]}.discreet_head")
    spend(ledger, "r2")
    return Ledger.open(other)


@pytest.fixture(params=["file", "folder", "sqlite", "postgres"])
def witness(request, tmp_path):
    """A place that several machines share."""
    if request.param == "postgres":
        from servers import fresh_schema

        return fresh_schema()
    (tmp_path / "shared").mkdir()
    places = {"file": "shared/visits.head", "folder": "shared", "sqlite": "shared/witness.db"}
    path = tmp_path / places[request.param]
    return f"sqlite:///{path}" if request.param == "sqlite" else str(path)


def test_several_machines_share_a_witness(tmp_path, witness, monkeypatch):
    """What one machine spent, another one knows, although it has never seen the ledger."""
    monkeypatch.setenv("DISCREET_ANCHOR", witness)
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    ledger.close()
    copy(tmp_path, tmp_path / "backup")
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "second machine"))
    there = Ledger.open(tmp_path / "discreet.db")
    spend(there, "r2")
    there.close()
    old = Ledger.open(tmp_path / "backup" / "discreet.db")
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(old, "r3")
    old.acknowledge(who="carla", why="restored")
    assert old.remaining("visits").amount == 8
    spend(old, "r3")
    assert old.verify().anchored


def test_a_witness_that_cannot_be_reached_stops_spending(ledger, tmp_path):
    lonely = Ledger.open(tmp_path / "discreet.db", anchor=f"sqlite:///{tmp_path}/nowhere/witness.db")
    with pytest.raises(LedgerError, match="cannot be reached"):
        spend(lonely, "r2")
    assert ledger.remaining("visits").amount == 9


def test_a_guard_that_forgets_what_they_have_in_common_would_be_seen(ledger, tmp_path, monkeypatch):
    """The planted bug: the difference of totals, as 0.1 charged it, after the copy went on."""
    monkeypatch.setattr(discrepancy_module, "agrees", lambda mark, reader: mark.head.sequence <= reader.head().sequence)
    with pytest.raises(AssertionError):
        test_histories_that_went_apart_are_charged_beyond_what_they_have_in_common(ledger, tmp_path, tmp_path / "state")


def test_ledger_and_guard_restored_together_is_what_cannot_be_noticed(ledger, tmp_path):
    old = restore(ledger, tmp_path, anchor=True)
    assert old.verify().ok  # stated in docs/proofs/ledger.md
    spend(old, "r4")
