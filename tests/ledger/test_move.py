"""A ledger that moves keeps everything, and the old one is closed."""

import sqlite3
from contextlib import closing

import pytest

from discreet.core.loss import Pure
from discreet.errors import BudgetError, InputError, LedgerError, MissingLedgerError
from discreet.ledger import move
from discreet.ledger.anchor import FileAnchor
from discreet.ledger.budget import Budget
from discreet.ledger.guard import Guard
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite import SqliteStore
from servers import fresh_schema


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


@pytest.fixture
def old(tmp_path):
    ledger = Ledger.open(tmp_path / "old.db", create=True)
    ledger.create("visits", Budget(epsilon=3), who="ann")
    ledger.create("births", Budget(epsilon=1), who="ann")
    spend(ledger, "r1")
    ledger.answer("r1", '{"n": 7}', who="ann")
    return ledger


def test_everything_is_there_and_the_budget_goes_on(old, place):
    before = [record.body() for record in old.records()]
    new = old.move(place, who="ann", why="more of us")
    assert [record.body() for record in new.records()][:-1] == before
    assert new.verify().ok
    assert new.datasets() == ("visits", "births")
    assert new.find("r1").answer == '{"n": 7}'
    assert new.remaining("visits").amount == 2
    assert list(new.records())[-1].why == "more of us"
    assert spend(new, "r1").already_paid
    spend(new, "r2", 2)
    with pytest.raises(BudgetError):
        spend(new, "r3")
    assert new.verify().ok


def test_the_old_one_is_closed_but_can_be_read(old, place):
    old.move(place, who="ann", why="")
    for act in (
        lambda: spend(old, "r2"),
        lambda: old.create("deaths", Budget(epsilon=1), who="ann"),
        lambda: old.raise_budget("visits", Budget(epsilon=9), who="ann", why=""),
    ):
        with pytest.raises(LedgerError, match=r"moved to another ledger.*--reopen"):
            act()
    assert old.find("r1").answer == '{"n": 7}'
    assert not old.verify().ok


def test_a_moved_ledger_is_not_moved_again(old, place, tmp_path):
    old.move(place, who="ann", why="")
    with pytest.raises(LedgerError, match="left where it is"):
        old.move(tmp_path / "third.db", who="ann", why="")
    with pytest.raises(MissingLedgerError):
        Ledger.open(tmp_path / "third.db")


def test_a_move_that_ended_though_nobody_heard_of_it_is_finished_when_it_is_asked_for_again(old, place):
    """Its process was killed between the last thing it did and its last word."""
    head = old.move(place, who="ann", why="").head()
    new = old.move(place, who="ann", why="")
    assert new.head() == head
    spend(new, "r2", 2)
    assert old.move(place, who="ann", why="").verify().ok  # which moves nothing
    with pytest.raises(LedgerError, match="moved"):
        spend(old, "r3")


def test_only_into_an_empty_one(old, place):
    new = Ledger.open(place, create=True)
    new.create("visits", Budget(epsilon=3), who="ann")
    with pytest.raises(InputError, match="empty"):
        old.move(place, who="ann", why="")
    spend(old, "r2")  # still open


def test_into_itself_is_refused_at_once(old):
    with pytest.raises(InputError, match="empty"):
        old.move(old._store.path, who="ann", why="")
    spend(old, "r2")


def test_books_without_a_guard_cannot_be_closed(old, place):
    loose = Ledger(old._store, None)
    with pytest.raises(InputError, match="closed"):
        loose.move(place, who="ann", why="")
    with pytest.raises(MissingLedgerError):
        Ledger.open(place)


def test_power_fails_before_the_new_ledger_is_committed(old, place, monkeypatch):
    added = FileAnchor.add

    def cut(self, mark):
        added(self, mark)
        raise KeyboardInterrupt

    monkeypatch.setattr(FileAnchor, "add", cut)
    with pytest.raises(KeyboardInterrupt):
        old.move(place, who="ann", why="")
    monkeypatch.undo()
    with pytest.raises(MissingLedgerError):  # neither can be spent from
        Ledger.open(place)
    with pytest.raises(LedgerError):
        spend(old, "r2")
    old.acknowledge(who="ann", why="the move failed")
    assert old.remaining("visits").amount == 2  # and nothing was lost
    assert old.move(place, who="ann", why="second try").verify().ok


