"""Options that commands share: what they open, and how a command gets its signature."""

import inspect
import io
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
import typer

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
