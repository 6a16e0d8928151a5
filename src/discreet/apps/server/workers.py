"""The processes of a server: started, watched over, replaced when they die or are to read their settings again.

The process that was started answers nobody. It holds the address, so that connections wait for a moment instead of
being refused, and says what happens to the others: in the log, and as figures.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Protocol

import uvicorn

from discreet.errors import DiscreetError

__all__ = ["WORKER_PATIENCE", "Workers", "renew"]

WORKER_PATIENCE = 60.0
"""Seconds in which a worker must answer the process that watches over it, or it is killed and another is started."""

_LOADING = 300.0  # seconds in which a worker must begin to: on a busy machine its libraries take their time
_TICK = 0.1
_LOOK = 2.0  # seconds between two looks at a worker that serves
_LEAST, _MOST = 1.0, 30.0  # seconds until another is started where workers die before they serve
_GRACE = 10.0  # seconds beyond the drain after which a worker that does not end is killed

_renewal = threading.Event()


def renew() -> None:
    """Of a worker: ask to be replaced by one that opens everything anew."""
    _renewal.set()


class Note(Protocol):
    """What writes an event to the log."""

    def __call__(self, event: str, **values: str | int) -> None: ...


@dataclass
class _Worker:
    """A process, seen from the one that watches over it."""

    process: Any
    pipe: Connection
    ready: bool = False
    renew: bool = False
    asked: float | None = None
    """Since when it owes an answer."""
    looked: float = 0.0

    def look(self) -> None:
        """Hear what it answered, and ask again."""
        now = time.monotonic()
        try:
            while self.asked is not None and self.pipe.poll():
                self.ready, self.renew = self.pipe.recv()
                self.asked = None
            if self.asked is None and (not self.ready or now - self.looked >= _LOOK):
                self.looked = self.asked = now
                self.pipe.send_bytes(b"?")
        except (OSError, EOFError):  # it ends: its exit code tells
            return

    @property
    def ended(self) -> bool:
        """Whether the process is no more."""
        return self.process.exitcode is not None

    @property
    def hangs(self) -> bool:
        """Whether it owes an answer for too long."""
        patience = WORKER_PATIENCE if self.ready else _LOADING
        return self.asked is not None and time.monotonic() - self.asked > patience

    def terminate(self) -> None:
        """Let it end what it has begun."""
        if not self.ended:
            self.process.terminate()


@dataclass
class Workers:
    """So many processes on one address. `how` is what each of them gives uvicorn; `drain` seconds are theirs to end."""

    number: int
    how: dict[str, Any]
    listener: socket.socket
    note: Note
    drain: float = 5.0
    gone: Callable[[int], None] = lambda process: None
    """Told of each process that has ended, by its number."""
    died: Callable[[int], None] = lambda deaths: None
    """Told how many processes have died so far, other than by being replaced or stopped."""
    deaths: int = 0
    _serving: list[_Worker] = field(default_factory=list)
    _retired: list[_Worker] = field(default_factory=list)
    _next: _Worker | None = None
    _turn: list[_Worker] = field(default_factory=list)
    """Those that are still to be replaced in a reload."""
    _signals: list[int] = field(default_factory=list)
    _pause: float = _LEAST
    _begin: float = 0.0
    """When the next process may be started."""
    _served: bool = False
    """Whether any process ever served."""
    _failed: bool = False

    def run(self) -> bool:
        """Until stopped; False where no process could begin to serve."""
        told = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        before = {number: signal.signal(number, self._hear) for number in told}
        try:
            while self._watch():
                time.sleep(_TICK)
            self._stop()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            for one in self._all:
                one.process.kill()
        return not self._failed

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)

    def _watch(self) -> bool:
        """One look at everything; whether to go on."""
        reload = False
        while self._signals:
            if self._signals.pop(0) in (signal.SIGINT, signal.SIGTERM):
                return False
            reload = True
        for one in self._all:
            one.look()
            if one.hangs:
                self.note("hangs", process=one.process.pid)
                one.process.kill()
                one.process.join()
        if not self._bury():
            return False
        while len(self._serving) < self.number and time.monotonic() >= self._begin:
            self._serving.append(self._started())
        if any(one.ready for one in self._serving):
            self._served, self._pause = True, _LEAST
        if (reload or any(one.renew for one in self._serving)) and not self._turn:
            self._turn = list(self._serving)
            for one in self._turn:
                one.renew = False
            self.note("reload")
        self._replace()
        return True

    def _bury(self) -> bool:
        """Put away what has ended; whether to go on."""
        for one in [one for one in self._all if one.ended]:
            self.gone(one.process.pid)
            one.pipe.close()
            if one in self._retired:
                self._retired.remove(one)
                continue
            code = one.process.exitcode
            self.deaths += 1
            self.died(self.deaths)
            self.note("died", process=one.process.pid, **({"signal": -code} if code < 0 else {"code": code}))
            if one is self._next:  # those that serve go on
                self._next, self._turn = None, []
                self.note("reload failed")
                continue
            self._serving.remove(one)
            if not self._served and code >= 0:
                self._failed = True  # it could not begin, nor could the next one: whoever started the server is told
                return False
            if not one.ready:
                self._begin, self._pause = time.monotonic() + self._pause, min(2 * self._pause, _MOST)
        return True

    def _replace(self) -> None:
        """The next step of a reload: a new process serves before an old one is told to end.

        Nobody waits for the old one: what the settings now forbid, the others must not go on to allow.
        """
        if self._next is not None and self._next.ready:
            old = self._turn.pop(0)
            if old in self._serving:
                self._serving.remove(old)
                self._retired.append(old)
                old.terminate()
            self._serving.append(self._next)
            self._next = None
            if not self._turn:
                self.note("reloaded")
        if self._turn and self._next is None:
            self._next = self._started()

    def _started(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self.how, self.listener, theirs))
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _stop(self) -> None:
        """Let all of them end. A second signal waits for nothing."""
        self.note("stopping")
        for one in self._all:
            if one not in self._retired:  # those were told: a second time would be impatience
                one.terminate()
        end = time.monotonic() + self.drain + _GRACE
        while any(not one.ended for one in self._all):
            if self._signals:
                self._signals.clear()
                for one in self._all:
                    one.terminate()
            if time.monotonic() > end:
                break
            time.sleep(_TICK)
        self.note("stopped")

    @property
    def _all(self) -> list[_Worker]:
        return [*self._serving, *self._retired, *([] if self._next is None else [self._next])]


def _work(how: dict[str, Any], listener: socket.socket, pipe: Connection) -> None:
    """What a worker does."""
    if hasattr(signal, "pthread_sigmask"):  # a terminal interrupts all processes: the one that watches passes it on
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    server = uvicorn.Server(uvicorn.Config(**how))
    threading.Thread(target=_answer, args=(server, pipe), daemon=True).start()
    try:
        server.run([listener])
    except DiscreetError as problem:
        sys.exit(f"discreet: {problem}")
    if not server.started:
        sys.exit(1)


def _answer(server: uvicorn.Server, pipe: Connection) -> None:
    try:
        while pipe.recv_bytes():
            pipe.send((server.started, _renewal.is_set()))
    except (OSError, EOFError):  # nobody watches any more: what is begun ends, and nothing else begins
        os.kill(os.getpid(), signal.SIGTERM)
