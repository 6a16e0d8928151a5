"""`discreet tree read`: every method on a folder of noisy measurements, where there is no ledger and no data."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.ledger.ledger import Ledger

DEMO = Path(str(files("discreet.apps.demo")))
RELEASE = ("tree", "release", "people.csv", "--levels", "county", "--by", "sex", "--epsilon", "0.1", "--yes")
METHODS = ("bayes", "topdown", "exact", "relaxed")


@pytest.fixture(name="noisy", scope="module")
def noisy_fixture(tmp_path_factory):
    """A folder with noisy measurements and, by method, the tables that a ledger gives; nothing else is left."""
    folder, patch = tmp_path_factory.mktemp("office"), pytest.MonkeyPatch()
    with patch.context() as here:
        here.chdir(folder)
        for name in ("people.csv", "discreet.toml"):
            shutil.copy(DEMO / name, folder / name)
        Ledger.open(folder / ".discreet" / "ledger.db", create=True).close()
        assert run(*RELEASE, "--id", "r", "--measurements", "noisy") == 0
        for method in METHODS:
            assert run("tree", "show", "r", "--method", method, "--out", method, "--format", "csv") == 0
    shutil.rmtree(folder / ".discreet")
    (folder / "people.csv").unlink()
    (folder / "discreet.toml").unlink()
    return folder


def run(*words):
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_files_of_the_ledger(noisy, method, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = () if method == "bayes" else ("--method", method)  # the method of the release itself is the default
    assert run("tree", "read", str(noisy / "noisy"), *words, "--out", "again", "--format", "csv") == 0
    assert "Left: " not in capsys.readouterr().out
    known = sorted((noisy / method).glob("*.csv"))
    assert [path.name for path in known] == ["all-totals.csv", "all.csv", "county-totals.csv", "county.csv"]
    for path in known:
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_tables_sums_rules_and_maps_need_no_ledger(noisy, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    read = ("tree", "read", str(noisy / "noisy"))
    Path("rules.toml").write_text("[totals]\nall = 5000\n", encoding="utf-8")
    fixed = (*read, "--method", "topdown", "--rules", "rules.toml", "--confidence", "0.9")
    assert run(*fixed, "--part", "all-totals", "--json") == 0
    table = json.loads(capsys.readouterr().out)
    assert (table["columns"]["count"], table["confidence"]) == ([5000], 0.9)
    assert run(*read, "--sum", "county=Ash; sex=male") == 0
    assert "95% interval" in capsys.readouterr().out
    compared = ("--compare", "topdown", "--compare", f"copy={noisy / 'noisy'}", "--label", "office")
    assert run(*read, "--map", "map.html", *compared) == 0
    assert '"editions":["office","topdown","copy"]' in Path("map.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "`folder` must be a folder with"),
        (("{noisy}", "--method", "guess"), "`--method` must be"),
        (("{noisy}", "--confidence", "2"), "`--confidence` must be"),
        (("{noisy}", "--rules", "none.toml"), "`--rules` must be"),
        (("{noisy}", "--map", "m.html", "--compare", "nowhere"), "`--compare` must be"),
    ],
)
def test_what_cannot_be_read_is_refused(noisy, tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert run("tree", "read", *(word.format(noisy=noisy / "noisy") for word in words)) == 2
    assert said in capsys.readouterr().err
