"""A question on made-up neighbours: honest ones stand, planted faults are found and shown."""

from __future__ import annotations

import pytest

import discreet.query.plan
from audit_cases import check
from discreet.apps.audits.sensitivity import Sensitivity as Outcome
from discreet.apps.audits.sensitivity import Witness, audit_question, page, summary
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.curator.question import Question
from discreet.data.column import Boolean, Category, Date, Integer, Real, Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.key import discover

COLUMNS = {
    "age": Integer(0, 120),
    "sex": Category(["f", "m"]),
    "cost": Real(0, 1000),
    "day": Date("2020-01-01", "2020-12-31"),
    "at": Timestamp("2020-01-01", "2020-12-31", "Europe/Vienna"),
    "ok": Boolean(),
}
PEOPLE = Schema("visits", COLUMNS, Unit("patient", groups=2, rows=3))
ROWS = Schema("visits", COLUMNS, Unit(neighbours=Neighbours.REPLACE))
TOTAL = "SELECT sum(cost) AS c FROM visits"


def priced(text):
    return lambda curator: curator.sql(text).plan(epsilon=1)


@pytest.mark.parametrize("schema", [PEOPLE, ROWS], ids=["people", "rows"])
def test_an_honest_question_stands_and_says_how_much_was_used(schema):
    found = audit_question(schema, priced("SELECT sex, sum(cost) AS c FROM visits GROUP BY sex"), pairs=12)
    assert not found.violated
    assert found.pairs == 12
    assert 0.3 < found.used <= 1
    assert "No private row was read" in found.sentence()
    assert found.to_dict()["witness"] is None


def test_half_the_sensitivity_is_found_and_shown(monkeypatch):
    true = discreet.query.plan.sensitivity

    def half(measure, unit, groups):
        moved = true(measure, unit, groups)
        return Sensitivity(max(1, moved.each // 2), moved.outputs)

    monkeypatch.setattr(discreet.query.plan, "sensitivity", half)
    found = audit_question(PEOPLE, priced(TOTAL), pairs=60, words=TOTAL)
    assert found.violated
    assert found.used > 1
    assert TOTAL in found.sentence()
    assert "Before noise, the numbers on either side were" in found.sentence()
    assert found.to_dict()["witness"]["moves"]


def test_discovered_groups_are_refused():
    def ask(curator):
        question: Question = curator.table().group_by(discover("patient"))
        return question.keys().plan(epsilon=1)

    with pytest.raises(InputError):
        audit_question(PEOPLE, ask, pairs=2)
    with pytest.raises(InputError, match="pairs"):
        audit_question(PEOPLE, priced(TOTAL), pairs=0)


def test_many_questions_are_a_table_a_sentence_and_a_page():
    whole, less = Outcome(60, 1.0), Outcome(60, 0.9)
    fault = Outcome(3, 1.0, Witness("Q", "told apart by 2 times what is charged", ({"age": 1},), "with 1 row more"))
    assert whole.row("a")[2:] == ["100%", "anything", "no violation"]
    assert less.row("b")[3].startswith("more than 10%")
    assert fault.row("c")[3:] == ["-", "VIOLATED"]
    fine = {"a": whole, "SELECT <b>": less}
    assert "2 questions on 120 pairs" in summary(fine)
    assert "No private row was read" in summary(fine)
    assert "told apart by 2 times" in summary({**fine, "c": fault})
    check(page(fine, "Sensitivity"))
    assert "SELECT &lt;b&gt;" in page(fine, "Sensitivity")
    shown = page({**fine, "c": fault}, "Sensitivity")
    check(shown)
    assert 'class="alert"' in shown
    assert less.to_dict()["would_catch_too_small_by"] == pytest.approx(0.1)
    assert fault.to_dict()["would_catch_too_small_by"] is None
