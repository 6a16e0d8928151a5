"""Options that commands share: what they open, and how a command gets its signature."""

import inspect
import io
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
import typer
from shell import run

from discreet.apps.cli import options
from discreet.apps.cli.options import REQUIRED, curator_at, ledger_address, open_ledger, with_signature
from discreet.errors import MissingLedgerError
from discreet.ledger.ledger import Ledger


class Terminal(io.StringIO):
    """Someone who is there and types."""

    def isatty(self):
        return True


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(Path(str(files("discreet.apps.demo"))) / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    return tmp_path


def typed(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", Terminal(text))
    monkeypatch.setattr("sys.stderr", Terminal())


def test_where_nobody_can_be_asked_no_ledger_is_made(folder):
    with pytest.raises(MissingLedgerError):
        curator_at("people.csv", None, None)
    assert not (folder / ".discreet").exists()


def test_at_a_terminal_a_ledger_is_made_after_a_yes_only(folder, monkeypatch):
    typed(monkeypatch, "n\n")
    with pytest.raises(typer.Abort):
        curator_at("people.csv", None, None)
    assert not (folder / ".discreet" / "ledger.db").exists()
    typed(monkeypatch, "y\n")
    assert curator_at("people.csv", None, None).schema.name == "people"
    assert (folder / ".discreet" / "ledger.db").exists()


def test_a_ledger_is_opened_where_it_is_named_or_beside_the_schema_and_never_made(folder):
    assert ledger_address("books.db") == "books.db"
    assert Path(ledger_address(None)) == Path(".discreet") / "ledger.db"
    with pytest.raises(MissingLedgerError):
        open_ledger("books.db")
    Ledger.open("books.db", create=True).close()
    assert open_ledger("books.db").datasets() == ()


def test_commands_with_data_and_without_use_the_same_schema_and_ledger_and_say_so(folder, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    schema, data = f"{folder}/discreet.toml", f"{folder}/people.csv"
    run("ledger", "create", DISCREET_SCHEMA=schema)
    seen = {"terminal": True, "DISCREET_SCHEMA": schema}
    asked = run("plan", data, "count", "--epsilon", "0.1", **seen)
    assert asked.stderr == f"Schema: {schema}. Ledger: {folder}/.discreet/ledger.db\n"
    for words in (("ledger", "show"), ("releases", "list"), ("ledger", "open", "--yes")):
        assert run(*words, **seen).stderr == f"Ledger: {folder}/.discreet/ledger.db\n"
    named = run("ledger", "open", "--schema", schema, "--yes", terminal=True)
    assert named.stderr == f"Ledger: {folder}/.discreet/ledger.db\n"
    assert run("check", data, code=1, **seen).stderr.startswith(f"Schema: {schema}\n")
    assert run("ledger", "show", "--json", **seen).stderr == ""
    assert run("ledger", "show", DISCREET_SCHEMA=schema).stderr == ""  # in a script nobody looks


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("plan people.csv count --epsilom 0.1", "--epsilon"),
        ("plan people.csv mean(pey) --epsilon 0.1", "pay"),
        ("plan people.csv count --by sexx --epsilon 0.1", "sex"),
        ("plan people.csv count --by agee/10 --epsilon 0.1", "age"),
        ("plan people.csv count --where agee>3 --epsilon 0.1", "age"),
        ("plan people.csv --top sectr --epsilon 0.1", "sector"),
        ("plan people.csv meen(pay) --epsilon 0.1", "mean"),
        ("plan people.csv count --epsilon 0.1 --noise gausian", "gaussian"),
        ("limits people.csv --by countyy --epsilon 0.1 --plan", "county"),
        ("tree plan people.csv --levels countyy --epsilon 0.1", "county"),
        ("synth plan people.csv --columns age,sexx --epsilon 0.1", "sex"),
        ("choose plan people.csv --score sectr --epsilon 0.1", "sector"),
        ("flows plan people.csv --origin countyy --destination sector --epsilon 0.1", "county"),
        ("relations plan people.csv --parent agee --child sex --epsilon 1", "age"),
        ("risk measure people.csv --quasi agee,sex", "age"),
        ("attack link people.csv people.csv --on agee,sex", "age"),
        ("ledger shw", "show"),
        ("leger show", "ledger"),
    ],
)
def test_what_is_misspelt_is_answered_with_what_was_meant(folder, line, meant):
    run("ledger", "create")
    said = run(*line.split(), code=2).stderr
    assert any(f"Did you mean {mark}{meant}{mark}?" in said for mark in ("`", "'")), said


def test_a_signature_lists_what_is_required_first_and_the_rest_in_order():
    def command(**given):
        """What it does."""

    parameters = {"k": (options.TopK, 10), "data": (options.Data, REQUIRED), "table": (options.Table, None)}
    signed = with_signature(command, parameters)
    assert list(inspect.signature(signed).parameters) == ["data", "k", "table"]
    assert inspect.signature(signed).parameters["k"].default == 10
    assert signed.__annotations__ == {name: kind for name, (kind, _) in parameters.items()} | {"return": None}


def test_every_function_is_named_in_the_help_of_outputs():
    help_text = options.Outputs.__metadata__[0].help
    for name in ("count", "people", "median", "quantile", "mean(COLUMN"):
        assert name in help_text


def test_a_mistake_is_said_by_the_option_that_was_typed(folder):
    run("ledger", "create")
    said = run(*["plan", "people.csv", "count", "--by", "sexx", "--epsilon", "0.1"], code=2).stderr
    assert said.startswith("discreet: `--by` must be a declared column")
    assert "group_by" not in said
    said = run(*["plan", "people.csv", "count", "--epsilom", "0.1"], code=2).stderr
    assert said == (
        "discreet: `--epsilom` is not an option of `discreet plan`. Did you mean `--epsilon`? "
        "All of them: discreet plan --help.\n"
    )
