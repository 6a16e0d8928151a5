"""`discreet tree explain`: the cost table of a region, of published noisy counts."""

import json
import shutil

import pytest
from shell import SHIPPED, run

TREE = ("tree", "release", "people.csv", "--levels", "county", "--epsilon", "0.1", "--yes")


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    run("ledger", "create")
    run(*TREE, "--id", "plain")
    run(*TREE, "--by", "sex", "--id", "cells")


def told(*words):
    return json.loads(run("tree", "explain", *words, "--json").stdout)


def test_a_table_of_a_region_adds_up_and_costs_nothing(ledger):
    before = run("ledger", "show", "--json").stdout
    table = told("plain", "all")
    rows = table["table"]
    assert rows["cost"] == [own + below for own, below in zip(rows["own"], rows["below"], strict=True)]
    assert rows["own"] == [table["weight"] * (count - table["noisy"]) ** 2 for count in rows["count"]]
    assert (table["cost"], table["best"]) == min(zip(rows["cost"], rows["count"], strict=True))
    assert rows["cost"][rows["count"].index(table["chosen"])] == table["cost"]  # of the widest region
    shown = run("tree", "explain", "plain", "all").stdout
    assert f"Least cost {table['cost']:,} at {table['best']:,}" in shown
    assert run("ledger", "show", "--json").stdout == before


def test_a_cell_has_a_table_of_its_own(ledger):
    women, men = (told("cells", "Ash", "--cell", f"sex = {sex}") for sex in ("female", "male"))
    assert women["region"] == men["region"] == "Ash"
    assert women != men


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["plain", "Ashh"], "REGION"),
        (["plain", "Ash", "--level", "ward"], "--level"),
        (["plain", "Ash", "--cell", "sex=female"], "--cell"),
        (["cells", "Ash"], "--cell"),
        (["cells", "Ash", "--cell", "female"], "--cell"),
        (["cells", "Ash", "--cell", "sex=f"], "--cell"),
        (["nothing", "Ash"], "release"),
    ],
)
def test_what_is_not_there_is_refused_by_its_name(ledger, words, field):
    assert field in run("tree", "explain", *words, code=2).stderr
