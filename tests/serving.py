"""A real server in a process of its own, and a crowd of clients that speak to it: for tests and the benchmark.

`python serving.py` is a process that has loaded everything and starts servers when it is told to, by forking: one that
was killed is back within a moment.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from servers import free_port

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def launcher() -> subprocess.Popen:
    """The process that starts servers: one for each process of tests, and each place that guards lie at."""
    return _launcher(os.environ.get("DISCREET_STATE"))


@functools.cache
def _launcher(state: str | None) -> subprocess.Popen:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, __file__], **pipes)
    atexit.register(_end, process)
    if process.stdout.readline() != "ready\n":
        raise RuntimeError("the launcher did not start")
    return process


def _end(process: subprocess.Popen) -> None:
    with process:
        process.stdin.close()
        process.wait(10)


class Server:
    """`discreet serve` on this machine. `with` starts and ends it; on the way it may be killed and started again."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.port, self.log, self.pid = free_port(), folder / "serve.log", 0
        self.arguments = ["serve", *map(str, arguments), "--port", str(self.port)]

    def start(self) -> Server:
        """A server that answers."""
        self.pid = int(self._told("start", str(self.log), *self.arguments))
        end = time.monotonic() + 600  # the machine may be busy
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                if time.monotonic() > end or not self._runs():
                    raise RuntimeError(self.log.read_text()) from None
                time.sleep(0.02)
            else:
                return self

    def said(self, words: str) -> str:
        """All that it has said, once that holds the words: some of it comes after the first answer."""
        end = time.monotonic() + 600
        while words not in (text := self.log.read_text()):
            if time.monotonic() > end or not self._runs():
                raise RuntimeError(text)
            time.sleep(0.02)
        return text

    def kill(self) -> None:
        """SIGKILL, to it and its workers: no handler, no farewell."""
        os.killpg(self.pid, signal.SIGKILL)
        self._told("reap", str(self.pid))
        self.pid = 0

    def _told(self, *words: str) -> str:
        process = launcher()
        process.stdin.write(json.dumps(words) + "\n")
        process.stdin.flush()
        return process.stdout.readline()

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *problem: object) -> None:
        if self.pid:
            self.kill()

    def _runs(self) -> bool:
        """Whether its first process lives: one file, where to look for its workers is to read one of every process."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def _processes(self) -> list[int]:
        """The server and its workers: all of its session that live."""
        found = []
        for one in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it ended meanwhile
                state, _, _, session, *_ = one.read_text().rpartition(")")[2].split()
                if int(session) == self.pid and state != "Z":
                    found.append(int(one.parent.name))
        return found

    def megabytes(self) -> float:
        """The memory it holds now."""
        pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._processes())
        return sum(pages) * PAGE / 2**20

    def cpu(self) -> float:
        """The seconds of CPU it has used."""
        stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self._processes())
        return sum(int(one[11]) + int(one[12]) for one in stats) / TICKS


class Client:
    """One caller: a token and a connection that stays open. Far lighter than a library: it shares the cores."""

    def __init__(self, port: int, token: str, name: str = "") -> None:
        self.port, self.token, self.name = port, token, name
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """Status and JSON of an answer; `OSError` or `EOFError` if there is none."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        told = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nhost: localhost\r\n"
        head += f"authorization: Bearer {self.token}\r\ncontent-type: application/json\r\n"
        try:
            self.writer.write(f"{head}content-length: {len(told)}\r\n\r\n".encode() + told)
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines if line)
            found = await self.reader.readexactly(int(headers["content-length"]))
        except BaseException:
            self.close()
            raise
        if headers.get("connection") == "close":
            self.close()
        return int(first.split()[1]), json.loads(found)

    def close(self) -> None:
        """Hang up."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


def together(port: int, tokens: list[str], work: Callable[[Client], Awaitable[None]]) -> None:
    """`work` for a client of each token, all at once."""

    async def one(number: int, token: str) -> None:
        client = Client(port, token, str(number))
        try:
            await work(client)
        finally:
            client.close()

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for number, token in enumerate(tokens):
                group.create_task(one(number, token))

    asyncio.run(all_of_them())


def _launch() -> None:
    """Load what a server needs, then fork one whenever told to."""
    import fastapi  # noqa: F401
    import ibis.backends.duckdb  # noqa: F401
    import uvicorn  # noqa: F401

    import discreet.apps.server.app  # noqa: F401
    from discreet.apps.cli import main

    if threading.active_count() > 1:
        raise RuntimeError("a process with threads must not fork")
    print("ready", flush=True)
    living: set[int] = set()
    for line in sys.stdin:
        match json.loads(line):
            case ["start", log, *arguments]:
                if (pid := os.fork()) == 0:
                    os.setsid()
                    for number, (place, how) in enumerate([(os.devnull, "r"), (log, "a"), (log, "a")]):
                        with Path(place).open(how) as file:
                            os.dup2(file.fileno(), number)
                    main(arguments)
                living.add(pid)
                while os.getsid(pid) != pid:  # only from then on can it be found and killed by its session
                    time.sleep(0.001)
                print(pid, flush=True)
            case ["reap", pid]:
                living.discard(int(pid))
                print(os.waitpid(int(pid), 0)[1], flush=True)
    for pid in living:  # whoever started them is gone
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    _launch()
