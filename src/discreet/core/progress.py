"""How long work tells what it is doing. Nobody listens unless an app does: a library prints nothing.

>>> heard = []
>>> with listening(lambda stage, done: heard.append((stage, done))):
...     notify("counting")
...     notify("solving", 0.5)
>>> notify("nobody hears this")
>>> heard
[('counting', None), ('solving', 0.5)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Listener", "listening", "notify"]

Listener = Callable[[str, float | None], None]

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
