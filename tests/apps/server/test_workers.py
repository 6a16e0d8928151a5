"""Processes of a server: replaced when they die or are told to read their settings again, and let end."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
if sys.platform != "linux":
    pytest.skip("looks for processes in /proc", allow_module_level=True)
from discreet.apps.server import workers
from discreet.apps.server.workers import Workers

PATIENCE = 120.0
PROGRAM = """
import os, socket, sys
from discreet.apps.server.timeouts import Timeouts
from discreet.apps.server.workers import Workers

def note(event, **values):
    print(event, *(f"{name}={value}" for name, value in values.items()), flush=True)

def gone(process):
    note("gone", process=process)

if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    number, drain = int(sys.argv[1]), float(sys.argv[2])
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    how = dict(app="answering:made", factory=True, log_level="critical", http=Timeouts)
    crew = Workers(number, {**how, "timeout_graceful_shutdown": int(drain)}, listener, note, drain)
    crew.gone = gone
    sys.exit(0 if crew.run() else 7)
"""
APP = """
import asyncio, os, pathlib

def made():
    said = pathlib.Path("says").read_text()
    if said == "broken":
        raise RuntimeError(said)

    async def app(scope, receive, send):
        if scope["type"] != "http":
            return
        if scope["path"] == "/slow":
            pathlib.Path("begun").touch()
            while not pathlib.Path("over").exists():
                await asyncio.sleep(0.05)
        if scope["path"] == "/renew":
            from discreet.apps.server.workers import renew
            renew()
        body = f"{os.getpid()} {said}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
        await send({"type": "http.response.body", "body": body})

    return app
"""


class Crew:
    """A server of so many processes, and what it noted."""

    def __init__(self, folder: Path, number: int, drain: float) -> None:
        (folder / "answering.py").write_text(APP)
        (folder / "program.py").write_text(PROGRAM)
        (folder / "says").write_text("one")
        line = [sys.executable, "program.py", str(number), str(drain)]
        self.child = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.port = int(self.child.stdout.readline())
        self.noted: list[str] = []
        self.reader = threading.Thread(target=lambda: self.noted.extend(map(str.strip, self.child.stdout)), daemon=True)
        self.reader.start()

    def ask(self, path: str = "/") -> tuple[int, str]:
        """Which process answered, and what it says; over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            process, said = connection.getresponse().read().decode().split()
        finally:
            connection.close()
        return int(process), said

    def serves(self, processes: int = 1) -> set[int]:
        """The processes that answer, once there are so many."""
        found: set[int] = set()

        def enough():
            try:
                found.add(self.ask()[0])
            except OSError:
                return False
            return len(found) >= processes

        until(enough)
        return found

    def end(self) -> int:
        """Its exit code, once it was told to stop and everything it noted was read."""
        self.child.terminate()
        code = self.child.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code


def until(met) -> None:
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def crew(folder, number, drain=5.0):
    made = Crew(folder, number, drain)
    try:
        yield made
    finally:
        with suppress(ProcessLookupError):
            os.killpg(made.child.pid, signal.SIGKILL)
        made.child.wait(PATIENCE)
        made.reader.join(PATIENCE)
        made.child.stdout.close()


def test_one_process_is_replaced_on_a_hangup_without_a_request_that_is_lost(tmp_path):
    with crew(tmp_path, 1) as server:
        (first,) = server.serves()
        heard, over = [], threading.Event()

        def keep_asking():
            while not over.is_set():
                heard.append(server.ask())

        asking = threading.Thread(target=keep_asking)
        asking.start()
        (tmp_path / "says").write_text("two")
        server.child.send_signal(signal.SIGHUP)
        until(lambda: heard and heard[-1][1] == "two")
        over.set()
        asking.join()
        assert {words for _, words in heard} == {"one", "two"}  # an error would have ended the thread before
        assert first not in {process for process, words in heard if words == "two"}
        until(lambda: not alive(first))
        assert server.ask()[1] == "two"
        assert server.end() == 0
    assert server.noted.index("reload") < server.noted.index("reloaded") < server.noted.index("stopping")
    assert not [line for line in server.noted if line.startswith("died")]


