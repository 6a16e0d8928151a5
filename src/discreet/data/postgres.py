"""Connections to PostgreSQL between two questions: a few stay open, and one that is dead is replaced once.

A connection that is kept remembers nothing of a question: its transactions are read-only, so that not even a temporary
table can be made in them, and it comes back only from a question that went well. What is stated for it, the time zone
and that it only reads, is stated again each time.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from discreet.core.deadline import passed
from discreet.errors import MissingExtraError, Phrase, SourceError

__all__ = ["Address", "Sessions", "sessions"]

IDLE = 8
"""As many as a server lets run at once: no more stay open in a process, for each address."""
AGE = 60.0
"""Seconds that one stays open without a question: a database has few for all who want one."""
_SETTINGS = "SET TimeZone = 'UTC'; SET default_transaction_read_only = on"


class Address(str):
    """Where a database is. It may hold a password, so a traceback that lists variables shows nothing of it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<private postgres>"


class Sessions:
    """Idle connections by their address. One is lent to one question at a time."""

    def __init__(self, most: int = IDLE, age: float = AGE) -> None:
        self._most, self._age = most, age
        self._idle: dict[str, list[tuple[Any, float]]] = {}
        self._guard = threading.Lock()

    @contextmanager
    def lent(self, address: str) -> Iterator[Any]:
        """A backend of ibis for one question."""
        backend = self._kept(address) or _opened(address)
        try:
            yield backend
        except BaseException:  # also when it was stopped: who knows what it was in the middle of
            _close(backend)
            raise
        if not self._keep(address, backend):
            _close(backend)

    def reach(self, address: str) -> None:
        """Have a connection that answers, for the question that follows."""
        with self.lent(address):
            pass

    def idle(self, address: str) -> int:
        """How many connections to an address wait for a question."""
        with self._guard:
            return len(self._idle.get(address, []))

    def _kept(self, address: str) -> Any:
        """One that is there and answers; those that do not are closed: a database that was restarted knows none."""
        while True:
            with self._guard:
                self._end_old()
                waiting = self._idle.get(address)
                backend = waiting.pop()[0] if waiting else None
            if backend is None:
                return None
            try:
                backend.raw_sql(_SETTINGS).close()
            except Exception:
                _close(backend)
            else:
                return backend

    def _keep(self, address: str, backend: Any) -> bool:
        with suppress(Exception), self._guard:
            self._end_old()
            waiting = self._idle.setdefault(address, [])
            at_rest = not backend.con.closed and backend.con.info.transaction_status == 0
            if at_rest and not passed() and len(waiting) < self._most:
                waiting.append((backend, time.monotonic()))
                return True
        return False

    def _end_old(self) -> None:
        now = time.monotonic()
        for waiting in self._idle.values():
            while waiting and now - waiting[0][1] > self._age:
                _close(waiting.pop(0)[0])

    def drain(self) -> None:
        """Close those that are idle."""
        with self._guard:
            self._end()

    def _end(self) -> None:
        for waiting in self._idle.values():
            while waiting:
                _close(waiting.pop()[0])

    def _before_fork(self) -> None:
        """No connection is shared by two processes, and no other thread is to hold the lock meanwhile."""
        self._guard.acquire()
        self._end()

    def _after_fork(self) -> None:
        self._guard.release()


def _opened(address: str) -> Any:
    import ibis

    backend = None
    try:
        backend = ibis.connect(address)
        backend.raw_sql(_SETTINGS).close()
    except ImportError:
        raise MissingExtraError("postgres", "psycopg") from None
    except Exception:
        if backend is not None:
            _close(backend)
        backend = None
    if backend is None:  # outside the handler: an engine's words may hold the address
        hint = "Nothing was spent. Check the address, and that the database is up and has a connection to give."
        raise SourceError("source", Phrase("<private postgres>"), "a database that can be reached", hint)
    return backend


def _close(backend: Any) -> None:
    with suppress(Exception):
        backend.disconnect()


sessions = Sessions()
atexit.register(sessions.drain)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=sessions._before_fork, after_in_parent=sessions._after_fork, after_in_child=sessions._after_fork
    )
