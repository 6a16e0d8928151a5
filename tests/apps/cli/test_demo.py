"""How the demonstration ends: with an offer to go on in a browser, which never waits where nobody can answer."""

import io
import json
import os
import pty
import re
import sys
from contextlib import closing

import pytest
from shell import run

from discreet.apps.cli import demo
from discreet.apps.cli.demo_story import REPORTS, SURVEY
from discreet.apps.demo.folder import FILES, lay_out
from discreet.errors import MissingExtraError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger


class Terminal(io.StringIO):
    """What is typed, or shown, on a terminal."""

    def isatty(self):
        return True


def test_where_nobody_can_answer_the_command_is_named(monkeypatch, capsys):
    pytest.importorskip("fastapi")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    demo.demo()
    assert capsys.readouterr().out.rstrip().endswith("The same in a browser: discreet demo --serve")


def told_on_a_terminal(answer):
    """What a terminal shows when the demonstration runs in it and `answer` is typed at the end."""
    pid, terminal = pty.fork()
    if pid == 0:
        kept = {name: value for name, value in os.environ.items() if name != "CI"}
        os.execve(sys.executable, [sys.executable, "-m", "discreet", "demo"], kept)
    shown = b""
    try:
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
            if b"[y/N]" in shown and answer:
                os.write(terminal, answer)
                answer = b""
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return shown.decode()


def test_on_a_terminal_it_asks_and_no_is_no():
    pytest.importorskip("fastapi")
    shown = told_on_a_terminal(b"n\n")
    assert "Look at it in a browser" in shown
    assert "Open http" not in shown


def test_on_a_terminal_of_a_build_it_asks_nothing(monkeypatch):
    pytest.importorskip("fastapi")
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.delenv("CI", raising=False)
    assert demo._wanted()
    assert "[y/N]" in shown.getvalue()
    shown.truncate(0)
    monkeypatch.setenv("CI", "true")
    assert not demo._wanted()
    assert "The same in a browser: discreet demo --serve" in shown.getvalue()
    assert "[y/N]" not in shown.getvalue()


def test_without_the_extra_the_command_to_install_it_is_named(monkeypatch, capsys):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'discreet\[server\]'"):
        demo.demo(serve=True)
    assert demo._wanted() is False
    assert "pip install 'discreet[server]'" in capsys.readouterr().out


def test_the_demo_tells_its_story_and_can_be_gone_on_with(tmp_path):
    out = run("demo", "--folder", "shop", cwd=tmp_path).stdout
    assert "Refused: The budget of 'people' does not cover this" in out
    for told in ("Refused: The budget of 'people' does not cover this", "models: epsilon = 1, delta = 1e-6 left"):
        assert told in out
    left = json.loads(run("ledger", "show", "--ledger", "shop/.discreet/ledger.db", "--json", cwd=tmp_path).stdout)
    paid = {(one["dataset"], one["allotment"], one["release"]): one["amount"] for one in left["charges"]}
    assert set(paid) == {
        ("people", "questions", "ages"),
        ("people", "questions", "pay"),
        ("people", "questions", "schooling"),
        ("visits", "questions", "wards"),
        ("visits", "publications", "counties"),
        ("visits", "publications", "rows"),
    }
    assert paid["visits", "publications", "rows"] == "7/10"
    made = {path.name for path in (tmp_path / "shop").iterdir()}
    assert {*FILES, "counties.html", "rows.csv", SURVEY, REPORTS} <= made

    again = run("demo", "--folder", "shop", cwd=tmp_path).stdout  # told once more, it spends nothing
    assert "paid earlier: nothing was spent now" in again
    records = re.findall(r"(\d+) records, 0 problems", out + again)
    assert len(records) == 2
    assert len(set(records)) == 1

    # The same once the budget was raised, as `--serve` does.
    with closing(Ledger.open(tmp_path / "shop" / ".discreet" / "ledger.db")) as ledger:
        ledger.raise_budget("people", Budget(3), who="demo", why="to go on")
    schema = tmp_path / "shop" / "discreet.toml"
    schema.write_text(schema.read_text().replace("epsilon = 1.0", "epsilon = 3.0"))
    raised = run("demo", "--folder", "shop", cwd=tmp_path).stdout
    assert "Refused: The budget of 'people' does not cover this: it costs epsilon = 3" in raised
    assert int(re.findall(r"(\d+) records, 0 problems", raised)[0]) == int(records[0]) + 1  # the raise alone


def test_the_invented_visits_are_as_the_story_says(tmp_path):
    lay_out(tmp_path)
    lines = (tmp_path / "visits.csv").read_text().splitlines()[1:]
    assert len(lines) == 4369
    assert len({line.partition(",")[0] for line in lines}) == 3000


def test_a_file_that_is_there_already_stays(tmp_path):
    (tmp_path / "discreet.toml").write_text("mine")
    lay_out(tmp_path)
    assert (tmp_path / "discreet.toml").read_text() == "mine"
