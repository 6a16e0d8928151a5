"""`discreet` alone explains itself, and so does a group of commands."""

import re

from shell import SHIPPED, folder_fixture, run

from discreet.apps.cli.commands import COMMANDS

__all__ = ["folder_fixture"]


def test_alone_it_explains_itself_and_ends_well(tmp_path):
    said = run(cwd=tmp_path)
    assert said.stderr == ""
    assert "Here: no schema yet (discreet.toml)" in said.stdout
    assert all(len(line) <= 80 for line in said.stdout.splitlines())


def test_it_fits_a_narrow_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(cwd=tmp_path).stdout.splitlines()
    assert max(map(len, lines)) <= 60
    assert "    discreet demo --serve" in lines  # under what it is for


def test_the_commands_it_names_are_there(tmp_path):
    named = set(re.findall(r"discreet ([a-z]+) ", run(cwd=tmp_path).stdout)) - {"answers"}
    assert named
    assert named <= set(COMMANDS)


def test_it_says_which_schema_and_ledger_are_used_here(folder, monkeypatch):
    assert "Here: schema discreet.toml, ledger .discreet/ledger.db." in run(cwd=folder).stdout
    (folder / ".discreet" / "ledger.db").unlink()
    assert "ledger .discreet/ledger.db (not made yet)" in run(cwd=folder).stdout
    (folder / "discreet.toml").write_text(
        (SHIPPED / "discreet.toml").read_text() + '\n[ledger]\nplace = "postgresql://ann:secret@host/books"\n'
    )
    said = run(cwd=folder).stdout
    assert "ledger postgresql://host/books." in said
    assert "secret" not in said


def test_a_group_named_alone_lists_its_commands_and_ends_well():
    assert "\n  verify " in run("ledger").stdout
