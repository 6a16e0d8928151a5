"""Reports: the public one costs nothing and runs nothing; the owner's must be asked for by name."""

from __future__ import annotations

import ast
import json
import re
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
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


def spiked(rows: int, smeared: bool) -> pyarrow.Table:
    """Pay is 0 in 95% of the rows or, if `smeared`, anything in the bin that 0 is in."""
    rng = np.random.default_rng(7)
    smear = rng.uniform(0, 1500, rows).round(2) if smeared else np.zeros(rows)
    pay = np.where(rng.random(rows) < 0.95, smear, rng.uniform(20_000, 90_000, rows).round(2))
    return table(rows).set_column(3, "pay", pyarrow.array(pay))


def test_the_owners_report_names_a_smeared_spike_first(tmp_path):
    # Rows of a table without the spike: they are smeared whatever the method is, and their bins are those of the other.
    made = discreet.open(
        spiked(4000, True), SCHEMA, ledger=tmp_path / "b.db", budget=Budget(30), who="ann", create=True
    )
    rows = made.synthesize(method="independent", bins={"pay": 64}).plan(epsilon=20).release()
    report = rows.compare(spiked(4000, False), not_private=True, copies=0)
    first = report.to_dict()["real"]["findings"][0]
    assert first["columns"] == ("pay",)
    assert first["gap"] > 0.9
    assert re.fullmatch(r"pay: exactly 0 in 9\d\.\d% of real rows, \d\.\d% of synthetic rows\.", first["text"])
    assert repr(report).splitlines()[1] == f"  Differs: {first['text']}"
    assert report.to_html().index("<strong>pay</strong>: exactly 0") < report.to_html().index("<svg")
    # Counts of bins do not see it.
    assert max(one.tv for one in report.figures.real.distances[1]) < 0.05
    # Against the table they were made from, the column is not the first to be named.
    honest = rows.compare(spiked(4000, True), not_private=True, copies=0).to_dict()["real"]["findings"]
    assert not [one for one in honest if one["columns"] == ("pay",) and one["sort"] == "value"]


def test_figures_of_values_are_the_owners_alone(public, owners):
    assert {"findings", "columns", "pairs", "closest"} <= set(owners.to_dict()["real"])
    for word in ("What differs most", "by their values", "closest record", "Kolmogorov"):
        assert word in owners.to_html()
        assert word not in public.to_html()
    assert "given another" not in public.to_html()  # in the owner's where pairs differ
