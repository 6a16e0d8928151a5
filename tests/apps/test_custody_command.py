"""What a custodian decides in a shell: a larger budget, a copy that is taken, books that move."""

import contextlib
import io
import json
import os
import shutil
import sqlite3
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.core.loss import Pure
from discreet.core.unit import Unit
from discreet.errors import LedgerError
from discreet.ledger.anchor import Anchor
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger

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
    ledger = Ledger.open("discreet.db")
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


def books(place="discreet.db"):
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
    assert "never shrink" in run("raise", "visits", "--schema", "visits.toml", "--why", "w", "--yes", code=2)
    assert "the schema of 'people'" in run("raise", "people", "--schema", "visits.toml", "--why", "w", code=2)


def test_a_delta_stays_unless_another_is_named(folder):
    books().create("visits", Budget(epsilon=1, delta=1e-6), who="ann")
    run("raise", "visits", "--epsilon", "2", "--why", "w", "--yes")
    assert books().account("visits").budget == Budget(epsilon=2, delta=1e-6)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["people", "--epsilon", "0.5"], "never shrink"),
        (["people", "--epsilon", "1"], "more than 'people' has"),
        (["people", "--rho", "2"], "allotment.rho"),
        (["people", "--delta", "1e-6"], "beside the new --epsilon"),
        (["people", "--epsilon", "two"], "two"),
        (["nobody", "--epsilon", "2"], "one that has a budget on this ledger: people"),
        (["people"], "a schema with the new [budget]"),
        (["people", "--epsilon", "2", "--schema", "x.toml"], "not both"),
        (["people", "--epsilon", "2", "--ledger", "gone.db"], "an existing ledger"),
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
        contextlib.closing(sqlite3.connect("discreet.db")) as now,
        contextlib.closing(sqlite3.connect("old.db")) as old,
    ):
        now.backup(old)


def restore(folder):
    """Books of which the last charge is missing."""
    copy()
    ledger = books()
    spend(ledger, "second", "0.5")
    ledger.close()
    for name in ("discreet.db-wal", "discreet.db-shm"):
        Path(name).unlink(missing_ok=True)
    shutil.copy("old.db", "discreet.db")


def test_the_error_of_a_restored_copy_names_the_command_that_settles_it(folder):
    restore(folder)
    with pytest.raises(LedgerError, match="discreet ledger acknowledge") as refused:
        spend(books(), "third", "0.1")
    assert "--reopen" not in str(refused.value)
    assert "--yes" in run("acknowledge", "--why", "w", code=2)
    run("acknowledge", "--why", "w", typed="n\n", code=1)
    told = run("acknowledge", "--who", "rosa", "--why", "the disk died", typed="y\n")
    assert "people, questions: epsilon = 0.5." in told
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
    assert told["head"]["sequence"] == books().head().sequence
    assert json.loads(run("acknowledge", "--why", "w", "--json"))["charged"] == []


def test_without_a_guard_nobody_knows_and_that_is_said(folder):
    for text in ("{", None):
        Path("discreet.db.head").unlink()
        if text is not None:
            Path("discreet.db.head").write_text(text)
        assert "nobody knows" in run("acknowledge", "--why", "w", "--yes")
        spend(books(), f"after {text}", "0.1")


def test_a_dataset_that_the_copy_never_had_is_named(folder):
    copy()
    ledger = books()
    ledger.create("births", Budget(epsilon=1), who="ann")
    spend(ledger, "b", "0.25", "births")
    ledger.close()
    shutil.copy("old.db", "discreet.db")
    assert "births, questions: 1/4." in run("acknowledge", "--why", "w", "--yes")


# move


def test_books_move_and_the_old_ones_are_closed(folder):
    told = run("move", "books.db", "--who", "rosa", "--why", "a better disk", "--yes")
    assert "books.db has 3 records" in told
    new = books("books.db")
    assert list(new.records())[-1].why == "a better disk"
    spend(new, "second", "0.1")
    with pytest.raises(LedgerError, match="--reopen"):
        spend(books(), "second", "0.1")
    assert "two budgets of one" in run("acknowledge", "--why", "w", "--yes", code=2)
    with pytest.raises(LedgerError):
        spend(books(), "second", "0.1")


def test_books_whose_move_failed_are_opened_again(folder, monkeypatch):
    ledger, other, forced = books(), books("books.db"), Anchor.force

    def cut(self, mark):
        forced(self, mark)
        raise KeyboardInterrupt

    monkeypatch.setattr(Anchor, "force", cut)
    with pytest.raises(KeyboardInterrupt):
        ledger.move(other, who="ann", why="")
    monkeypatch.setattr(Anchor, "force", forced)
    told = run("acknowledge", "--reopen", "--why", "the power failed", "--yes")
    assert "nothing is charged" in told
    spend(books(), "second", "0.1")


def test_a_move_as_json(folder):
    told = json.loads(run("move", "books.db", "--why", "w", "--yes", "--json"))
    assert told == {
        "from": "discreet.db",
        "to": "books.db",
        "head": {"sequence": 3, "hash": books("books.db").head().hash},
    }


@pytest.mark.parametrize(
    ("to", "says"),
    [("./discreet.db", "another place"), ("other.db", "an empty ledger"), ("mysql:///books", "postgresql://")],
)
def test_a_move_that_cannot_be_changes_nothing(folder, to, says):
    books("other.db").create("people", Budget(epsilon=1), who="ann")
    assert says in run("move", to, "--why", "w", "--yes", code=2)
    spend(books(), "second", "0.1")


def test_a_ledger_without_records_is_not_moved(folder):
    books("empty.db")
    assert "nothing to move" in run("move", "books.db", "--ledger", "empty.db", "--why", "w", "--yes", code=2)
    assert not Path("books.db").exists()


def test_an_address_is_shown_without_its_password():
    from discreet.apps.cli.custody import _place

    assert _place("postgresql://ann:secret@host:5432/books?password=secret") == "postgresql://host:5432/books"
    assert _place("postgresql:///books") == "postgresql:///books"
