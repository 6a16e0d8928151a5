"""A position that was verified: used on the ledger it is of, and never in place of what can be checked."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from discreet.core.loss import Pure
from discreet.ledger import verification
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.position import Position
from discreet.ledger.pure_sum import PureSum
from servers import fresh_schema


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request, tmp_path):
    opened = Ledger.open(tmp_path / "books.db" if request.param == "sqlite" else fresh_schema(), create=True)
    opened.create("visits", Budget(epsilon=50), who="ann")
    for number in range(4):
        spend(opened, f"r{number}")
    opened.measurement("r1", "1", who="ann")
    opened.answer("r2", "1", who="ann")
    return opened


@pytest.fixture
def books(tmp_path):
    opened = Ledger.open(tmp_path / "books.db", create=True)
    opened.create("visits", Budget(epsilon=50), who="ann")
    for number in range(4):
        spend(opened, f"r{number}")
    return opened


def kept(state):
    (path,) = (state / "guards").glob("*.verified")
    return path


def edit(ledger, statement):
    with closing(sqlite3.connect(ledger._store.path)) as books:
        for verb in ("update", "delete"):
            books.execute(f"DROP TRIGGER IF EXISTS discreet_no_{verb}")
        books.execute(statement)
        books.commit()


def test_it_goes_on_where_it_was(ledger):
    assert ledger.verify(incremental=True).after == 0
    end = ledger.head().sequence
    spend(ledger, "new")
    ledger.measurement("new", "1", who="ann")
    ledger.answer("new", None, who="ann")
    ledger.answer("r1", None, who="ann")  # charged and measured before
    found = ledger.verify(incremental=True)
    assert (found.ok, found.after) == (True, end)
    whole = ledger.verify()
    assert (whole.ok, whole.after) == (True, 0)
    assert (whole.records, whole.charges, whole.head) == (found.records, found.charges, found.head)
    assert ledger.verify(incremental=True).after == whole.head.sequence


def test_records_before_it_are_not_read(books, monkeypatch):
    books.verify()
    spend(books, "new")
    read = []
    row = verification._Check.row

    def seen(self, each):
        read.append(each.sequence)
        row(self, each)

    monkeypatch.setattr(verification._Check, "row", seen)
    assert books.verify(incremental=True).ok
    assert read == [7]


FORGED = {
    "a charge beyond the cap": ("UPDATE discreet_record SET kind = 'note' WHERE release = 'r4'", "columns"),
    "a total": ("UPDATE discreet_total SET amount = '1'", "not the sum"),
    "the head": ("UPDATE discreet_head SET sequence = 6", "the records end"),
    "a link": ("UPDATE discreet_record SET hash = 'x' WHERE release = 'r4'", "does not have its hash"),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_is_wrong_after_it_is_named(books, case):
    books.verify()
    for number in (4, 5):
        spend(books, f"r{number}")
    statement, words = FORGED[case]
    edit(books, statement)
    found = books.verify(incremental=True)
    assert any(words in problem for problem in found.problems), found.problems


def test_a_second_charge_for_an_earlier_release_is_named(books, monkeypatch):
    books.verify()
    edit(books, "DROP INDEX discreet_one_charge")
    monkeypatch.setattr("discreet.ledger.ledger.outcome_in", lambda *_: None)
    spend(books, "r1")
    monkeypatch.undo()
    assert "charges 'r1' a second time" in books.verify(incremental=True).problems[0]


def changed(state, **values):
    path = kept(state)
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "values",
    [
        {"spent": [["visits", "questions", "1", "0"]]},
        {"epsilons": []},
        {"head": [3, "0" * 64]},
        {"head": [99, "0" * 64]},
        {"format": 9},
        {"open": 7},
    ],
)
def test_a_position_that_this_ledger_does_not_bear_out_is_not_used(books, state, values):
    books.verify()
    changed(state, **values)
    found = books.verify(incremental=True)
    assert (found.ok, found.after) == (True, 0)


def test_without_the_comparison_a_forged_sum_would_be_believed(books, state, monkeypatch):
    """The planted bug: a position believed on its word hides that more was spent than the totals say."""
    books.verify()
    changed(state, spent=[["visits", "questions", "1", "0"]])
    edit(books, "UPDATE discreet_total SET amount = '1'")
    assert not books.verify(incremental=True).ok
    begin = verification._Check.begin

    def credulous(self, position):
        begin(self, position)
        self.head, self.count, self.spent = position.head, position.head.sequence, dict(position.spent)
        self.epsilons = {key: PureSum(total) for key, total in position.epsilons.items()}
        return True

    monkeypatch.setattr(verification._Check, "begin", credulous)
    assert books.verify(incremental=True).ok


def test_nothing_is_remembered_of_a_ledger_that_does_not_verify(books, state):
    edit(books, "UPDATE discreet_total SET amount = '1'")
    assert not books.verify().ok
    assert not list((state / "guards").glob("*.verified"))


def test_a_restored_copy_is_verified_from_its_first_record(books, tmp_path):
    books.close()
    shutil.copy(tmp_path / "books.db", tmp_path / "old.db")
    spend(books, "r4")
    books.verify()
    books.close()
    shutil.copy(tmp_path / "old.db", tmp_path / "books.db")
    again = Ledger.open(tmp_path / "books.db")
    again.acknowledge(who="ann", why="restored")
    spend(again, "other")
    found = again.verify(incremental=True)
    assert (found.ok, found.after) == (True, 0)


def test_an_edit_before_it_is_found_by_a_whole_verification_and_by_use(books):
    """What the incremental one does not claim."""
    books.answer("r1", "1", who="ann")
    books.verify()
    edit(books, "UPDATE discreet_record SET body = replace(body, 'ann', 'bob') WHERE release = 'r2'")
    assert books.verify(incremental=True).ok
    assert not books.verify().ok


def test_what_cannot_be_read_is_no_position(tmp_path):
    assert Position.read(None, "x") is None
