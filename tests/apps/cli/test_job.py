"""`discreet synth` as a person uses it."""

import csv
import json
import shutil
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet
import pytest
from shell import run

from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))
ASKED = ["people.csv", "--columns", "age,sex,hours", "--impossible", "age < 14 and hours > 0"]


@pytest.fixture
def folder(tmp_path):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    return tmp_path


def test_plan_run_show(folder):
    text = run("synth", "plan", *ASKED, "--epsilon", "0.5", cwd=folder).stdout
    for word in ("3 columns", "Method: ", "one-way count", "two-way count", "Cost: epsilon = 0.5", "left out"):
        assert word in text
    asked = [*ASKED, "--epsilon", "0.5", "--key", "person=P{:04d}", "--rows", "700"]
    planned = json.loads(run("synth", "plan", *asked, "--json", cwd=folder).stdout)
    assert planned["exact_cost"] == "1/2"
    assert planned["columns"] == {"age": 101, "sex": 2, "hours": 81}
    assert planned["marginals"] == 3
    total, precise, vague, pair = planned["expected"]
    assert (total["output"], pair["output"][:15]) == ("the number of rows", "a two-way count")
    assert 0 < precise["half_width"] < vague["half_width"]
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []

    paid = [*asked, "--id", "twins", "--yes"]
    made = json.loads(run("synth", "run", *paid, "--out", "rows.csv", "--json", cwd=folder).stdout)
    assert (made["id"], made["rows"]) == ("twins", 700)
    rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
    assert len(rows) == 700
    assert list(rows[0]) == ["person", "age", "sex", "hours"]
    assert (rows[0]["person"], rows[-1]["person"]) == ("P0001", "P0700")
    assert not any(int(row["age"]) < 14 and int(row["hours"]) > 0 for row in rows)

    shown = run("synth", "show", "twins", "--out", "rows.parquet", cwd=folder).stdout
    assert "Wrote rows.parquet" in shown
    again = pyarrow.parquet.read_table(folder / "rows.parquet")
    assert [str(value) for value in again["age"].to_pylist()] == [row["age"] for row in rows]
    # Asked again, nothing is spent: the same rows come back.
    run("synth", "run", *paid, "--out", "again.csv", cwd=folder)
    assert (folder / "again.csv").read_text() == (folder / "rows.csv").read_text()
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 1
    over = run("synth", "run", *ASKED, "--epsilon", "0.6", "--yes", cwd=folder, code=3).stderr
    assert "Nothing was spent" in over


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "exactly one of epsilon"),
        (["--epsilon", "0.1", "--marginal", "age,nowhere"], "workload"),
        (["--epsilon", "0.1", "--bins", "age=x"], "--bins"),
        (["--epsilon", "0.1", "--key", "person"], "--key"),
        (["--epsilon", "0.1", "--impossible", "age >= 0"], "impossible"),
        (["--epsilon", "1e-9"], "which says nothing"),
    ],
)
def test_wrong_words_are_refused_before_spending(folder, words, told):
    assert told in run("synth", "plan", "people.csv", *words, cwd=folder, code=2).stderr


def test_spending_takes_a_yes_and_a_place(folder):
    asked = ["synth", "run", *ASKED, "--epsilon", "0.1"]
    assert "Nothing was spent" in run(*asked, cwd=folder, code=2).stderr
    assert ".parquet" in run(*asked, "--yes", "--out", "rows.xls", cwd=folder, code=2).stderr
    assert "folder" in run(*asked, "--yes", "--out", "nowhere/rows.csv", cwd=folder, code=2).stderr
    assert "stored release" in run("synth", "show", "nothing", cwd=folder, code=2).stderr
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []


def test_options_of_a_method_are_typed_and_stand_on_the_plan(folder):
    asked = ["synth", "plan", *ASKED, "--method", "aim", "--epsilon", "0.5"]
    planned = json.loads(run(*asked, "--option", "rounds=30,cells=5000", "--json", cwd=folder).stdout)
    assert planned["options"] == {"cells": 5000, "rounds": 30}
    assert planned["query"]["synth"]["options"] == planned["options"]
    assert "aim with cells=5000" in run(*asked, "--option", "cells=5000", cwd=folder).stdout
    wrong = run(*asked, "--option", "round=30", cwd=folder, code=2).stderr
    assert "Did you mean `rounds`?" in wrong.replace("\n", " ")
    assert "--option" in run(*asked, "--option", "30", cwd=folder, code=2).stderr
