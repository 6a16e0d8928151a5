"""A custodian in a shell: a ledger with a charge on it, and answers typed at a terminal."""

import contextlib
import io
import os
import sys

import pytest

from discreet.apps.cli import main
from discreet.core.loss import Pure
from discreet.core.unit import Unit
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger

LEDGER = ".discreet/ledger.db"


class Terminal(io.StringIO):
    """Someone who is there and types."""

    def isatty(self):
        return True


@pytest.fixture(name="folder")
def folder_fixture(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("DISCREET_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ledger = Ledger.open(LEDGER, create=True)
    ledger.create("people", Budget(epsilon=1), unit=Unit("person"), who="ann")
    spend(ledger, "first")
    ledger.close()
    return tmp_path


def spend(ledger, release, epsilon="0.4", dataset="people", allotment=None):
    unit = Unit("person") if dataset == "people" else Unit()
    ledger.spend(dataset, Pure(epsilon), release=release, who="ann", digest="d", allotment=allotment, unit=unit)


def run(*words, code=0, typed=None):
    """The command; `typed` by someone at a terminal, or nobody is there."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "stdin", io.StringIO() if typed is None else Terminal(typed))
        with pytest.raises(SystemExit) as ended:
            main(["ledger", *(str(word) for word in words)])
    assert (ended.value.code or 0) == code, out.getvalue() + err.getvalue()
    return out.getvalue() if not code else err.getvalue()


def books(place=LEDGER):
    return Ledger.open(place)
