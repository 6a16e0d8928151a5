"""The table of commands is true, and nothing is loaded that is not used."""

import json
import subprocess
import sys

import pytest
from shell import folder_fixture
from typer.main import get_command
from typer.testing import CliRunner

from discreet.apps.cli import app, commands
from discreet.apps.cli.commands import COMMANDS, SECTIONS, VERBS, Commands
from discreet.curator import KINDS

__all__ = ["folder_fixture"]

SHORTER = {"survey", "ledger", "calibrate", "demo"}  # their own help is too long for a list

LOADED = """
import json, sys
from discreet.apps.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
json.dump([*sys.modules], sys.stderr)
"""


HEAVY = {"pandas", "ibis", "duckdb", "sqlglot", "pyarrow", "scipy", "dp_accounting", "fastapi", "jax", "pydantic"}
QUESTION = ("people.csv", "count", "mean(pay)", "--by", "sex", "--epsilon", "0.1")

# What a command may load: modules of discreet, and no heavy library but these. Measured, with a tenth to spare; what it
# takes in time is measured by bench/startup.py, and depends on the machine.
BUDGETS = {
    ("--version",): (12, set()),
    ("--help",): (17, set()),
    ("ask", "--help"): (268, set()),
    ("plan", *QUESTION): (270, set()),
    ("ledger", "show"): (292, set()),
    ("releases", "list"): (292, set()),
    ("calibrate", "noise", "--epsilon", "1"): (195, set()),
    ("sql", "people.csv", "SELECT COUNT(*) AS n FROM people", "--epsilon", "0.1", "--plan"): (290, {"sqlglot"}),
}


def modules_of(*words, folder=None):
    """The modules that a command loads."""
    command = [sys.executable, "-c", LOADED, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize("words", BUDGETS, ids=lambda words: " ".join(words[:2]))
def test_a_command_loads_no_more_than_its_budget(folder, words):
    found = modules_of(*words, folder=folder)
    most, libraries = BUDGETS[words]
    assert {name.partition(".")[0] for name in found} & HEAVY == libraries
    assert 0.75 * most <= sum(name.startswith("discreet") for name in found) <= most


def rooms_of(*words):
    """The rooms that a command loads."""
    names = [name.split(".") for name in modules_of(*words) if name.startswith("discreet.")]
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
            assert {"plan", "release", "show"} <= set(found[VERBS.get(name, name)].commands)
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


def test_every_command_stands_in_one_section_of_the_list():
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)


def test_a_misspelt_command_is_refused_with_the_nearest():
    result = CliRunner().invoke(app, ["leger"])
    assert result.exit_code == 2
    assert "No such command 'leger'" in result.output


def test_the_list_of_commands_and_the_version_load_no_command():
    for words in (("--version",), ("--help",)):
        assert rooms_of(*words)[1] == {"commands", "examples", "panels", "plain_values"}


def test_a_question_loads_no_other_kind_of_job():
    rooms, modules = rooms_of("ask", "--help")
    assert rooms & {"trees", "flows", "synth", "learn", "power", "risk", "audit", "local"} == set()
    assert modules == {
        *("ask", "assume", "commands", "completion", "examples", "options", "output", "panels", "plain_values"),
        "table_width",
    }


def test_a_command_is_made_once():
    group = get_command(app)
    assert group.commands["ask"] is group.commands["ask"]
