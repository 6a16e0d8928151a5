"""`discreet synth fit`, and what `discreet synth show` says of marginals and conditions, as a person uses them."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from shell import run

from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("fit")
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, place / name)
    Ledger.open(place / ".discreet" / "ledger.db", create=True).close()
    asked = ["people.csv", "--columns", "age,sex,hours,sector", "--epsilon", "0.9", "--id", "rows", "--yes"]
    run("synth", "release", *asked, cwd=place)
    return place


def test_marginals_are_written_and_rows_made_of_them_without_data_and_ledger(folder, tmp_path):
    assert "Wrote noisy.json" in run("synth", "show", "rows", "--marginals", "noisy.json", cwd=folder).stdout
    for name in ("noisy.json", "discreet.toml"):
        shutil.copy(folder / name, tmp_path / name)
    known = ["--impossible", "age < 14 and hours > 0", "--rows", "400", "--out", "made.csv"]
    shown = run("synth", "fit", "noisy.json", *known, cwd=tmp_path).stdout
    assert "Wrote made.csv" in shown
    lines = (tmp_path / "made.csv").read_text().splitlines()
    assert lines[0] == "age,sex,hours,sector"
    assert len(lines) == 401
    assert not any(int(line.split(",")[0]) < 14 and int(line.split(",")[2]) > 0 for line in lines[1:])
    plain = json.loads(run("synth", "fit", "noisy.json", "--rows", "5", "--json", cwd=tmp_path).stdout)
    assert plain["rows"] == 5
    assert plain["file"] is None
    assert not (tmp_path / ".discreet").exists()


def test_conditions_are_proposed_where_asked_for(folder):
    shown = run("synth", "show", "rows", "--conditions", cwd=folder).stdout
    plain = json.loads(run("synth", "show", "rows", "--conditions", "--json", cwd=folder).stdout)
    for one in plain["conditions"]:
        assert one["condition"] in shown
        assert one["upper"] < one["independent"]
    assert "ondition" in shown
    assert "conditions" not in json.loads(run("synth", "show", "rows", "--json", cwd=folder).stdout)


def test_a_public_table_and_discovered_values_are_options(folder):
    run("synth", "show", "rows", "--out", "last.csv", cwd=folder)
    asked = ["people.csv", "--columns", "age,sex", "--epsilon", "0.01"]
    assert "public table" in run("synth", "plan", *asked, "--prior", "last.csv", cwd=folder).stdout
    told = run("synth", "plan", *asked, "--prior", "none.csv", cwd=folder, code=2).stderr
    assert "--prior" in told
    told = run("synth", "plan", *asked, "--discover", "sex", "--delta", "1e-6", cwd=folder, code=2).stderr
    assert "a column of text" in told


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--rows", "0"], "--rows"),
        (["--out", "rows.txt"], "--out"),
        (["--impossible", "zip = 3"], "--impossible"),
        (["--schema", "none.toml"], "none.toml"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_command(folder, more, said):
    run("synth", "show", "rows", "--marginals", "noisy.json", cwd=folder)
    assert said in run("synth", "fit", "noisy.json", *more, cwd=folder, code=2).stderr
    assert "--marginals" in run("synth", "show", "rows", "--marginals", "a.csv", cwd=folder, code=2).stderr
