"""What a custodian decides about the ledger itself: a copy that is taken, a ledger that moves."""

import contextlib
import json
import shutil
import sqlite3
import warnings
from pathlib import Path

import pytest
from custodian import (
    LEDGER,
    books,
    folder_fixture,  # noqa: F401
    run,
    spend,
)

from discreet.errors import LedgerError
from discreet.ledger.anchor import FileAnchor
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.location import public_address

# acknowledge


def copy():
    """A backup as the guide makes one."""
    with (
        contextlib.closing(sqlite3.connect(LEDGER)) as now,
        contextlib.closing(sqlite3.connect("old.db")) as old,
    ):
        now.backup(old)


def restore(folder):
    """Books of which the last charge is missing."""
    copy()
    ledger = books()
    spend(ledger, "second", "0.5")
    ledger.close()
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm"):
        Path(name).unlink(missing_ok=True)
    shutil.copy("old.db", LEDGER)


def test_the_error_of_a_restored_copy_names_the_command_that_settles_it(folder):
    restore(folder)
    with pytest.raises(LedgerError, match="discreet ledger acknowledge") as refused:
        spend(books(), "third", "0.1")
    assert "--reopen" not in str(refused.value)
    assert "--yes" in run("acknowledge", "--why", "w", code=2)
    run("acknowledge", "--why", "w", typed="n\n", code=1)
    told = run("acknowledge", "--who", "rosa", "--why", "the disk died", typed="y\n")
    assert "people, questions: epsilon = 0.5." in told
    assert "may have been seen: first." in told
    assert "lower or close again" in told
    assert books().remaining("people").amount * 10 == 1
    assert list(books().records())[-1].why == "the disk died"
    spend(books(), "third", "0.1")
    assert "written off" in run("show")
    assert "every hash, sum and cap holds" in run("verify")
    assert "Nothing to acknowledge" in run("acknowledge", "--why", "w")


def test_an_acknowledgement_as_json(folder):
    restore(folder)
    told = json.loads(run("acknowledge", "--why", "w", "--yes", "--json"))
    assert [(one["dataset"], one["amount"]) for one in told["charged"]] == [("people", "1/2")]
    assert "old copy" in told["problem"]
    assert told["closed"] == ["first"]
    assert told["head"]["sequence"] == books().head().sequence
    assert json.loads(run("acknowledge", "--why", "w", "--json"))["charged"] == []


def lose_guard(folder, text=None):
    (guard,) = (folder / "state" / "discreet" / "guards").glob("*.head")
    guard.unlink()
    if text is not None:
        guard.write_text(text)


@pytest.mark.parametrize("text", ["{", None])
def test_without_a_guard_the_custodian_says_what_is_written_off(folder, text):
    lose_guard(folder, text)
    assert "is unknown" in run("acknowledge", "--why", "w", "--yes", code=2)
    assert "DATASET/ALLOTMENT" in run("acknowledge", "--write-off", "0.2", "--why", "w", "--yes", code=2)
    assert "at least 0" in run("acknowledge", "--write-off", "people/questions=-1", "--why", "w", "--yes", code=2)
    told = run("acknowledge", "--write-off", "people/questions=0.2", "--why", "w", "--yes")
    assert "people, questions: epsilon = 0.2." in told
    assert books().remaining("people").amount * 10 == 4
    spend(books(), "after", "0.1")


@pytest.mark.parametrize(("typed", "left"), [("everything\ny\n", 0), ("0.35\ny\n", 25)])
def test_at_a_terminal_the_custodian_is_asked_what_to_write_off(folder, typed, left):
    lose_guard(folder)
    run("acknowledge", "--why", "w", typed=typed)
    assert books().remaining("people").amount * 100 == left


@pytest.mark.parametrize(("word", "left"), [("everything", 0), ("nothing", 6)])
def test_what_is_written_off_in_a_word(folder, word, left):
    lose_guard(folder)
    run("acknowledge", "--write-off", word, "--why", "w", "--yes")
    assert books().remaining("people").amount * 10 == left


def test_where_the_guard_knows_nothing_is_to_be_said(folder):
    restore(folder)
    assert "knows what is missing" in run("acknowledge", "--write-off", "nothing", "--why", "w", "--yes", code=2)


