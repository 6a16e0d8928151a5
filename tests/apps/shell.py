"""Commands as a person types them: run in this process, or in one of their own as a shell starts it."""

import contextlib
import io
import os
import shutil
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
from typer.main import get_command

from discreet.apps.cli import app, main
from discreet.ledger.ledger import Ledger

SHIPPED = Path(str(files("discreet.apps.demo")))
COMMAND = get_command(app)


@dataclass(frozen=True)
class Said:
    stdout: str
    stderr: str


class Screen(io.StringIO):
    """What somebody sees."""

    def isatty(self):
        return True


def run(*words, cwd=None, code=0, text=None, terminal=False, **environment):
    """The command in this process: starting Python takes ten times as long as what most commands do."""
    out, err = io.StringIO(), Screen() if terminal else io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for key in [key for key in os.environ if key.startswith("DISCREET_")]:
            patch.delenv(key)
        for key, value in environment.items():
            patch.setenv(key, value)
        patch.setattr(sys, "stdin", io.StringIO(text or ""))
        if cwd is not None:
            patch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
    assert (ended.value.code or 0) == code, out.getvalue() + err.getvalue()
    return Said(out.getvalue(), err.getvalue())


def leaves(command, words=()):
    """Every command that does something, by its words."""
    inside = getattr(command, "commands", None)
    if inside is None:
        return {} if command.hidden else {" ".join(words): command}  # other words for the same are not listed
    return {name: leaf for word, one in inside.items() for name, leaf in leaves(one, (*words, word)).items()}


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    return tmp_path
