"""A file that cannot be written is found out before anything is spent on what would go into it."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import discreet.apps.cli.output as output
from discreet.apps.cli import main
from discreet.ledger.ledger import Ledger

ASK = ("ask", "people.csv", "count", "--by", "sex", "--epsilon", "0.1", "--yes")
SQL = ("sql", "people.csv", "SELECT COUNT(*) FROM people", "--epsilon", "0.1", "--yes")
TREE = ("tree", "release", "people.csv", "--levels", "county", "--epsilon", "0.1", "--yes")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(Path(str(files("discreet.apps.demo"))) / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent():
    if not Path(".discreet/ledger.db").exists():
        return False
    from discreet import Ledger

    ledger = Ledger.open(".discreet/ledger.db")
    return bool(ledger.releases())


def run(*words):
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


@pytest.mark.parametrize(
    ("asked", "option", "path"),
    [
        (ASK, "--csv", "nowhere/x.csv"),
        (ASK, "--csv", "there"),
        (ASK, "--plot", "nowhere/x.svg"),
        (ASK, "--plot", "x.gif"),
        (SQL, "--csv", "nowhere/x.csv"),
        (SQL, "--plot", "x"),
        (TREE, "--map", "nowhere/map.html"),
        (TREE, "--map", "map.png"),
        (TREE, "--out", "people.csv"),
    ],
)
def test_nothing_is_spent(asked, option, path, capsys):
    assert run(*asked, option, path) == 2
    said = capsys.readouterr().err
    assert option in said
    assert path in said
    assert "Nothing was spent." in said
    assert not spent()


def test_a_picture_without_the_extra(monkeypatch, capsys):
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    assert run(*ASK, "--plot", "x.png") == 1
    assert "discreet[charts]" in capsys.readouterr().err
    assert not spent()


def test_what_can_be_written_is(folder):
    assert run(*ASK, "--csv", "there/x.csv") == 0
    assert Path("there/x.csv").exists()
    assert run(*TREE, "--out", "new/folder", "--format", "csv", "--map", "there/map.html") == 0
    assert Path("new/folder/county.csv").exists()
    assert Path("there/map.html").exists()
    assert spent()


def test_an_output_that_is_none(capsys):
    assert run("ask", "people.csv", "coun", "--epsilon", "0.1", "--yes") == 2
    assert "`outputs` must be one of count, people, distinct, sum, mean" in capsys.readouterr().err
