"""How long work tells what it is doing. A library prints nothing, but for one line on a terminal where nobody listens.

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
from typing import TextIO

__all__ = ["Listener", "listening", "notify", "showing", "time_left"]

Listener = Callable[[str, float | None], None]

_PATIENCE = 2.0  # seconds before a line is shown
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
def showing(stream: TextIO | None = None, *, patience: float = _PATIENCE) -> Iterator[None]:
    """Show what the work inside tells as one line on a terminal, once it has taken a while; wiped when it is over.

    Only where nobody listens, and in the main thread: a server's jobs run beside it.
    """
    out = sys.stderr if stream is None else stream
    alone = threading.current_thread() is threading.main_thread()
    if _listener.get() is not None or not alone or out is None or not out.isatty():
        yield
        return
    begun, shown = time.monotonic(), False

    def heard(stage: str, done: float | None) -> None:
        nonlocal shown
        seconds = time.monotonic() - begun
        if seconds >= patience:
            out.write(_WIPE + stage + ("" if done is None else time_left(seconds, done)))
            out.flush()
            shown = True

    try:
        with listening(heard):
            yield
    finally:
        if shown:
            out.write(_WIPE)
            out.flush()


def time_left(seconds: float, done: float) -> str:
    """How long work may yet take, once there is something to go by.

    >>> time_left(30, 0.25), time_left(1, 0.01)
    (', about 90 s left', '')
    """
    if done < 0.05 or seconds < 1:
        return ""
    return f", about {round(seconds * (1 - done) / done):,} s left"
