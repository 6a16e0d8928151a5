"""What `discreet ledger` and `discreet releases` say of charges, and of what is read again for free."""

import contextlib
import io
import json
import shutil
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.apps.cli.output import show_whole
from discreet.errors import InputError
from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("DISCREET_LEDGER", "DISCREET_SCHEMA", "DISCREET_WHO"):
        monkeypatch.delenv(name, raising=False)
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, code=0):
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        patch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            main(list(words))
    assert (ended.value.code or 0) == code, said.getvalue()
    return said.getvalue()


ASKED = ("ask", "people.csv", "count", "--epsilon", "0.4", "--id", "first", "--yes")


def test_one_charge_is_one_charge(folder):
    run("plan", "people.csv", "count", "--epsilon", "0.4")
    assert "1 record, 0 charges: every" in run("ledger", "verify")
    run(*ASKED)
    assert "5 records, 1 charge: every" in run("ledger", "verify")


def test_a_release_read_again_says_that_it_was_paid_before(folder):
    assert "Cost: epsilon = 0.4. Left: epsilon = 0.6." in run(*ASKED)
    again = "Cost: epsilon = 0.4, paid earlier: nothing was spent now. Left: epsilon = 0.6."
    assert again in run(*ASKED)
    assert again in run("releases", "show", "first")


def test_a_tree_read_again_says_so_too(folder):
    words = ("tree", "release", "people.csv", "--levels", "county", "--epsilon", "0.1", "--id", "regions", "--yes")
    assert "paid before" not in run(*words)
    assert "paid earlier: nothing was spent now" in run(*words)
    assert "paid earlier: nothing was spent now" in run("tree", "show", "regions")


def test_intervals_that_are_not_quite_sure_are_not_called_sure(folder):
    assert "99.9% confidence intervals" in run(*ASKED, "--confidence", "0.999")


def test_a_column_that_the_data_lacks_is_named(folder):
    text = Path("discreet.toml").read_text()
    Path("discreet.toml").write_text(text.replace("[columns.hours]", "[columns.hourz]"))
    told = run("ask", "people.csv", "sum(hourz)", "--epsilon", "0.1", "--yes", code=2)
    assert "`columns` must be a column the data has" in told


def test_csv_is_one_table_and_nothing_else(folder):
    asked = ("--sql", "SELECT COUNT(*) AS n FROM people", "--period", "age/20", "--epsilon", "0.01", "--id", "ages")
    run("stream", "release", "people.csv", *asked, "--yes")
    sql = "SELECT COUNT(*) AS n FROM people"
    for name, parts in (("one", ["a"]), ("two", ["a", "b"])):
        questions = [word for part in parts for word in ("--question", f"{part}={sql}")]
        run("batch", "release", "people.csv", *questions, "--epsilon", "0.01", "--id", name, "--yes")
    assert run("releases", "show", "one", "--format", "csv").startswith("n,n_lower,n_upper")
    assert "`--part` must be given for csv, which is one table" in run(
        "releases", "show", "two", "--format", "csv", code=2
    )
    assert run("releases", "show", "two", "--format", "csv", "--part", "b").startswith("n,n_lower,n_upper")
    files = run("releases", "show", "two", "--part", "b", "--to", "two.csv", "--to", "two.svg")
    assert files.split("\n")[:3] == ["Wrote two.csv", "Wrote two.csv-metadata.json", "Wrote two.svg"]
    assert json.loads(Path("two.csv-metadata.json").read_text("utf-8"))["epsilon"] == 0.01
    assert "`--part` must be given for --to, which writes one table: a, b." in run(
        "releases", "show", "two", "--to", "two.csv", code=2
    )
    assert "`--to` must be a file that ends in" in run("releases", "show", "one", "--to", "one.xls", code=2)
    listed = run("releases", "list")
    assert "Number of rows" in listed
    assert "set of tables" in listed
    assert "period of a stream" in listed
    assert "have ids of their own: ages/1." in run("stream", "show", "ages", code=2)


def test_what_is_no_table_has_no_csv(capsys):
    class Model:
        def tables(self):
            return {}

    for shape in ("csv", "markdown"):
        with pytest.raises(InputError, match="`--format` must be table or json: this release is no table"):
            show_whole(Model(), shape, "", False)
