"""The table of commands is true, and nothing is loaded that is not used."""

import json
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from discreet.apps.cli import app, commands
from discreet.apps.cli.commands import COMMANDS, Commands
from discreet.curator import KINDS

SHORTER = {"survey", "ledger", "calibrate", "demo"}  # their own help is too long for a list

LOADED = """
import json, sys
from discreet.apps.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
json.dump([name for name in sys.modules if name.startswith("discreet.")], sys.stderr)
"""


def rooms_of(*words):
    """The rooms that a command loads."""
    done = subprocess.run([sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True)
    names = [name.split(".") for name in json.loads(done.stderr.splitlines()[-1])]
    return {name[1] for name in names}, {name[3] for name in names if name[1:3] == ["apps", "cli"] and len(name) > 3}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_a_command_says_of_itself(name):
    command = Commands()[name]
    assert command.name == name
    own = command.get_short_help_str(1000)
    assert (own == COMMANDS[name][1]) is (name not in SHORTER)


def test_every_kind_that_is_asked_for_by_its_fields_has_commands():
    found = Commands()
    for name, kind in KINDS.items():
        if kind.sent:
            assert {"plan", "release", "show"} <= set(found[name].commands)
    assert len(found) == len(set(found))


def test_a_kind_that_the_table_does_not_name_has_commands_too(monkeypatch):
    others = {name: one for name, one in COMMANDS.items() if name != "flows"}  # put back, it would be the last
    monkeypatch.setattr(commands, "COMMANDS", others)
    found = Commands()
    assert "flows" in found
    assert list(found)[-1] == "flows"
    assert "flows" in CliRunner().invoke(app, ["--help"]).output
    with pytest.raises(KeyError):
        found["nothing"]


def test_a_misspelt_command_is_refused_with_the_nearest():
    result = CliRunner().invoke(app, ["leger"])
    assert result.exit_code == 2
    assert "No such command 'leger'" in result.output


def test_the_list_of_commands_and_the_version_load_no_command():
    for words in (("--version",), ("--help",)):
        assert rooms_of(*words)[1] == {"commands", "examples"}


def test_a_question_loads_no_other_kind_of_job():
    rooms, modules = rooms_of("ask", "--help")
    assert rooms & {"trees", "flows", "synth", "learn", "power", "risk", "audit", "local"} == set()
    assert modules == {"ask", "commands", "completion", "examples", "options", "output"}


def test_a_command_is_made_once():
    group = get_command(app)
    assert group.commands["ask"] is group.commands["ask"]
