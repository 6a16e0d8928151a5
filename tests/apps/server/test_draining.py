"""SIGTERM to a real server: what runs ends, what waits is done by the next one, and each is charged once."""

import asyncio
import http.client
import json
import os
import shutil
import signal
import socket
import sys
import threading
import time
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import uvicorn

import serving
from discreet.apps.server.draining import Interrupted
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


def test_a_request_that_does_not_end_in_time_is_told_so(caplog):
    begun = threading.Event()

    async def slow(scope, receive, send):
        begun.set()
        await asyncio.sleep(3600)

    how = {"lifespan": "off", "log_config": None, "timeout_graceful_shutdown": 1}
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(Interrupted(slow), **how))
        serves = threading.Thread(target=server.run, args=([listener],))
        serves.start()
        connection = http.client.HTTPConnection(*listener.getsockname(), timeout=60)
        until(lambda: server.started)
        connection.request("POST", "/api/datasets/people/release")
        assert begun.wait(60)
        server.should_exit = True
        told = connection.getresponse()
        body = json.loads(told.read())
        connection.close()
        serves.join()
    assert told.status == 503
    assert body["error"] == "BusyError"
    assert "Ask again, under the same release id" in body["message"]
    assert "Traceback" not in caplog.text


def test_half_an_answer_is_not_gone_on_with():
    async def half(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise asyncio.CancelledError

    async def send(message):
        """To nobody."""

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(Interrupted(half)({"type": "http", "headers": []}, None, send))
