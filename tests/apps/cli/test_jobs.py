"""`discreet tree` as a person uses it."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet
import pytest
from shell import run

from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))
COUNTIES = ["Ash", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Rowan", "Spruce", "Willow"]


@pytest.fixture
def folder(tmp_path):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    lines = [f"{'North' if place < 6 else 'South'},{name}" for place, name in enumerate(COUNTIES)]
    (tmp_path / "regions.csv").write_text("part,county\n" + "\n".join(lines) + "\n")
    return tmp_path


ASKED = ["people.csv", "--levels", "part,county", "--geography", "regions.csv", "--by", "sex", "--by", "age/0,18,65,99"]


def test_sums_and_weights_are_asked_for_by_name(folder):
    asked = ["people.csv", "--levels", "part,county", "--geography", "regions.csv", "--epsilon", "0.3"]
    text = run("tree", "plan", *asked, "--measure", "pay", "--bounds", "0, 90000", cwd=folder).stdout
    assert "Each number is a sum of pay." in text
    assert "Values of pay outside 0..90000 are clipped to the nearer bound" in text
    more = ["--measure", "pay", "--yes", "--id", "pays", "--out", "tables", "--format", "csv"]
    made = run("tree", "release", *asked, *more, cwd=folder).stdout
    table = [line.split(",") for line in (folder / "tables" / "county.csv").read_text().splitlines()]
    assert table[0][:3] == ["part", "county", "sum_pay"]
    assert f"{sum(int(row[2]) for row in table[1:]):,}" in made
    whole = run("tree", "show", "pays", "--sum", "part=North", cwd=folder).stdout
    assert "interval" in whole
    weights = run("tree", "plan", *asked, "--weight", "hours", "--bounds", "1,80", cwd=folder).stdout
    assert "Intervals cover the noise alone" in weights
    wrong = run("tree", "plan", *asked, "--measure", "sex", cwd=folder, code=2).stderr
    assert "measure" in wrong
    assert "--bounds" in run("tree", "plan", *asked, "--measure", "pay", "--bounds", "1", cwd=folder, code=2).stderr


def test_plan_release_show(folder):
    text = run("tree", "plan", *ASKED, "--epsilon", "0.5", cwd=folder).stdout
    for word in ("part", "county", "12 regions", "of the price", "Cost: epsilon = 0.5"):
        assert word in text
    planned = json.loads(run("tree", "plan", *ASKED, "--epsilon", "0.5", "--json", cwd=folder).stdout)
    assert planned["exact_cost"] == "1/2"
    assert planned["cells"] == 6
    assert [level["level"] for level in planned["levels"]] == ["all", "part", "county"]
    best = json.loads(
        run("tree", "plan", *ASKED, "--epsilon", "0.5", "--split", "accurate", "--json", cwd=folder).stdout
    )
    assert [level["share"] for level in best["levels"]] != [level["share"] for level in planned["levels"]]
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []

    paid = ["--epsilon", "0.5", "--id", "census", "--yes"]
    made = run("tree", "release", *ASKED, *paid, "--out", "tables", "--map", "map.html", "--json", cwd=folder)
    found = json.loads(made.stdout)
    assert found["id"] == "census"
    assert found["levels"] == {"all": 1, "part": 2, "county": 12}
    tables = {
        name: pyarrow.parquet.read_table(folder / "tables" / f"{name}.parquet").to_pydict()
        for name in ("all", "part", "county")
    }
    sums = {sum(table["count"]) for table in tables.values()}
    assert len(sums) == 1
    ends = ["lower", "upper", "typical_lower", "typical_upper", "quality"]
    assert list(tables["county"]) == ["part", "county", "sex", "age", "count", *(f"count_{end}" for end in ends)]
    assert "<!doctype html>" in (folder / "map.html").read_text()[:100].lower()

    shown = run("tree", "show", "census", "--method", "topdown", "--out", "again", "--format", "csv", cwd=folder).stdout
    assert "census" in shown
    assert (folder / "again" / "county.csv").exists()
    stored = json.loads(run("releases", "show", "census", "--part", "county", "--json", cwd=folder).stdout)
    assert stored["columns"]["count"] == tables["county"]["count"]
    refused = run("synth", "show", "census", cwd=folder, code=2).stderr
    assert "It is a hierarchy: discreet releases show census" in refused
    over = run("tree", "release", *ASKED, "--epsilon", "0.6", "--yes", cwd=folder, code=3).stderr
    assert "Nothing was spent" in over


def test_rules_and_a_covariate_come_from_files(folder):
    counties = (folder / "regions.csv").read_text().split()[1:]
    codes = [line.split(",")[-1] for line in counties]
    (folder / "units.csv").write_text("county,units\n" + "".join(f"{code},{9 + len(code)}\n" for code in codes))
    (folder / "most.csv").write_text(f"county,most\n{codes[0]},0\n")
    (folder / "rules.toml").write_text('[upper]\ncounty = { file = "most.csv", by = "the map" }\n')
    public = ["--covariate", "units.csv", "--rules", "rules.toml", "--expected", "4000"]
    text = run("tree", "plan", *ASKED, *public, "--epsilon", "0.5", cwd=folder).stdout
    assert "Upper bounds of county: declared public by the map." in text
    assert "Covariate of the leaf regions" in text
    (folder / "rules.toml").write_text("[upper\n")
    assert "TOML" in run("tree", "plan", *ASKED, *public, "--epsilon", "0.5", cwd=folder, code=2).stderr


def test_groups_by_size(folder):
    schema = (folder / "discreet.toml").read_text().replace('column = "person"\ngroups = 1\nrows = 1\n', "")
    (folder / "discreet.toml").write_text(schema)
    sizes = ["people.csv", "--levels", "part,county", "--geography", "regions.csv", "--sizes", "sector"]
    made = run("tree", "release", *sizes, "--largest", "4", "--epsilon", "0.5", "--yes", "--json", cwd=folder)
    assert json.loads(made.stdout)["method"] == "topdown"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--levels", "part,county", "--epsilon", "1"], "`--levels` must be a declared category"),
        (["--levels", "part,county", "--epsilon", "1"], "--geography in a shell"),
        (["--levels", "part,nope", "--geography", "regions.csv", "--epsilon", "1"], "--column"),
        (["--levels", "county", "--epsilon", "1", "--method", "best"], "one of auto, "),
        (["--levels", "part,county", "--geography", "nowhere.csv", "--epsilon", "1"], "nowhere.csv"),
        (["--levels", "part,county", "--geography", "regions.csv"], "exactly one of epsilon"),
        (["--levels", "part=x,county=3", "--geography", "regions.csv", "--epsilon", "1"], "NAME=NUMBER"),
        (["--levels", "part,county", "--geography", "regions.csv", "--epsilon", "1", "--split", "part=1"], "split"),
        (["--levels", "part,county", "--geography", "regions.csv", "--epsilon", "1", "--split", "part"], "--split"),
        (["--levels", "part,county", "--geography", "regions.csv", "--epsilon", "1", "--method", "x"], "method"),
    ],
)
def test_wrong_words_are_refused_before_spending(folder, words, told):
    assert told in run("tree", "plan", "people.csv", *words, cwd=folder, code=2).stderr


def test_spending_takes_a_yes(folder):
    asked = ["tree", "release", *ASKED, "--epsilon", "0.1"]
    assert "Nothing was spent" in run(*asked, cwd=folder, code=2).stderr
    assert "one of parquet, csv" in run(*asked, "--yes", "--format", "xls", cwd=folder, code=2).stderr
    assert json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"] == []
