"""`discreet synth report` as a person uses it."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from shell import run

from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("report")
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, place / name)
    Ledger.open(place / ".discreet" / "ledger.db", create=True).close()
    asked = ["people.csv", "--columns", "age,sex,hours,county", "--epsilon", "0.5", "--id", "twins", "--yes"]
    run("synth", "run", *asked, cwd=place)
    return place


def test_the_public_report_is_free(folder):
    asked = ["--ask", "age >= 25 and sex = 'female'", "--ask", "mean(hours) where sex = 'male'"]
    shown = run("synth", "report", "twins", *asked, "--copies", "2", "--out", "report.html", cwd=folder).stdout
    for word in ("age >= 25", "mean(hours)", "Wrote report.html", "epsilon = 0.5"):
        assert word in shown
    assert "owner" not in shown
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    plain = json.loads(run("synth", "report", "twins", "--copies", "0", "--json", cwd=folder).stdout)
    assert plain["owner_only"] is False
    assert plain["file"] is None
    assert plain["asks"]
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 1


def test_the_owners_report_takes_two_words(folder):
    told = run("synth", "report", "twins", "--against", "people.csv", "--out", "o.html", cwd=folder, code=2).stderr
    assert "given together with --not-private" in told
    assert not (folder / "o.html").exists()
    both = ["--against", "people.csv", "--not-private", "--copies", "0", "--target", "sex"]
    shown = run("synth", "report", "twins", *both, "--out", "o.html", cwd=folder).stdout
    for word in ("NOT private", "For the data owner's eyes", "2-way: mean TV", "Wrote o.html", "(not from this page)"):
        assert word in shown
    assert "Not a release" in (folder / "o.html").read_text()
    # Read as text or as numbers, the rows are the same.
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "people.csv"), folder / "people.parquet")
    first = json.loads(run("synth", "report", "twins", *both, "--json", cwd=folder).stdout)
    both[1] = "people.parquet"
    second = json.loads(run("synth", "report", "twins", *both, "--json", cwd=folder).stdout)
    assert first == second
    assert first["real"]["rows"] == 5000
    assert {one["name"] for one in first["real"]["columns"]} >= {"age", "sex", "hours", "county"}
    assert all(one["text"] in shown for one in first["real"]["findings"][:6])
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nobody"], "id of a stored release"),
        (["twins", "--ask", "age >"], "`--ask`"),
        (["twins", "--out", "report.pdf"], "ends in .html"),
        (["twins", "--not-private"], "left out without --against"),
        (["twins", "--target", "sex"], "left out without --against"),
        (["twins", "--against", "rows.xls", "--not-private"], ".csv or .parquet"),
        (["twins", "--against", "nowhere.csv", "--not-private"], "can be read"),
        (["twins", "--copies", "-1"], "copies"),
    ],
)
def test_wrong_words_are_told(folder, words, told):
    assert told in run("synth", "report", *words, cwd=folder, code=2).stderr
