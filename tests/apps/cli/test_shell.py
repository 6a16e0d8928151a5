"""`discreet shell` in a terminal: lines are edited and completed, a plan is shown, a yes spends, and it remembers."""

import os
import pty
import select
import sys
import time
from contextlib import suppress

import pytest
from shell import folder_fixture, run

from discreet.ledger.ledger import Ledger

__all__ = ["folder_fixture"]


class Terminal:
    """A terminal with `discreet shell people.csv` in it."""

    def __init__(self, folder):
        self.shown = ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            kept = {name: value for name, value in os.environ.items() if not name.startswith("DISCREET_")}
            kept |= {"TERM": "xterm", "COLUMNS": "100", "DISCREET_STATE": str(folder / "state")}
            kept.pop("CI", None)
            os.chdir(folder)
            os.execve(sys.executable, [sys.executable, "-m", "discreet", "shell", "people.csv"], kept)

    def wait_for(self, text, seconds=60):
        """Read until the terminal shows the text; what came after the last such call counts."""
        until = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < until, self.shown
            if select.select([self.end], [], [], 1)[0]:
                try:
                    self.shown += os.read(self.end, 65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
        assert text in self.shown, self.shown
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def type(self, text):
        os.write(self.end, text.encode())

    def interrupt(self):
        """Ctrl-C, until there is a new prompt: Python does not see one that comes just before it waits for a key."""
        for _ in range(12):
            self.type("\x03")
            with suppress(AssertionError):
                self.wait_for("discreet> ", 5)
                return
        raise AssertionError(self.shown)

    def ended(self):
        _, status = os.waitpid(self.pid, 0)
        os.close(self.end)
        return os.waitstatus_to_exitcode(status)


def test_in_a_terminal_sql_is_completed_planned_agreed_to_and_answered(folder):
    (folder / ".discreet" / "ledger.db").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_STATE", str(folder / "state"))
        Ledger.open(folder / ".discreet" / "ledger.db", create=True, anew=True).close()
    terminal = Terminal(folder)
    terminal.wait_for("discreet> ")
    terminal.type(".epsilon 0.1\r")
    terminal.wait_for("epsilon = 0.1")
    terminal.wait_for("discreet> ")
    terminal.type("SELECT sec\t")
    terminal.wait_for("sector ")
    terminal.type(", COUNT(*) AS n\r")
    terminal.wait_for("...> ")
    terminal.type("FROM people GROUP BY sector;\r")
    assert "Cost: epsilon = 0.1" in terminal.wait_for("Spend it? [y/N]: ")
    terminal.type("n\r")
    terminal.wait_for("Nothing was spent.")
    terminal.wait_for("discreet> ")
    terminal.type("\x1b[A")  # the key that goes back
    terminal.wait_for("GROUP BY sector;")
    terminal.type("\r")
    terminal.wait_for("Spend it? [y/N]: ")
    terminal.type("y\r")
    assert "teaching" in terminal.wait_for("Left: epsilon = 0.9.")
    terminal.wait_for("discreet> ")
    terminal.type("SELECT COUNT(*) AS n FROM people\r")
    terminal.wait_for("...> ")
    terminal.type("\r")  # an empty line ends it, too
    terminal.wait_for("Spend it? [y/N]: ")
    terminal.type("n\r")
    terminal.wait_for("discreet> ")
    terminal.type("SELECT 1 ")
    terminal.wait_for("SELECT 1 ")  # before it is read, Ctrl-C would meet nobody
    terminal.interrupt()  # forgets the line
    terminal.type("\x04")  # Ctrl-D leaves
    assert terminal.ended() == 0
    history = folder / "state" / "shell-history"
    assert "SELECT sector , COUNT(*) AS n FROM people GROUP BY sector;" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0
    assert "\ny\n" not in history.read_text()


def test_statements_from_a_pipe_are_planned_and_with_yes_paid_for(folder):
    text = "SELECT COUNT(*) AS n\nFROM people;\n.budget\nSELECT sexx FROM people;\nSELECT COUNT(*) AS n FROM people"
    said = run("shell", "people.csv", "--epsilon", "0.1", cwd=folder, text=text)
    assert said.stdout.count("Planned only") == 2
    assert "epsilon = 1 " in said.stdout
    assert "Did you mean `sex`?" in said.stderr
    said = run("shell", "people.csv", "--epsilon", "0.1", "--yes", cwd=folder, text=text)
    assert "Left: epsilon = 0.8." in said.stdout


def test_several_tables_are_asked_by_their_names(folder):
    schema = (folder / "discreet.toml").read_text()
    (folder / "others.csv").write_bytes((folder / "people.csv").read_bytes())
    (folder / "others.toml").write_text(schema.replace('name = "people"', 'name = "others"'))
    run("ledger", "open", "--yes", cwd=folder)
    run("ledger", "open", "--schema", "others.toml", "--yes", cwd=folder)
    text = "SELECT COUNT(*) AS n FROM others;"
    said = run("shell", "people.csv", "others.csv", "--epsilon", "0.1", cwd=folder, text=text).stdout
    assert "Plan for 'others'" in said


def test_a_table_of_a_database_is_named_for_one_table_only(folder):
    said = run("shell", "people.csv", "people.csv", "--table", "t", cwd=folder, code=2)
    assert "`--table` must be left out where several tables are named" in said.stderr
