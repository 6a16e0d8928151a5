"""SIGTERM to a real server: what runs ends, what waits is done by the next one, and each is charged once."""

import os
import shutil
import signal
import sys
import time
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import serving
from discreet.apps.server.job_queue import Queue
from discreet.apps.server.tokens import Tokens
from discreet.ledger.ledger import Ledger

JOBS = 5
PRICE = Fraction(1, 20)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_server_that_is_stopped_leaves_no_job_half_done(tmp_path):
    shipped = Path(str(files("discreet.apps.demo")))
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(shipped / name, tmp_path / name)
    books = Ledger.open(tmp_path / "books.db", create=True)
    token = Tokens(tmp_path / "tokens.db").create("ann", "analyst")
    words = [tmp_path / "people.csv", "--schema", tmp_path / "discreet.toml", "--drain", "5m"]
    words += ["--ledger", tmp_path / "books.db", "--tokens", tmp_path / "tokens.db"]
    server, queue = serving.Server(tmp_path, *words), Queue(books)

    async def send(client):
        for number in range(JOBS):
            body = {"columns": ["age", "sex"], "epsilon": str(PRICE), "release": f"rows{number}"}
            assert (await client.ask("/api/datasets/people/synth/release", body))[0] == 202

    with server:
        serving.together(server.port, [token], send)
        os.kill(server.pid, signal.SIGTERM)
        until(lambda: not server._processes())
        states = [one.state for one in queue.listed("people")]
        assert set(states) <= {"done", "waiting"}
        assert sum(one.kind == "charge" for one in books.records("people")) == states.count("done")
        server._told("reap", str(server.pid))
        server.start()
        until(lambda: all(one.state == "done" for one in queue.listed("people")))
    assert books.standing("people")[0].spent.amount == JOBS * PRICE
    assert books.verify().ok


def until(true):
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
