"""A ledger that was exported is added up as the ledger itself, and only where all of its records hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import run

from discreet.core.loss import Pure
from discreet.errors import InputError, LedgerError
from discreet.ledger.budget import Budget
from discreet.ledger.export import export
from discreet.ledger.export_file import is_export, read_export
from discreet.ledger.person_total import person_total
from ledger_copies import open_ledger, spend
from old import old_ledger


@pytest.fixture(name="ledger")
def ledger_fixture(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    ledger.create("wards", Budget(epsilon=3, delta="1e-6"), who="ann")
    spend(ledger, "r1")
    ledger.spend("wards", Pure("1/3"), release="r2", who="ann", digest="d")
    ledger.raise_budget("visits", Budget(epsilon=11), who="ann", why="more")
    return ledger


def written(path: Path, ledger, change=lambda records: records, **how) -> Path:
    found = json.loads(export(ledger, **how))
    path.write_text(json.dumps({**found, "records": change(found["records"])}))
    return path


def test_an_export_says_what_its_ledger_says(tmp_path, ledger):
    found = read_export(written(tmp_path / "l.json", ledger))
    assert list(found.records()) == list(ledger.records())
    assert found.datasets() == ledger.datasets()
    for name in ledger.datasets():
        assert found.account(name) == ledger.account(name)
        assert found.standing(name) == ledger.standing(name)
        assert list(found.records(name)) == list(ledger.records(name))
    assert person_total([found], delta="1e-6") == person_total([ledger], delta="1e-6")


def test_an_export_of_a_ledger_of_0_1_is_read(tmp_path):
    ledger = old_ledger(tmp_path)
    found = read_export(written(tmp_path / "l.json", ledger))
    assert list(found.records()) == list(ledger.records())


def test_exports_and_ledgers_are_added_up_together_on_the_command_line(tmp_path, ledger):
    (tmp_path / "other").mkdir()
    other = open_ledger(tmp_path / "other")
    other.create("survey", Budget(epsilon=2), who="bob")
    path = written(tmp_path / "l.json", ledger)
    assert is_export(path)
    assert not is_export(tmp_path / "other" / "discreet.db")
    assert not is_export("postgresql://nowhere/x")
    shown = run("ledger", "total", path, tmp_path / "other" / "discreet.db", "--delta", "1e-6", "--json").stdout
    assert json.loads(shown) == person_total([ledger, other], delta="1e-6").to_dict()
    twice = run("ledger", "total", path, tmp_path / "discreet.db", "--delta", "1e-6", code=2)
    assert "one of them twice" in twice.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda records: [{**one, "amount": "0"} if one["kind"] == "charge" else one for one in records],
        lambda records: [one for one in records if one["kind"] != "charge"],
        lambda records: [{**one, "hash": "0" * 64} for one in records],
        lambda records: [records[0], *reversed(records[1:])],
        lambda records: [records[0], {"sequence": 2}],
        lambda records: [records[0], 3],
    ],
)
def test_what_was_changed_or_taken_out_is_refused(tmp_path, ledger, change):
    with pytest.raises(LedgerError):
        read_export(written(tmp_path / "l.json", ledger, change))


def test_what_is_no_whole_export_is_refused(tmp_path, ledger):
    with pytest.raises(InputError, match="exported whole"):
        read_export(written(tmp_path / "l.json", ledger, dataset="wards"))
    for text in ("{", "[]", '{"format": 2, "records": []}', '{"records": 3}'):
        (tmp_path / "l.json").write_text(text)
        with pytest.raises(InputError, match="exported as JSON"):
            read_export(tmp_path / "l.json")
    with pytest.raises(InputError, match="exported as JSON"):
        read_export(tmp_path / "none.json")
    assert run("ledger", "total", tmp_path / "l.json", code=2).stderr
