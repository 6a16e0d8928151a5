"""A time limit on a run. When it is reached, what runs is stopped, again and again until it has ended. So is a run that
is cancelled.

>>> passed()
False
>>> with limited(3600), stoppable(lambda: print("stopped")):
...     passed()
False
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

__all__ = ["Deadline", "cancellable", "cancelled", "limited", "passed", "stoppable"]

Stop = Callable[[], None]

_PAUSE = 0.05  # seconds before what was stopped is stopped again: an engine forgets it between two statements
_LONGEST = 1.0  # as the pauses grow

_deadline: ContextVar[Deadline | None] = ContextVar("discreet_deadline", default=None)


class Deadline:
    """The time limit of one run, and how to stop what runs for it now."""

    def __init__(self) -> None:
        self.passed = False
        self.cancelled = False
        self._stops: list[Stop] = []
        self._lock = threading.Lock()
        self._over = threading.Event()

    def reach(self) -> None:
        """Stop the run, until it is over."""
        self.passed = True
        pause = _PAUSE
        while not self._over.is_set():
            with self._lock:  # whoever leaves `stoppable` may be sure that it is stopped no more
                for stop in self._stops:
                    with suppress(Exception):  # an engine that is gone runs nothing
                        stop()
            self._over.wait(pause)
            pause = min(2 * pause, _LONGEST)

    def cancel(self) -> None:
        """Stop the run because somebody asked for that, from a thread of its own."""
        if not self.cancelled:
            self.cancelled = self.passed = True
            threading.Thread(target=self.reach, daemon=True, name="discreet-cancel").start()

    def add(self, stop: Stop) -> None:
        """Have it called when the limit is reached."""
        with self._lock:
            self._stops.append(stop)

    def remove(self, stop: Stop) -> None:
        """Have it called no more."""
        with self._lock:
            self._stops.remove(stop)

    def end(self) -> None:
        """The run is over: there is nothing to stop."""
        self._over.set()


@contextmanager
def limited(seconds: float) -> Iterator[Deadline]:
    """A run of this thread that may take so long."""
    deadline = Deadline()
    timer = threading.Timer(max(seconds, 0.0), deadline.reach)
    timer.daemon = True
    token = _deadline.set(deadline)
    timer.start()
    try:
        yield deadline
    finally:
        deadline.end()
        timer.cancel()
        _deadline.reset(token)


@contextmanager
def cancellable() -> Iterator[Deadline]:
    """A run of this thread that may take as long as it takes, unless it is cancelled."""
    deadline = Deadline()
    token = _deadline.set(deadline)
    try:
        yield deadline
    finally:
        deadline.end()
        _deadline.reset(token)


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """While this lasts, `stop` ends what runs, from another thread, and may be called many times.

    It is called when the time limit of the run is reached, if it has one, and never after this has ended.
    """
    deadline = _deadline.get()
    if deadline is None:
        yield
        return
    deadline.add(stop)
    try:
        yield
    finally:
        deadline.remove(stop)


def cancelled() -> bool:
    """Whether what runs here was cancelled."""
    deadline = _deadline.get()
    return deadline is not None and deadline.cancelled


def passed() -> bool:
    """Whether the time limit of what runs here was reached, or it was cancelled."""
    deadline = _deadline.get()
    return deadline is not None and deadline.passed
