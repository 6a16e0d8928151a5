"""What a custodian decides in a shell: a larger budget, a copy that is taken, books that move."""

import contextlib
import io
import json
import os
import shutil
import sqlite3
import sys
import warnings
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.core.loss import Pure
from discreet.core.unit import Unit
from discreet.errors import BudgetError, LedgerError
from discreet.ledger.anchor import FileAnchor
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.location import public_address

LEDGER = ".discreet/ledger.db"
SHIPPED = Path(str(files("discreet.apps.demo")))


class Terminal(io.StringIO):
    """Someone who is there and types."""

    def isatty(self):
        return True


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("DISCREET_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ledger = Ledger.open(LEDGER, create=True)
    ledger.create("people", Budget(epsilon=1), unit=Unit("person"), who="ann")
    spend(ledger, "first")
    ledger.close()
    return tmp_path


def spend(ledger, release, epsilon="0.4", dataset="people", allotment=None):
    unit = Unit("person") if dataset == "people" else Unit()
    ledger.spend(dataset, Pure(epsilon), release=release, who="ann", digest="d", allotment=allotment, unit=unit)


def run(*words, code=0, typed=None):
    """The command; `typed` by someone at a terminal, or nobody is there."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "stdin", io.StringIO() if typed is None else Terminal(typed))
        with pytest.raises(SystemExit) as ended:
            main(["ledger", *(str(word) for word in words)])
    assert (ended.value.code or 0) == code, out.getvalue() + err.getvalue()
    return out.getvalue() if not code else err.getvalue()


def books(place=LEDGER):
    return Ledger.open(place)


# raise


def test_a_budget_is_raised_and_that_is_on_record(folder):
    told = run("raise", "people", "--epsilon", "2", "--who", "rosa", "--why", "the board", "--yes")
    assert "questions: epsilon = 1 -> epsilon = 2. Left: epsilon = 1.6." in told
    assert "[budget] of the schema" in told
    assert books().remaining("people").amount * 10 == 16
    last = list(books().records())[-1]
    assert (last.kind, last.who, last.why) == ("open", "rosa", "the board")
    assert books().account("people").unit == "everything of one person, added or removed"
    assert books().account("people").budget == Budget(epsilon=2)


def test_a_raise_as_json_has_exact_numbers(folder):
    told = json.loads(run("raise", "people", "--epsilon", "2", "--why", "w", "--yes", "--json"))
    assert told["budgets"][0]["left"]["amount"] == "8/5"
    assert told["head"] == {"sequence": books().head().sequence, "hash": books().head().hash}


def test_the_schema_says_how_large(folder):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, name)
    text = Path("discreet.toml").read_text()
    Path("discreet.toml").write_text(text.replace("epsilon = 1.0", "epsilon = 1.5"))
    told = run("raise", "people", "--why", "w", "--yes")
    assert "epsilon = 1 -> epsilon = 1.5" in told
    assert "Write the same" not in told


def test_a_divided_budget_is_raised_by_its_schema(folder):
    parts = [Allotment("research", "pure", epsilon="0.7"), Allotment("press", "pure", epsilon="0.3")]
    books().create("visits", Budget(epsilon=1, allotments=parts), who="ann")
    assert "divided" in run("raise", "visits", "--epsilon", "2", "--why", "w", "--yes", code=2)
    schema = """
[dataset]
name = "visits"
[unit]
column = "person"
groups = 1
rows = 1
[budget]
epsilon = 2
[budget.allotments.research]
kind = "pure"
epsilon = 0.7
[budget.allotments.press]
kind = "pure"
epsilon = 0.5
[budget.allotments.city]
kind = "pure"
epsilon = 0.8
[columns.age]
type = "integer"
lower = 0
upper = 100
"""
    Path("visits.toml").write_text(schema)
    told = run("raise", "visits", "--schema", "visits.toml", "--why", "w", "--yes")
    assert "press: epsilon = 0.3 -> epsilon = 0.5. Left: epsilon = 0.5." in told
    assert "city: new: epsilon = 0.8." in told
    Path("visits.toml").write_text(schema.replace("epsilon = 0.7", "epsilon = 0.6"))
    assert "ledger lower" in run("raise", "visits", "--schema", "visits.toml", "--why", "w", "--yes", code=2)
    assert "the schema of 'people'" in run("raise", "people", "--schema", "visits.toml", "--why", "w", code=2)


def test_a_delta_stays_unless_another_is_named(folder):
    books().create("visits", Budget(epsilon=1, delta=1e-6), who="ann")
    run("raise", "visits", "--epsilon", "2", "--why", "w", "--yes")
    assert books().account("visits").budget == Budget(epsilon=2, delta=1e-6)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["people", "--epsilon", "0.5"], "ledger lower"),
        (["people", "--epsilon", "1"], "larger than 'people' has"),
        (["people", "--rho", "2"], "allotment.rho"),
        (["people", "--delta", "1e-6"], "left out unless --epsilon or --rho"),
        (["people", "--epsilon", "two"], "two"),
        (["nobody", "--epsilon", "2"], "a dataset with a budget on this ledger: people"),
        (["people"], "a schema with the new [budget]"),
        (["people", "--epsilon", "2", "--schema", "x.toml"], "left out where options name the budget"),
        (["people", "--epsilon", "2", "--ledger", "gone.db"], "There is no ledger at gone.db"),
    ],
)
def test_a_raise_that_is_none_changes_nothing(folder, words, says):
    before = books().head()
    assert says in run("raise", *words, "--why", "w", "--yes", code=2)
    assert books().head() == before
    assert not Path("gone.db").exists()


def test_a_reason_is_needed(folder):
    assert "--why" in run("raise", "people", "--epsilon", "2", "--yes", code=2)
    assert "a reason" in run("raise", "people", "--epsilon", "2", "--why", " ", "--yes", code=2)


# The same for all three: asked first, unless told not to.


@pytest.mark.parametrize("words", [["raise", "people", "--epsilon", "2"], ["move", "books.db"]], ids=lambda w: w[0])
def test_someone_is_asked_first(folder, words):
    before = books().head()
    assert "--yes" in run(*words, "--why", "w", code=2)
    run(*words, "--why", "w", typed="n\n", code=1)
    assert books().head() == before
    assert not Path("books.db").exists()
    run(*words, "--why", "w", typed="y\n")
    assert (books() if words[0] == "raise" else books("books.db")).head() != before


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
    assert "nobody knows" in run("acknowledge", "--why", "w", "--yes", code=2)
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


def test_a_budget_is_opened_by_a_command_and_a_new_name_is_asked_about(folder):
    schema = SHIPPED.joinpath("discreet.toml").read_text().replace('name = "people"', 'name = "peple"')
    Path("discreet.toml").write_text(schema)
    assert "--yes" in run("open", code=2)
    run("open", typed="n\n", code=1)
    assert books().datasets() == ("people",)
    run("open", typed="y\n")
    assert books().datasets() == ("people", "peple")


def test_a_budget_is_lowered_to_what_is_spent_on_record(folder):
    assert "at least what is spent" in run("lower", "people", "--epsilon", "0.3", "--why", "w", "--yes", code=2)
    assert "at most" in run("lower", "people", "--epsilon", "3", "--why", "w", "--yes", code=2)
    told = run("lower", "people", "--epsilon", "0.4", "--who", "rosa", "--why", "enough", "--yes")
    assert "questions: epsilon = 1 -> epsilon = 0.4. Left: epsilon = 0." in told
    assert (list(books().records())[-1].who, books().verify().ok) == ("rosa", True)


def test_a_budget_is_closed_for_good(folder):
    told = run("close", "people", "--why", "the study is over", "--yes")
    assert "Left: epsilon = 0." in told
    with pytest.raises(BudgetError, match="closed"):
        spend(books(), "second", "0.1")
    assert "closed" in run("raise", "people", "--epsilon", "2", "--why", "w", "--yes", code=2)
    assert books().verify().ok


def test_an_address_is_shown_without_its_password():
    assert public_address("postgresql://ann:secret@host:5432/books?password=secret") == "postgresql://host:5432/books"
    assert public_address("postgresql:///books") == "postgresql:///books"
