"""Ends of runs on a common grid: multiples of a number of seconds since 1970, the same for all processes.

How long a run takes may depend on private data. Whoever runs one for others has it end at a tick: nothing is recorded
of its end before, so nobody can see it earlier, whichever way they look. Proof: docs/proofs/server.md, "Time".

>>> with paced(0.001):
...     wait_for_tick()
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import sleep, time

__all__ = ["paced", "until_tick", "wait_for_tick"]

_pace: ContextVar[float] = ContextVar("discreet_pace", default=0.0)


@contextmanager
def paced(pace: float) -> Iterator[None]:
    """Runs inside end at multiples of `pace` seconds; of 0, whenever they end."""
    token = _pace.set(pace)
    try:
        yield
    finally:
        _pace.reset(token)


def wait_for_tick() -> None:
    """Wait for the next multiple of the pace, if there is one."""
    if (pace := _pace.get()) > 0:
        sleep(until_tick(time(), pace))


def until_tick(now: float, pace: float) -> float:
    """Seconds to the next multiple of `pace`.

    >>> until_tick(10.25, 0.5), until_tick(10.5, 0.5)
    (0.25, 0.0)
    """
    return -now % pace
