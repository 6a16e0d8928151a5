"""`discreet census` as a person uses it."""

import json

import pytest
from shell import run

SCHEMA = """\
[dataset]
name = "people"
[budget]
epsilon = 4.0
[columns.county]
type = "category"
values = ["N1", "N2", "S1"]
nullable = false
[columns.home]
type = "text"
[columns.kind]
type = "category"
values = ["alone", "family"]
nullable = false
[columns.relation]
type = "category"
values = ["head", "other"]
nullable = false
"""
TABLES = """\
[people]
counts = "persons"
[kinds]
counts = "households"
by = ["kind"]
share = 2
[members]
counts = "persons"
household = ["kind"]
[sizes]
counts = "sizes"
largest = 3
"""
ASKED = ["people.csv", "--levels", "part=1,county=2", "--tables", "tables.toml", "--household", "home"]
ASKED += ["--head", "relation = 'head'", "--most", "3"]


@pytest.fixture
def folder(tmp_path):
    lines = ["county,home,kind,relation"]
    for home in range(60):
        county, size = ("N1", "N2", "S1")[home % 3], home % 4 + 1
        kind = "alone" if size == 1 else "family"
        lines += [f"{county},h{home},{kind},{'other' if place else 'head'}" for place in range(size)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "discreet.toml").write_text(SCHEMA)
    (tmp_path / "tables.toml").write_text(TABLES)
    run("ledger", "create", cwd=tmp_path)
    return tmp_path


def test_plan_release_show(folder):
    text = run("census", "plan", *ASKED, "--epsilon", "2", cwd=folder).stdout
    for word in ("4 tables", "kinds, sizes agree on the number of households", "Cost: epsilon = 2", "3 regions"):
        assert word in text
    paid = ["--epsilon", "2", "--id", "c", "--yes"]
    made = run(
        "census", "release", *ASKED, *paid, "--out", "out", "--format", "csv", "--measurements", "noisy", cwd=folder
    )
    assert "kinds" in made.stdout
    assert "Release c" in made.stdout
    for name in ("people", "kinds", "members", "sizes"):
        assert (folder / "out" / name / "county.csv").exists()
        assert list((folder / "noisy" / name).iterdir())
    charges = json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]
    assert len(charges) == 1
    shown = json.loads(run("census", "show", "c", "--part", "kinds.county", "--json", cwd=folder).stdout)
    stored = json.loads(run("releases", "show", "c", "--part", "kinds.county", "--json", cwd=folder).stdout)
    assert shown["columns"]["count"] == stored["columns"]["count"]
    whole = json.loads(run("census", "show", "c", "--method", "topdown", "--json", cwd=folder).stdout)
    assert {name: table["totals_of"] for name, table in whole["tables"].items()} == {
        "people": "people", "kinds": "sizes", "members": "members", "sizes": "sizes",
    }  # fmt: skip


def test_what_is_wrong_with_a_file_of_tables_is_said(folder):
    (folder / "tables.toml").write_text("[people]\ncounts = 'persons'\nby = ['kin']\n")
    problem = run("census", "plan", *ASKED, "--epsilon", "2", cwd=folder, code=2).stderr
    assert "kin" in problem
    assert "Did you mean" in problem
    (folder / "tables.toml").write_text("[people")
    assert "TOML" in run("census", "plan", *ASKED, "--epsilon", "2", cwd=folder, code=2).stderr


def test_a_census_has_a_map_of_any_table(folder):
    paid = ["--epsilon", "2", "--id", "c", "--yes"]
    wrong = run("census", "release", *ASKED, *paid, "--map", "map.html", "--map-table", "kinda", cwd=folder, code=2)
    assert "--map-table" in wrong.stderr
    assert "Did you mean `kinds`?" in wrong.stderr
    run("census", "release", *ASKED, *paid, "--map", "map.html", cwd=folder)
    assert "persons by part and county (people)" in (folder / "map.html").read_text()
    run("census", "show", "c", "--map", "kinds.html", "--map-table", "kinds", cwd=folder)
    assert "(kinds)" in (folder / "kinds.html").read_text()
    assert "alone" in (folder / "kinds.html").read_text()
