"""Reports: the public one costs nothing and runs nothing; the owner's must be asked for by name."""

from __future__ import annotations

import ast
import json
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_desk import ASKS, JOB, SCHEMA, table

import discreet
import discreet.synth.report as room
from discreet import Budget
from discreet.errors import InputError


def test_the_public_report_costs_nothing_and_is_always_the_same(curator, release, public):
    before = [curator.standing()[0].left, len(list(curator.ledger.records()))]
    again = curator.release("twins").report(ASKS, copies=3)
    assert again.to_html() == public.to_html()
    assert again.to_dict() == public.to_dict()
    assert [curator.standing()[0].left, len(list(curator.ledger.records()))] == before
    json.dumps(public.to_dict(), allow_nan=False)
    assert not public.owner_only
    assert public.figures.real is None
    assert all(one.real is None for one in public.figures.asks)
    assert "real" not in public.to_dict()
    assert "eyes" not in public.to_html()


def test_the_public_report_follows_from_what_was_released(tmp_path, release, public):
    # Another private table under the same answer makes no difference: it is never there to be looked at.
    other = discreet.open(table(10, seed=9), SCHEMA, ledger=tmp_path / "b.db", budget=Budget(9), who="bob", create=True)
    assert other.standing()[0].spent.amount == 0
    moved = replace(release, id="other")
    assert moved.report(ASKS, copies=3).to_dict()["asks"] == public.to_dict()["asks"]


def test_the_owners_report_must_be_asked_for_by_name(release):
    for said in (False, None, 1, "yes"):
        with pytest.raises(InputError, match="owner") as problem:
            release.compare(table(), not_private=said)
        assert problem.value.field == "not_private"
    with pytest.raises(InputError, match="owner"):
        release.compare(table())


def test_the_owners_report_says_what_it_is(curator, release, owners, tmp_path):
    before = [curator.standing()[0].left, len(list(curator.ledger.records()))]
    text = owners.to_html()
    assert owners.owner_only
    for word in (
        "For the data owner",
        "Not a release",
        "without noise",
        "Owner only",
        "noindex",
        "(not from this page)",
    ):
        assert word in text, word
    assert "may be published" not in text
    assert "NOT private" in repr(owners)
    place = owners.save(tmp_path / "owner.html")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [curator.standing()[0].left, len(list(curator.ledger.records()))] == before
    real = table().to_pylist()
    asked = owners.figures.asks[0]
    assert asked.real == pytest.approx(np.mean([row["age"] >= 25 and row["sex"] == "f" for row in real]))
    pays = [row["pay"] for row in real if row["age"] >= 25 and row["sex"] == "f" and row[JOB] == "VP"]
    assert owners.figures.asks[2].real == pytest.approx(np.mean(pays))
    figures = owners.to_dict()["real"]
    assert figures["rows"] == 3000
    assert set(figures["marginals"]) == {"1", "2", "3"}
    assert figures["marginals"]["1"]["mean_tv"] < 0.15
    assert figures["prediction"]["text"] == "works = True"
    assert figures["prediction"]["synthetic"]["auc"] > 0.9
    assert figures["prediction"]["real"]["auc"] > 0.95
    json.dumps(owners.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"copies": -1}, "copies"),
        ({"copies": 1000}, "copies"),
        ({"copies": True}, "copies"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": 0}, "confidence"),
        ({"asks": ["age >"]}, "asks"),
        ({"asks": ["nowhere = 3"]}, "asks"),
        ({"asks": 5}, "asks"),
        ({"asks": ["age > 1"] * 101}, "asks"),
    ],
)
def test_wrong_reports_are_refused(release, asked, field):
    with pytest.raises(InputError) as problem:
        release.report(**asked)
    assert problem.value.field == field


def test_wrong_comparisons_are_refused(release):
    for real, more, field in (
        ("people.csv", {}, "real"),
        (table().drop_columns(["age"]), {}, "real"),
        (table(), {"target": "nowhere"}, "target"),
        (table(), {"asks": ["age >"]}, "asks"),
    ):
        with pytest.raises(InputError) as problem:
            release.compare(real, not_private=True, copies=0, **more)
        assert problem.value.field == field


def test_reports_cannot_reach_private_data():
    forbidden = ("discreet.data.source", "discreet.data.frame", "discreet.ledger", "discreet.marginals.engine")
    for path in Path(room.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith(forbidden)], path.name
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open"), path.name