def test_a_dataset_that_the_copy_never_had_is_named(folder):
    copy()
    ledger = books()
    ledger.create("births", Budget(epsilon=1), who="ann")
    spend(ledger, "b", "0.25", "births")
    ledger.close()
    shutil.copy("old.db", LEDGER)
    assert "births, questions: 1/4." in run("acknowledge", "--why", "w", "--yes")


# move


def test_books_move_and_the_old_ones_are_closed(folder):
    told = run("move", "books.db", "--who", "rosa", "--why", "a better disk", "--yes")
    assert "books.db has 4 records" in told
    new = books("books.db")
    assert list(new.records())[-1].why == "a better disk"
    spend(new, "second", "0.1")
    with pytest.raises(LedgerError, match="--reopen"):
        spend(books(), "second", "0.1")
    assert "two budgets of one" in run("acknowledge", "--why", "w", "--yes", code=2)
    with pytest.raises(LedgerError):
        spend(books(), "second", "0.1")


def test_books_whose_move_failed_are_opened_again(folder, monkeypatch):
    ledger, added = books(), FileAnchor.add

    def cut(self, mark):
        added(self, mark)
        raise KeyboardInterrupt

    monkeypatch.setattr(FileAnchor, "add", cut)
    with pytest.raises(KeyboardInterrupt):
        ledger.move("books.db", who="ann", why="")
    monkeypatch.setattr(FileAnchor, "add", added)
    told = run("acknowledge", "--reopen", "--why", "the power failed", "--yes")
    assert "nothing is charged" in told
    spend(books(), "second", "0.1")


def test_a_move_as_json(folder):
    told = json.loads(run("move", "books.db", "--why", "w", "--yes", "--json"))
    assert told == {
        "from": LEDGER,
        "to": "books.db",
        "head": {"sequence": 4, "hash": books("books.db").head().hash},
    }


@pytest.mark.parametrize(
    ("to", "says"),
    [
        ("./.discreet/ledger.db", "a place other than"),
        ("other.db", "an empty ledger"),
        ("mysql:///books", "postgresql://"),
    ],
)
def test_a_move_that_cannot_be_changes_nothing(folder, to, says):
    Ledger.open("other.db", create=True).create("people", Budget(epsilon=1), who="ann")
    assert says in run("move", to, "--why", "w", "--yes", code=2)
    spend(books(), "second", "0.1")


def test_a_ledger_of_version_0_1_beside_the_data_is_used_and_moved(folder):
    shutil.move(LEDGER, "discreet.db")
    for name in (f"{LEDGER}-wal", f"{LEDGER}-shm"):
        Path(name).unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert "people" in run("show")
        assert "version 0.1" in run("move", "discreet.db", "--why", "w", "--yes", code=2)
        run("move", "--why", "out of the data", "--yes")
    assert "Charges" in run("show")  # the new one, and the old one is not taken for a second
    spend(books(), "second", "0.1")
    assert books().remaining("people").amount * 2 == 1


def test_two_ledgers_are_one_too_many(folder):
    Ledger.open("discreet.db", create=True).create("people", Budget(epsilon=1), who="ann")
    assert "two ledgers" in run("show", code=1)


# create, open, lower, close


def test_a_ledger_is_made_once_and_by_a_command(folder):
    assert "a place without a ledger" in run("create", code=2)
    assert "discreet ledger create --ledger new.db" in run("show", "--ledger", "new.db", code=2)
    assert not Path("new.db").exists()
    assert "new.db" in run("create", "--ledger", "new.db", "--who", "rosa")
    (record,) = books("new.db").records()
    assert (record.kind, record.who, record.why) == ("note", "rosa", "created")


def test_a_ledger_that_is_gone_is_not_made_again_without_a_word(folder):
    shutil.rmtree(".discreet")
    assert "is gone" in run("create", code=1)
    run("create", "--anew")
    assert books().datasets() == ()


def test_an_address_is_shown_without_its_password():
    assert public_address("postgresql://ann:secret@host:5432/books?password=secret") == "postgresql://host:5432/books"
    assert public_address("postgresql:///books") == "postgresql:///books"
