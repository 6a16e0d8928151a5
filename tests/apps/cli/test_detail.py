"""`discreet detail` as a person uses it."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.ledger.ledger import Ledger

DEMO = Path(str(files("discreet.apps.demo")))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(DEMO / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


def spent():
    return bool(Ledger.open(".discreet/ledger.db").releases())


GROUPS = ("people.csv", "--levels", "county", "--groups", "women: sex = 'female'", "--groups", "all: age >= 0")
GROUPS += ("--details", "sex: sex", "--epsilon", "0.5")


def test_groups_have_noisy_counts_sums_and_a_map(folder, capsys):
    from discreet.trees.detail import read_groups

    shapes = (Path(str(files("discreet.apps.demo"))) / "counties.geojson").read_text()
    (folder / "counties.geojson").write_text(shapes)
    (folder / "elsewhere.json").write_text(shapes.replace('"id":"', '"id":"new '))
    drawn = ("--map", "groups.html", "--geometry")
    assert run("detail", "release", *GROUPS, "--yes", *drawn, "elsewhere.json") == 2
    assert "'new Ash'" in capsys.readouterr().err
    assert not spent()
    words = ("--yes", "--id", "g", *drawn, "counties.geojson", "--measurements", "noisy")
    assert run("detail", "release", *GROUPS, *words) == 0
    assert Path("groups.html").read_text(encoding="utf-8").count('"mapped":true') == 1
    capsys.readouterr()
    assert run("detail", "show", "g", "--sum", "county=Ash, Elm; group=women", "--json") == 0
    told = json.loads(capsys.readouterr().out)["sum"]
    assert told == read_groups("noisy").sum({"county": ["Ash", "Elm"]}, "women").to_dict()
    assert run("detail", "read", "noisy", "--sum", "county=Ash, Elm; group=women") == 0
    assert f"{told['value']:,} [" in capsys.readouterr().out
    assert run("detail", "show", "g", "--sum", "town=Ash") == 2
    assert "--sum" in capsys.readouterr().err
