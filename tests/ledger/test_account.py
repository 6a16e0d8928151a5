"""What a loss is stated for and what an account protects are compared in the transaction that spends."""

import json
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from discreet import Budget, Ledger, Pure, Unit, count
from discreet.core.loss import ZCDP, GaussianNoise
from discreet.core.unit import Metric
from discreet.curator import Curator
from discreet.errors import BudgetError, InputError
from discreet.ledger.account import Account
from discreet.ledger.door import release
from discreet.ledger.record import Record
from jobs import Data, Job
from old import HEAD, old_ledger

UNITS = [
    Unit(),
    Unit(neighbours="replace"),
    Unit("patient"),
    Unit("patient", neighbours="replace"),
    Unit("visit"),
    Metric("one load", Fraction(1), "MW"),
    Metric("one load", Fraction(1, 3), "MW"),
    Metric("one load", Fraction("0.333333333333"), "MW"),
]


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """A machine of its own for each test: copies of one ledger are one ledger to its guard."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "books.db", create=True)


@pytest.mark.parametrize("kept", UNITS, ids=str)
@pytest.mark.parametrize("stated", UNITS, ids=str)
def test_a_charge_needs_the_unit_of_its_account(kept, stated, ledger):
    ledger.create("visits", Budget(epsilon=1), unit=kept, who="ann")
    data = Data()
    if stated == kept:
        release(Job(unit=stated), data, ledger, who="ann")
        assert ledger.verify().ok
        return
    with pytest.raises(InputError, match="Nothing was spent and no data was read"):
        release(Job(unit=stated), data, ledger, who="ann")
    with pytest.raises(InputError, match="protects"):
        ledger.spend("visits", Pure(1), release="r", who="ann", digest="d", unit=stated)
    assert data.opened == 0
    assert ledger.remaining("visits").amount == 1
    assert not ledger.releases()


def test_limits_are_part_of_the_price_and_not_of_the_unit(ledger):
    ledger.create("visits", Budget(epsilon=1), unit=Unit("patient", groups=3, rows=10), who="ann")
    release(Job(unit=Unit("patient")), Data(), ledger, who="ann")
    assert ledger.create("visits", Budget(epsilon=1), unit=Unit("patient"), who="ann").unit == str(Unit("patient"))


def test_a_plan_that_names_no_unit_is_refused(ledger):
    ledger.create("visits", Budget(epsilon=1), who="ann")
    data = Data()
    with pytest.raises(InputError, match="unit"):
        release(Job(unit=None), data, ledger, who="ann")
    with pytest.raises(InputError, match="unit"):
        ledger.spend("visits", Pure(1), release="r", who="ann", digest="d", unit="one row")
    with pytest.raises(InputError, match="unit"):
        ledger.create("others", Budget(epsilon=1), unit="one patient", who="ann")
    assert data.opened == 0
    assert not ledger.releases()


def table(rows):
    return pa.table({"patient": ["ann"] * rows, "age": [40] * rows})


SCHEMA = {"dataset": {"name": "visits"}, "columns": {"age": {"type": "integer", "lower": 0, "upper": 120}}}
LIMITS = {"groups": 1, "rows": 1}


@pytest.mark.parametrize(
    "unit", [{}, {"neighbours": "replace"}, {"column": "patient", "neighbours": "replace", **LIMITS}]
)
def test_a_schema_without_a_budget_cannot_spend_what_protects_another_unit(unit, ledger):
    """One person with 1,000 visits: by rows, their number would be told to within 20 from a budget for people."""
    people = SCHEMA | {"unit": {"column": "patient", **LIMITS}}
    Curator.open(table(1000), people | {"budget": {"epsilon": 1}}, ledger=ledger, who="ann", create=True)
    with pytest.raises(InputError, match="everything of one patient, added or removed"):
        Curator.open(table(1000), SCHEMA | {"unit": unit}, ledger=ledger, who="eve", create=True)
    curator = Curator.open(table(1000), people, ledger=ledger, who="eve", create=True)
    offer = curator.table().agg(n=count()).plan(epsilon=1)
    other = Unit(**unit)
    curator.desk = replace(curator.local, schema=replace(curator.schema, unit=other))  # round the check at opening
    with pytest.raises(InputError, match="protects"):
        curator.table().agg(n=count()).plan(epsilon=1).release()
    assert ledger.remaining("visits").amount == 1
    offer.release()


def test_the_check_is_what_refuses(ledger, monkeypatch):
    """The bug of 0.1, planted: without the comparison the row-level schema spends the budget for people."""
    people = SCHEMA | {"unit": {"column": "patient", **LIMITS}, "budget": {"epsilon": 1}}
    Curator.open(table(1000), people, ledger=ledger, who="ann", create=True)
    with monkeypatch.context() as bug:
        bug.setattr(Account, "check_unit", lambda account, unit: None)
        Curator.open(table(1000), SCHEMA, ledger=ledger, who="eve", create=True).table().agg(n=count()).plan(
            epsilon=1
        ).release()
    found = ledger.verify()
    assert not found.ok
    assert "protects another unit" in found.problems[0]


def test_every_kind_of_plan_says_what_it_protects_and_what_it_is():
    """Every class of the house with a cost and a digest is a plan."""
    import ast
    from pathlib import Path

    import discreet

    plans = {}
    for path in Path(discreet.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                names |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                if bases & {"TablePlan", "QuestionPlan"}:
                    names |= {"dataset", "unit"}  # which it has from there
                if "QuestionPlan" in bases:
                    names |= {"digest"}
                if "RunPlan" in bases:
                    names |= {"cost", "kind", "publish"}
                if {"cost", "digest", "dataset", "measure"} <= names:
                    plans[node.name] = {"unit", "kind", "version", "publish"} <= names
    assert len(plans) >= 16
    assert all(plans.values()), plans


def test_books_of_0_1_are_read_verified_and_spent_from(tmp_path):
    ledger = old_ledger(tmp_path)
    assert ledger.head().hash == HEAD
    assert all(Record.from_body(record.body()).hash == record.hash for record in ledger.records())
    found = ledger.verify()
    assert found.ok
    assert found.without_unit == found.charges == 6
    assert ledger.account("rows").unit == "one row, added or removed"
    ledger.spend("rows", GaussianNoise(10, 1), release="r3", who="ann", digest="d")
    with pytest.raises(InputError):
        ledger.spend("rows", GaussianNoise(10, 1), release="r4", who="ann", digest="d", unit=Unit("patient"))
    ledger.spend("visits", Pure(1), release="q2", who="ann", digest="d", unit=Unit("patient"))
    found = ledger.verify()
    assert found.ok
    assert found.without_unit == 6


def test_a_unit_in_words_of_ones_own_is_stated_by_the_custodian(tmp_path):
    ledger = old_ledger(tmp_path)
    patient = Unit("patient")
    with pytest.raises(InputError, match="raise_budget"):
        ledger.spend("wards", Pure("1/4"), release="w2", who="ann", digest="d", unit=patient)
    ledger.raise_budget("wards", Budget(epsilon=1), unit=patient, who="rosa", why="the wards count patients")
    ledger.spend("wards", Pure("1/4"), release="w2", who="ann", digest="d", unit=patient)
    with pytest.raises(InputError, match="protects"):
        ledger.raise_budget("wards", Budget(epsilon=1), unit=Unit(), who="rosa", why="rows after all")
    assert ledger.verify().ok


def test_verify_sees_a_charge_for_another_unit(ledger):
    ledger.create("visits", Budget(epsilon=1), unit=Unit("patient"), who="ann")
    ledger.spend("visits", Pure(1), release="r", who="ann", digest="d", unit=Unit("patient"))
    (path,) = [ledger._store.path]
    import sqlite3

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER discreet_no_update")
        (body,) = connection.execute("SELECT body FROM discreet_record WHERE sequence = 3").fetchone()
        body = json.dumps(json.loads(body) | {"unit": str(Unit())}, sort_keys=True, separators=(",", ":"))
        hash = Record.hash_of(body)
        connection.execute("UPDATE discreet_record SET body = ?, hash = ? WHERE sequence = 3", (body, hash))
        connection.execute("UPDATE discreet_head SET hash = ?", (hash,))
        connection.commit()
    assert any("another unit" in problem for problem in ledger.verify().problems)


def test_two_spellings_declared_before_either_is_opened_are_not_two_budgets(tmp_path):
    """Compared in the transaction that opens the budget, not only when it is declared; other names may come."""
    first, second = (Ledger.open(tmp_path / "books.db", create=True) for _ in range(2))
    first.declare("people", Budget(epsilon=1), who="ann")
    second.declare("People", Budget(epsilon=1), who="ann")
    first.spend("people", Pure(1), release="r1", who="ann", digest="d")
    with pytest.raises(InputError, match="Did you mean `people`"):
        second.spend("People", Pure(1), release="r2", who="ann", digest="d")
    assert first.datasets() == ("people",)
    first.create("visits", Budget(epsilon=1), who="ann")
    second.declare("People", Budget(epsilon=1), who="ann", new=True)
    second.spend("People", Pure(1), release="r2", who="ann", digest="d")


def test_a_refusal_in_rho_says_what_it_is_the_cost_of(ledger):
    ledger.create("visits", Budget(rho=1), who="test")
    with pytest.raises(BudgetError, match=r"it costs rho = 900 in zCDP; the allotment 'questions' has rho = 1 left"):
        release(Job(ZCDP(900)), Data(), ledger, who="ann")
