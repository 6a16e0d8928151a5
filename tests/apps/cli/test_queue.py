"""`discreet jobs` and `discreet token cap`, at a terminal, on a ledger of their own."""

import shlex

import pytest

pytest.importorskip("fastapi")
from discreet.apps.cli import main
from discreet.apps.server.job_queue import Queue
from discreet.apps.server.jobs import Job
from discreet.ledger import Budget, Ledger
from discreet.ledger.caps import Caps


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("DISCREET_LEDGER", "DISCREET_SCHEMA", "DISCREET_TOKENS", "DISCREET_SERVER"):
        monkeypatch.delenv(name, raising=False)
    opened = Ledger.open(tmp_path / "books.db", create=True)
    opened.create("people", Budget(epsilon=2), who="carla")
    return opened


def run(line, capsys):
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line)[1:])
    told = capsys.readouterr()
    assert ended.value.code == 0, told.err
    return told.out


def test_jobs_are_listed_and_cancelled(ledger, capsys):
    queue = Queue(ledger)
    queue.pause()
    new = Job("people", "census-2026", "tree", "ann", "why", "waiting", "waiting", None, "", "now", "")
    queue.submit(new, request="", digest="")
    assert "census-2026" in run("discreet jobs list people --ledger books.db", capsys)
    run("discreet jobs cancel people census-2026 --ledger books.db", capsys)
    assert queue.find("people", "census-2026").state == "cancelled"
    assert not ledger.standing("people")[0].spent.amount


def test_a_cap_is_set_and_taken_away(ledger, capsys):
    run("discreet token cap ann --epsilon 0.5/day --why 'a fair share' --ledger books.db", capsys)
    (cap,) = Caps(ledger).listed("people")
    assert (cap.caller, float(cap.amount), cap.period) == ("ann", 0.5, "day")
    run("discreet token cap ann --none --ledger books.db", capsys)
    assert not Caps(ledger).listed("people")
