"""Completion as shells ask for it: through environment variables; and by a real one, in processes of their own."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
import typer.main

from discreet.apps.cli import main
from discreet.ledger.ledger import Ledger
from discreet.synth.methods import METHODS as ROWS
from discreet.trees.methods import METHODS as TREES

SHIPPED = Path(str(files("discreet.apps.demo")))
PROGRAM = Path(sys.executable).parent / "discreet"
COLUMNS = {"age", "sex", "schooling", "sector", "hours", "pay", "county"}


def asked(folder, *words, **variables):
    """What the program says in a folder that is also its home, with these variables of ours and no others."""
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", [str(PROGRAM), *words])
        patch.setattr(sys.modules["__main__"], "__package__", None, raising=False)  # run by its name, not by python -m
        for name in [name for name in os.environ if name.startswith(("DISCREET_", "_DISCREET"))]:
            patch.delenv(name)
        for name, value in {"HOME": str(folder), **variables}.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(told), pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0, told.getvalue()
    return told.getvalue()


def bash(folder, line):
    """What bash would offer for the last word of a line."""
    words = line.split(" ")
    found = asked(folder, _DISCREET_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    return set(found.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("shell")
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(SHIPPED / name, made / name)
    Ledger.open(made / ".discreet" / "ledger.db", create=True).close()
    asked(made, "ask", "people.csv", "count", "--epsilon", "0.1", "--id", "everyone", "--yes")
    return made


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("discreet led", {"ledger"}),
        ("discreet ledger ver", {"verify"}),
        ("discreet plan people.csv count --noi", {"--noise"}),
        ("discreet plan people.csv count --noise ", {"auto", "laplace", "gaussian"}),
        ("discreet plan people.csv me", {"mean(", "median("}),
        ("discreet plan people.csv mean(s", {"mean(sex)", "mean(schooling)", "mean(sector)"}),
        ("discreet plan people.csv top=quantile(pa", {"top=quantile(pay,"}),
        ("discreet plan people.csv count --by s", {"sex", "schooling", "sector"}),
        ("discreet tree plan people.csv --levels county,s", {"county,sex", "county,schooling", "county,sector"}),
        ("discreet tree plan people.csv --method ", {"auto", *TREES}),
        ("discreet synth plan people.csv --method ", {"auto", *ROWS}),
        ("discreet plan people.csv count --allotment ", {"questions"}),
        ("discreet releases show ", {"everyone"}),
        ("discreet releases show nothing", set()),
    ],
)
def test_bash_is_offered_commands_options_and_values(folder, line, offered):
    assert bash(folder, line) == offered


def test_zsh_and_fish_are_offered_the_same(folder):
    zsh = asked(folder, _DISCREET_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="discreet plan people.csv --top ")
    assert all(f'"{name}"' in zsh for name in COLUMNS)
    fish = {"_TYPER_COMPLETE_ARGS": "discreet plan people.csv --top ", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert set(asked(folder, _DISCREET_COMPLETE="complete_fish", **fish).split()) == COLUMNS


def test_tab_complains_of_nothing_and_makes_nothing(tmp_path):
    assert bash(tmp_path, "discreet plan nowhere.csv count --by ") == set()
    (tmp_path / "discreet.toml").write_text("this is [ no TOML")
    assert bash(tmp_path, "discreet plan nowhere.csv count --by ") == set()
    assert bash(tmp_path, "discreet releases show ") == set()
    assert not (tmp_path / "discreet.db").exists()


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".bash_completions/discreet.sh"),
        ("zsh", ".zfunc/_discreet"),
        ("fish", ".config/fish/completions/discreet.fish"),
    ],
)
def test_completion_is_installed_for_each_shell(tmp_path, shell, file, monkeypatch):
    # Whether a shell can be named is decided when the tree of commands is made, by this variable.
    monkeypatch.setattr(typer.main, "get_command", typer.main.get_command.__wrapped__)
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    asked(tmp_path, "--install-completion", shell, **named)
    assert f"complete_{shell}" in (tmp_path / file).read_text()
    assert f"complete_{shell}" in asked(tmp_path, "--show-completion", shell, **named)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_real_bash_completes(folder):
    script = f"""
    source <(_DISCREET_COMPLETE=source_bash {PROGRAM})
    COMP_WORDS=({PROGRAM} rele) COMP_CWORD=1
    _discreet_completion {PROGRAM}
    echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["releases"]