def test_what_a_process_has_begun_ends_and_keeps_no_other_from_reading_its_settings(tmp_path):
    with crew(tmp_path, 2, drain=PATIENCE) as server:
        server.serves(2)
        slow = []
        asking = threading.Thread(target=lambda: slow.append(server.ask("/slow")))
        asking.start()
        until((tmp_path / "begun").exists)
        (tmp_path / "says").write_text("two")
        server.child.send_signal(signal.SIGHUP)
        until(lambda: "reloaded" in server.noted)
        until(lambda: {server.ask()[1] for _ in range(20)} == {"two"})  # the old one takes nothing new
        assert not slow
        (tmp_path / "over").touch()
        asking.join()
        assert slow[0][1] == "one"
        assert server.end() == 0


def test_a_process_that_dies_is_replaced_and_that_is_noted(tmp_path):
    with crew(tmp_path, 1) as server:
        (first,) = server.serves()
        os.kill(first, signal.SIGKILL)
        (second,) = server.serves()
        assert second != first
        assert server.end() == 0
    assert f"died process={first} signal=9" in server.noted
    assert f"gone process={first}" in server.noted


def test_settings_that_no_process_can_use_leave_those_that_serve(tmp_path):
    with crew(tmp_path, 2) as server:
        before = server.serves(2)
        (tmp_path / "says").write_text("broken")
        server.child.send_signal(signal.SIGHUP)
        until(lambda: "reload failed" in server.noted)
        assert {server.ask()[0] for _ in range(20)} <= before
        assert server.end() == 0


def test_a_process_that_asks_for_it_is_replaced(tmp_path):
    with crew(tmp_path, 1) as server:
        first, _ = server.ask("/renew") if server.serves() else (0, "")
        until(lambda: "reloaded" in server.noted)
        assert server.ask()[0] != first
        assert server.end() == 0


def test_a_server_that_never_served_says_so_instead_of_trying_for_ever(tmp_path):
    with crew(tmp_path, 1) as server:
        server.child.send_signal(signal.SIGSTOP)  # until its settings are broken
        (tmp_path / "says").write_text("broken")
        server.child.send_signal(signal.SIGCONT)
        until(lambda: server.child.poll() is not None)
        served = any(line.startswith("reload") for line in server.noted)
        assert server.child.returncode == 7
        assert not served


def test_processes_end_when_nobody_watches_over_them(tmp_path):
    with crew(tmp_path, 2) as server:
        both = server.serves(2)
        os.kill(server.child.pid, signal.SIGKILL)
        until(lambda: not any(map(alive, both)))


def test_an_interrupt_from_a_terminal_reaches_all_processes_and_counts_once(tmp_path):
    with crew(tmp_path, 1, drain=PATIENCE) as server:
        server.serves()
        answered = []
        asking = threading.Thread(target=lambda: answered.append(server.ask("/slow")))
        asking.start()
        until((tmp_path / "begun").exists)
        os.killpg(server.child.pid, signal.SIGINT)
        until(lambda: "stopping" in server.noted)
        (tmp_path / "over").touch()
        asking.join()
        assert answered
        assert server.child.wait(PATIENCE) == 0


def test_one_that_hangs_is_killed_and_replaced(monkeypatch):
    noted, ended = [], []

    class Stuck:
        exitcode, pid = None, 5

        def kill(self):
            self.exitcode = -9

        def join(self):
            ended.append(self.pid)

    class Silent:
        def poll(self):
            return False

        def send_bytes(self, said):
            """Nobody reads it."""

        def close(self):
            """Nothing is open."""

    monkeypatch.setattr(workers, "WORKER_PATIENCE", 0.0)
    with socket.socket() as listener:
        made = Workers(1, {}, listener, lambda event, **values: noted.append(event))
        made._served = True
        made._serving = [workers._Worker(Stuck(), Silent(), ready=True)]
        fresh = workers._Worker(Stuck(), Silent())
        monkeypatch.setattr(made, "_started", lambda: fresh)
        while made._watch() and not ended:
            time.sleep(0.01)
    assert noted == ["hangs", "died"]
    assert made._serving == [fresh]
    assert made.deaths == 1
