"""How long work tells what it is doing. A library prints nothing, but for a line or a bar where nobody listens.

>>> heard = []
>>> with listening(lambda stage, done: heard.append((stage, done))):
...     notify("counting")
...     notify("solving", 0.5)
>>> notify("nobody hears this")
>>> heard
[('counting', None), ('solving', 0.5)]
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TextIO

__all__ = ["Display", "Listener", "listening", "notify", "showing", "time_left"]

Listener = Callable[[str, float | None], None]

_WIPE = "\r\x1b[2K"

_listener: ContextVar[Listener | None] = ContextVar("discreet_progress", default=None)


def notify(stage: str, done: float | None = None) -> None:
    """Say which stage work is in, and how much of it is done (0 to 1) where that is known."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear what the work inside tells."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def showing(stream: TextIO | None = None, *, patience: float | None = None) -> Iterator[None]:
    """Show what the work inside tells, once it has taken a while: as a bar in a notebook, as a line on a terminal.

    The line is wiped when the work is over; the bar becomes a line that says how long it took. Only where nobody
    listens, and in the main thread: a server's jobs run beside it.
    """
    display = _display(stream)
    if display is None:
        yield
        return
    begun, shown, wait = time.monotonic(), False, display.patience if patience is None else patience

    def heard(stage: str, done: float | None) -> None:
        nonlocal shown
        seconds = time.monotonic() - begun
        if seconds >= wait:
            shown = True
            display.show(stage, done, seconds)

    over = False
    try:
        with listening(heard):
            yield
        over = True
    finally:
        if shown:
            display.end(time.monotonic() - begun, over)


class Display(Protocol):
    """Where a person sees how far work is."""

    patience: float
    """Seconds before anything is shown."""

    def show(self, stage: str, done: float | None, seconds: float) -> None:
        """The stage that work is in now."""

    def end(self, seconds: float, over: bool) -> None:
        """Work is `over`, or it failed."""


class _Line:
    """One line on a terminal."""

    patience = 2.0

    def __init__(self, out: TextIO) -> None:
        self.out = out

    def show(self, stage: str, done: float | None, seconds: float) -> None:
        self.out.write(_WIPE + stage + ("" if done is None else time_left(seconds, done)))
        self.out.flush()

    def end(self, seconds: float, over: bool) -> None:
        self.out.write(_WIPE)
        self.out.flush()


def _display(stream: TextIO | None) -> Display | None:
    """Where to show it; None where somebody listens or nobody looks."""
    if _listener.get() is not None or threading.current_thread() is not threading.main_thread():
        return None
    if stream is None and sys.modules.get("IPython") is not None:
        from discreet.core.notebook_bar import notebook_bar

        if (bar := notebook_bar()) is not None:
            return bar
    out = sys.stderr if stream is None else stream
    return _Line(out) if out is not None and out.isatty() else None


def time_left(seconds: float, done: float) -> str:
    """How long work may yet take, once there is something to go by.

    >>> time_left(30, 0.25), time_left(1, 0.01)
    (', about 90 s left', '')
    """
    if done < 0.05 or seconds < 1:
        return ""
    return f", about {round(seconds * (1 - done) / done):,} s left"
