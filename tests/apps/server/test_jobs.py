"""Long jobs: so many at once, watched, interrupted when their process dies, and charged once."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
import time
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.tokens import Caller, Tokens
from discreet.errors import BusyError, InputError, RunError
from discreet.ledger.ledger import Ledger

ANN = Caller("ann", "analyst")


def test_only_so_many_run_and_so_many_wait(tmp_path):
    jobs = Jobs(tmp_path / "jobs.db", most=1, waiting=2)
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(report):
        report("measuring", 0.25)
        running.release()
        assert gate.wait(600)

    jobs.start(ANN, "d", "tree", "one", "", work, digest="x")
    assert running.acquire(timeout=600)
    assert (jobs.find("d", "one").state, jobs.find("d", "one").stage, jobs.find("d", "one").progress) == (
        "running",
        "measuring",
        0.25,
    )
    assert jobs.start(ANN, "d", "tree", "one", "", work, digest="x").state == "running"
    with pytest.raises(InputError, match="is running"):
        jobs.start(ANN, "d", "tree", "one", "", work, digest="y")
    for name in ("two", "three"):
        assert jobs.start(ANN, "d", "tree", name, "", work).state == "waiting"
    with pytest.raises(BusyError, match="Nothing was spent"):
        jobs.start(ANN, "d", "tree", "four", "", work)
    gate.set()
    for name in ("two", "three"):
        until(lambda name=name: jobs.find("d", name).state == "done")
    assert [job.release for job in jobs.listed("d")] == ["three", "two", "one"]


def test_a_new_stage_is_told_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.apps.server.jobs._PAUSE", 1e9)  # within a stage, notes may wait
    jobs = Jobs(tmp_path / "jobs.db")
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(report):
        for stage, done in (("measuring", 0.1), ("measuring", 0.2), ("fitting", 0.5), ("fitting", 0.6)):
            report(stage, done)
        running.release()
        assert gate.wait(600)

    jobs.start(ANN, "d", "tree", "one", "", work)
    assert running.acquire(timeout=600)
    assert (jobs.find("d", "one").stage, jobs.find("d", "one").progress) == ("fitting", 0.5)
    gate.set()
    until(lambda: jobs.find("d", "one").over)


def until(true, seconds=600):
    for _ in range(int(seconds / 0.02)):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("not in time")


def test_what_goes_wrong_in_a_job_is_not_told(tmp_path):
    jobs = Jobs(tmp_path / "jobs.db")

    def broken(report):
        raise ValueError("Xyzzy-7431")

    def failed(report):
        raise RunError("Its cost stays spent.", release="two")

    jobs.start(ANN, "d", "tree", "one", "", broken)
    jobs.start(ANN, "d", "tree", "two", "", failed)
    until(lambda: all(job.state == "failed" for job in jobs.listed("d")))
    assert jobs.find("d", "one").problem == "something went wrong"
    assert jobs.find("d", "two").problem == "Its cost stays spent."
    assert b"Xyzzy" not in (tmp_path / "jobs.db").read_bytes()


_KILLED = """
import sys, threading, os
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.tokens import Caller
jobs, begun = Jobs(sys.argv[1]), threading.Event()
def work(report):
    report("measuring", None)
    begun.set()
    threading.Event().wait()
for name in ("lost", "kept"):
    begun.clear()
    jobs.start(Caller("ann", "analyst"), "d", "tree", name, "", work)
    begun.wait()
print("ready", flush=True)
sys.stdin.read()
os._exit(9)
"""


def test_the_jobs_of_a_process_that_died_are_interrupted(tmp_path):
    path = tmp_path / "jobs.db"
    child = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    jobs = Jobs(path)
    jobs.settled = lambda dataset, release: release == "kept"  # its answer was on the books when it died
    assert [job.state for job in jobs.listed("d")] == ["running", "running"]
    os.kill(child.pid, 9)
    child.communicate()
    assert (jobs.find("d", "lost").state, jobs.find("d", "kept").state) == ("interrupted", "done")
    assert "charged once" in jobs.find("d", "lost").problem
    jobs.start(ANN, "d", "tree", "lost", "", lambda report: None)
    until(lambda: jobs.find("d", "lost").state == "done")
    held = f"jobs.db.{jobs._liveness.name}"  # the lock of a process that died is cleared away
    assert [one.name for one in tmp_path.glob("jobs.db.*") if one.name != held] == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_server_killed_in_the_middle_of_a_job_charges_once(tmp_path):
    """kill -9 as soon as the job is begun; the same id again on the next server is the same charge."""
    import serving

    shipped = Path(str(files("discreet.apps.demo")))
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(shipped / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    token = Tokens(tmp_path / "discreet-tokens.db").create("ann", "analyst")
    body = {"columns": ["age", "sex"], "epsilon": "1/2", "release": "rows"}
    words = [tmp_path / "people.csv", "--schema", tmp_path / "discreet.toml"]
    words += ["--ledger", tmp_path / ".discreet" / "ledger.db", "--tokens", tmp_path / "discreet-tokens.db"]
    with serving.Server(tmp_path, *words) as server:

        def asked(path, body=None):
            async def once():
                caller = serving.Client(server.port, token)
                try:
                    return await caller.ask(f"/api/datasets/people/{path}", body)
                finally:
                    caller.close()

            return asyncio.run(once())

        status, job = asked("synth/release", body)
        assert (status, job["state"]) == (202, "waiting")
        server.kill()
        server.start()
        assert asked("jobs/rows")[1]["state"] in ("waiting", "running", "done")  # it goes on, though nobody asks again
        until(lambda: asked("jobs/rows")[1].get("state") == "done", 120)  # or too often
        until(lambda: asked("synth/rows")[1].get("columns") == ["age", "sex"], 120)
    books = Ledger.open(tmp_path / ".discreet" / "ledger.db")
    assert [str(one.spent.amount) for one in books.standing("people")] == ["1/2"]
    assert books.verify().ok
