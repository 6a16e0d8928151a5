"""`discreet releases publish`: by the id and what is declared, without the data."""

import json

import pytest
from shell import run

from grid_files import lay_out_grid
from surfaces import command

SCHEMA = """
[dataset]
name = "people"
[columns.sex]
type = "category"
values = ["f", "m"]
nullable = false
[columns.county]
type = "category"
values = ["A1", "A2", "B1"]
nullable = false
[budget]
epsilon = 10
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("sex,county\n" + "f,A1\nm,B1\nf,A2\n" * 9)
    (tmp_path / "discreet.toml").write_text(SCHEMA)
    assert command("ledger", "create")[1] == 0
    return tmp_path


def test_a_question_has_other_intervals_and_a_hierarchy_another_method(folder):
    assert command("ask", "people.csv", "count", "--by", "sex", "--epsilon", "1", "--id", "q", "--yes")[1] == 0
    tree = ["--levels", "state=1,county=2", "--epsilon", "2", "--id", "t", "--yes"]
    assert command("tree", "release", "people.csv", *tree)[1] == 0
    (folder / "people.csv").unlink()  # nothing of it is needed
    said, code = command("releases", "publish", "q", "--confidence", "0.5", "--json")
    assert (code, json.loads(said)["confidence"]) == (0, 0.5)
    said, code = command("releases", "publish", "t", "--method", "topdown", "--part", "state", "--format", "csv")
    assert code == 0
    assert said.startswith("state,")
    (folder / "rules.json").write_text(json.dumps({"totals": {"state": [18, 9]}}))
    said, code = command("releases", "publish", "t", "--rules", "rules.json", "--part", "state", "--json")
    assert (code, json.loads(said)["columns"]["count"]) == (0, [18, 9])
    assert command("releases", "publish", "q", "--rules", "rules.json")[1] == 2
    assert command("releases", "publish", "q", "--beta", "0.1")[1] == 2
    assert command("releases", "publish", "none")[1] == 2


def test_loads_need_their_grid(folder):
    pytest.importorskip("clarabel", reason="needs discreet[power]")
    (folder / "grid").mkdir()
    lay_out_grid(folder / "grid")
    ring = ["--schema", "grid/discreet.toml", "--ledger", ".discreet/ledger.db"]
    assert command("ledger", "open", *ring, "--yes")[1] == 0
    words = ["--cost", "800", "--epsilon", "1", "--id", "l", "--yes"]
    assert command("loads", "release", "grid/ring.m", *words, *ring)[1] == 0
    assert command("releases", "publish", "l", "--beta", "0.5", *ring)[1] == 2
    said, code = command("releases", "publish", "l", "--beta", "0.5", "--grid", "grid/ring.m", "--json", *ring)
    assert code == 0
    assert json.loads(said)["report"]["within"]


def test_a_grid_file_that_is_not_there_is_named(folder):
    said = run("releases", "publish", "l", "--grid", "nowhere/ring.m", code=2).stderr
    assert "`--grid` must be a grid file that exists; got 'nowhere/ring.m'" in said
