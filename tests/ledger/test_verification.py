"""Verification: every way to falsify the books that leaves a trace is found."""

import json
import sqlite3

import pytest

from discreet.core.loss import Pure
from discreet.errors import InputError, LedgerError
from discreet.ledger.budget import Budget
from discreet.ledger.custody import append
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import Record


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.open(tmp_path / "discreet.db", create=True)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    for index in range(5):
        ledger.spend("visits", Pure("1/3"), release=f"r{index}", who="ann", digest="d")
    ledger.answer("r0", "{}", who="ann")
    return ledger


def forge(tmp_path, *statements):
    """What someone with the file and no scruples can do."""
    connection = sqlite3.connect(tmp_path / "discreet.db")
    connection.execute("DROP TRIGGER discreet_no_update")
    connection.execute("DROP TRIGGER discreet_no_delete")
    for statement, values in statements:
        connection.execute(statement, values)
    connection.commit()
    connection.close()


def problems(ledger):
    found = ledger.verify()
    assert found.ok == (not found.problems)
    return " | ".join(found.problems)


def body(ledger, sequence):
    return next(record for record in ledger.records() if record.sequence == sequence).body()


def test_honest_books_have_no_problems(ledger):
    found = ledger.verify()
    assert found.ok
    assert (found.records, found.charges, found.anchored) == (8, 5, True)
    assert found.head == ledger.head()


def test_a_flipped_byte_is_found(ledger, tmp_path):
    text = body(ledger, 3).replace('"amount":"1/3"', '"amount":"1/4"')
    forge(tmp_path, ("UPDATE discreet_record SET body = ? WHERE sequence = 3", (text,)))
    assert "record 3 was changed" in problems(ledger)


def test_a_flipped_byte_with_a_new_hash_is_found(ledger, tmp_path):
    text = body(ledger, 3).replace('"amount":"1/3"', '"amount":"1/4"')
    forge(tmp_path, ("UPDATE discreet_record SET body = ?, hash = ? WHERE sequence = 3", (text, Record.hash_of(text))))
    assert "record 4 is not chained" in problems(ledger)


def test_a_changed_column_is_found(ledger, tmp_path):
    forge(tmp_path, ("UPDATE discreet_record SET release = 'other' WHERE sequence = 3", ()))
    assert "columns do not agree" in problems(ledger)


def test_a_deleted_record_is_found(ledger, tmp_path):
    forge(tmp_path, ("DELETE FROM discreet_record WHERE sequence = 4", ()))
    assert "missing or out of order" in problems(ledger)


def test_reordered_records_are_found(ledger, tmp_path):
    swap = "UPDATE discreet_record SET sequence = ? WHERE sequence = ?"
    forge(tmp_path, (swap, (99, 3)), (swap, (3, 4)), (swap, (4, 99)))
    assert "record 3" in problems(ledger)


def test_an_edited_total_is_found(ledger, tmp_path):
    forge(tmp_path, ("UPDATE discreet_total SET amount = '0'", ()))
    assert "is not the sum of its charges" in problems(ledger)


def test_a_truncated_chain_is_found_by_the_head_and_then_by_the_anchor(ledger, tmp_path):
    forge(tmp_path, ("DELETE FROM discreet_record WHERE sequence = 8", ()))
    assert "not where the head says" in problems(ledger)
    last = next(record for record in ledger.records() if record.sequence == 7)
    connection = sqlite3.connect(tmp_path / "discreet.db")
    connection.execute("UPDATE discreet_head SET sequence = 7, hash = ?", (last.hash,))
    connection.commit()
    connection.close()
    assert problems(ledger).startswith("not the ledger last seen here: it ends at record 7, but record 8 was already")


def rewrite(ledger, tmp_path, change):
    """Forge a whole chain that is consistent in itself, hashes, totals and head included."""
    records = [json.loads(record.body()) for record in ledger.records()]
    change(records)
    statements = [("DELETE FROM discreet_record", ())]
    previous = "0" * 64
    for values in records:
        values["previous"] = previous
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        previous = Record.hash_of(text)
        row = (values["sequence"], values["dataset"], values["kind"], values["release"], text, previous)
        statements.append(("INSERT INTO discreet_record VALUES (?, ?, ?, ?, ?, ?)", row))
    statements.append(("UPDATE discreet_head SET hash = ?", (previous,)))
    forge(tmp_path, *statements)


def test_a_charge_beyond_the_cap_is_found(ledger, tmp_path):
    def change(records):
        records[3]["amount"] = "100"

    rewrite(ledger, tmp_path, change)
    assert "record 4 exceeds allotment 'questions'" in problems(ledger)
    assert "not the sum" in problems(ledger)


def test_a_negative_charge_is_found(ledger, tmp_path):
    def change(records):
        records[3]["amount"] = "-1"

    rewrite(ledger, tmp_path, change)
    assert "negative" in problems(ledger)


def test_an_answer_without_a_charge_is_found(ledger, tmp_path):
    def change(records):
        records[7]["release"] = "never paid"

    rewrite(ledger, tmp_path, change)
    assert "never charged" in problems(ledger)


def test_a_charge_without_a_budget_is_found(ledger, tmp_path):
    def change(records):
        records[1]["dataset"] = "other"

    rewrite(ledger, tmp_path, change)
    assert "had no budget" in problems(ledger)


def test_a_consistent_forgery_is_found_by_the_anchor(ledger, tmp_path):
    def change(records):
        records[2]["who"] = "eve"

    rewrite(ledger, tmp_path, change)
    assert problems(ledger).startswith("not the ledger last seen here")


def test_unreadable_records_do_not_stop_the_check(ledger, tmp_path):
    forge(tmp_path, ("UPDATE discreet_record SET body = '{' WHERE sequence = 2", ()))
    assert "record 2 cannot be read" in problems(ledger)


def written(ledger, **values):
    """What a wrong version of discreet would put on the books."""
    with ledger._write() as writer:
        append(writer, dataset="visits", who="mallory", **values)


def test_a_second_measurement_and_one_that_comes_too_late_are_found(ledger, tmp_path):
    ledger.measurement("r1", "1", who="ann", kind="job", version=1)
    assert ledger.measurement("r1", "2", who="ann").measurement == "1"
    assert ledger.measurement("r0", "2", who="ann").measurement is None  # it has an answer
    assert ledger.verify().ok
    forge(tmp_path, ("DROP INDEX discreet_one_draw", ()))
    written(ledger, kind="measurement", release="r1", result="2")
    written(ledger, kind="measurement", release="r0", result="3")
    written(ledger, kind="measurement", release="nobody", result="4")
    found = problems(ledger)
    assert "second measurement for 'r1'" in found
    assert "for 'r0', which had an outcome" in found
    assert "for 'nobody', which was never charged" in found


def test_a_second_measurement_is_refused_by_the_table_too(ledger):
    ledger.measurement("r1", "1", who="ann")
    with pytest.raises(LedgerError, match="refuses the change"):
        written(ledger, kind="measurement", release="r1", result="2")


def test_an_answer_by_a_measurement_that_is_not_there_is_found(ledger):
    ledger.measurement("r1", "1", who="ann")
    assert ledger.answer("r1", None, who="ann") == "1"
    assert ledger.verify().ok
    with pytest.raises(InputError, match="nothing was measured"):
        ledger.answer("r2", None, who="ann")
    written(ledger, kind="answer", release="r2")
    assert "answers 'r2' by its measurement, and there is none" in problems(ledger)