STOPS = {
    "before the old ledger is closed": (Guard, "close"),
    "when it is closed": (FileAnchor, "add"),
    "before the new ledger is committed": (SqliteStore, "commit"),
    "before the guard follows the new ledger": (Guard, "follow"),
    "before the old secret is removed": (move, "_tidy"),
}


@pytest.mark.parametrize("when", STOPS)
def test_a_move_that_was_stopped_goes_on_where_it_was(old, tmp_path, monkeypatch, when):
    """Whatever was done already, the same move again finishes it: no budget is lost, and streams go on."""
    remember(old)
    secret = old._secret.read_bytes() if old._secret.exists() else None
    whole, name = STOPS[when]
    with monkeypatch.context() as patch:
        if name == "commit":
            patch.setattr(move, "_carry_over", cut(move._carry_over))
        else:
            patch.setattr(whole, name, cut(getattr(whole, name), before=name != "add"))
        with pytest.raises(KeyboardInterrupt):
            old.move(tmp_path / "new.db", who="ann", why="")
    closed = when != "before the old ledger is closed"
    assert [spendable(old), spendable(reopened(tmp_path / "new.db"))].count(True) <= 1
    assert spendable(old) is not closed
    if closed:  # and no third ledger comes of it
        with pytest.raises(LedgerError, match=r"being moved to .*new\.db"):
            old.move(tmp_path / "third.db", who="ann", why="elsewhere")
    new = old.move(tmp_path / "new.db", who="ann", why="again")
    assert new.verify().ok
    assert new.remaining("visits").amount == 2
    assert [stream.name for stream in new.workspace("private").iterdir()] == ["stream.db"]
    assert secret is None or new._secret.read_bytes() == secret
    left = {path.name for path in tmp_path.iterdir() if path.name.startswith("old.db")}
    assert left <= {"old.db", "old.db-wal", "old.db-shm", "old.db.lock", "old.db.running"}
    spend(new, "r2", 2)
    with pytest.raises(LedgerError):
        spend(old, "r3")


def cut(step, *, before=False):
    """A step before or after which the power fails."""

    def cutting(*values, **named):
        if not before:
            step(*values, **named)
        raise KeyboardInterrupt

    return cutting


def remember(ledger):
    with closing(sqlite3.connect(ledger.workspace("private") / "stream.db")) as stream:
        stream.execute("CREATE TABLE person (hash BLOB)")
        stream.commit()


def reopened(path):
    try:
        return Ledger.open(path)
    except LedgerError:
        return None


def spendable(ledger):
    """Whether a ledger lets budgets be changed, which is like spending and spends nothing."""
    try:
        return ledger is not None and ledger.create("visits", Budget(epsilon=3), who="ann") is not None
    except LedgerError:
        return False


def test_a_database_has_the_memories_of_streams_in_the_state_folder(old, tmp_path):
    remember(old)
    kept = old.workspace("private")
    new = old.move(fresh_schema(), who="ann", why="")
    assert [stream.name for stream in new.workspace("private").iterdir()] == ["stream.db"]
    assert not kept.exists()
    third = new.move(fresh_schema(), who="ann", why="")  # the same ledger, the same folder
    assert third.workspace("private") == new.workspace("private")
    assert [stream.name for stream in third.workspace("private").iterdir()] == ["stream.db"]


def test_a_file_that_cannot_be_copied_leaves_the_ledger_where_it_is(old, tmp_path):
    (old.workspace("private") / "stream.db").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match="cannot be copied"):
        old.move(tmp_path / "new.db", who="ann", why="")
    spend(old, "r2")


def test_an_old_copy_of_a_ledger_that_moved_and_went_on_is_refused(old, place):
    new = old.move(place, who="ann", why="")
    spend(new, "r2")
    spend(new, "r3")
    assert old.discrepancy().moved
    with pytest.raises(LedgerError, match="moved to another ledger"):
        spend(old, "r4")


def test_a_move_that_closes_nothing_would_be_seen(old, place, monkeypatch, tmp_path):
    """The planted bug: both can be spent from, and together they exceed the budget."""
    monkeypatch.setattr(FileAnchor, "add", lambda self, mark: None)
    # As on a machine with another state folder.
    monkeypatch.setattr(Guard, "follow", lambda self, store, step=None: None)
    old.move(place, who="ann", why="", anchor=tmp_path / "other.head")
    monkeypatch.undo()
    with pytest.raises(pytest.fail.Exception), pytest.raises(LedgerError):
        spend(old, "r2", 2)
