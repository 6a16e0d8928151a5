"""Following a ledger: every record once, in order, from a position; what comes later comes later."""

import json
import os
import signal
import subprocess
import sys

import pytest

from discreet import Budget
from discreet.core.loss import Pure
from discreet.ledger.follow import events_after, follow
from discreet.ledger.ledger import Ledger


@pytest.fixture(name="ledger")
def ledger_fixture(tmp_path):
    ledger = Ledger.open(tmp_path / "b.db", create=True)
    ledger.create("visits", Budget(10), who="carla")
    return ledger


def spend(ledger, number):
    ledger.spend("visits", Pure("0.1"), release=f"r{number}", who="bob", digest="d", query={"secret": "question"})
    ledger.answer(f"r{number}", '{"secret": "answer"}', who="bob")


def test_what_comes_while_it_follows_comes_once_and_in_order(ledger):
    waits = []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) > 3:
            raise KeyboardInterrupt
        spend(ledger, len(waits))

    found = []

    def read():
        for event in follow(ledger, 0, every=0.5, wait=wait):
            found.append(event)  # noqa: PERF402  (what came before it was stopped)

    with pytest.raises(KeyboardInterrupt):
        read()
    assert [one["sequence"] for one in found] == list(range(1, ledger.head().sequence + 1))
    assert [one["kind"] for one in found].count("charge") == 3
    assert "secret" not in json.dumps(found)
    assert found[-1]["hash"] == ledger.head().hash
    assert [one["sequence"] for one in events_after(ledger, 4)] == [one["sequence"] for one in found[4:]]


def test_a_run_that_was_killed_goes_on_where_it_stopped(ledger, tmp_path):
    spend(ledger, 1)
    position = tmp_path / "position"
    command = [sys.executable, "-m", "discreet", "ledger", "follow", "--ledger", str(tmp_path / "b.db")]
    command += ["--json", "--position", str(position)]
    whole = [one["sequence"] for one in events_after(ledger, 0)]
    with subprocess.Popen([*command, "--every", "0.1"], stdout=subprocess.PIPE, text=True) as running:
        lines = [json.loads(running.stdout.readline()) for _ in whole]
        assert [one["sequence"] for one in lines] == whole
        spend(ledger, 2)
        assert json.loads(running.stdout.readline())["kind"] == "charge"
        os.kill(running.pid, signal.SIGKILL)
        left = running.stdout.read().count("\n")
    printed = whole[-1] + 1 + left
    spend(ledger, 3)
    told = subprocess.run([*command, "--once"], capture_output=True, text=True, check=True, timeout=120)
    rest = [json.loads(line)["sequence"] for line in told.stdout.splitlines()]
    end = ledger.head().sequence
    assert rest[-1] == end
    assert rest == list(range(rest[0], end + 1))
    assert rest[0] in (printed, printed + 1)  # nothing is left out, and the last line may come twice
    again = subprocess.run([*command, "--once"], capture_output=True, text=True, check=True, timeout=120)
    assert again.stdout == ""


def test_a_reason_of_several_lines_is_one_line(ledger, tmp_path):
    from typer.testing import CliRunner

    from discreet.apps.cli import app
    from discreet.ledger.follow import record_changes

    why = "rent\n9 2026-01-01T00:00:00Z charge visits by carla\r\u2028\u202e\x1b[2J"
    ledger.spend("visits", Pure("0.1"), release="r1", who="bob", why=why, digest="d", query={})
    change = {"number": 1, "about": "token", "subject": "eve", "what": "made, as custodian", "why": ""}
    record_changes(ledger, [("carla", change)])
    command = ["ledger", "follow", "--once", "--ledger", str(tmp_path / "b.db")]
    shown = CliRunner().invoke(app, command).stdout
    lines = shown.splitlines()
    assert [line.split(" ")[0] for line in lines] == [str(one["sequence"]) for one in events_after(ledger, 0)]
    (charge,) = [line for line in lines if " charge " in line and " r1 " in line]
    assert charge.endswith(r"by bob: rent\n9 2026-01-01T00:00:00Z charge visits by carla\r\u2028\u202e\x1b[2J")
    assert lines[-1].endswith("custody * token eve made, as custodian by carla")
