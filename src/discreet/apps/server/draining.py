"""The end of a process of a server: running jobs have time to end, and those that wait stay in the queue."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import anyio.to_thread

from discreet.apps.server.job_queue import drain_queues, pause_queues

__all__ = ["draining"]


def draining(seconds: float) -> Callable[[Any], Any]:
    """The lifespan of an application whose jobs have so many seconds to end, from when the process is told to stop.

    No job is begun from that moment on. A second SIGINT or SIGTERM waits for nothing: jobs go back to the queue.
    """

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        told: list[float] = []
        impatient = threading.Event()

        def listen(number: int) -> None:
            before = signal.getsignal(number)

            def heard(number: int, frame: FrameType | None) -> None:
                if told:
                    impatient.set()
                told.append(time.monotonic())
                pause_queues()
                if callable(before):
                    before(number, frame)

            signal.signal(number, heard)

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                listen(number)
        yield
        end = (told[0] if told else time.monotonic()) + seconds
        await anyio.to_thread.run_sync(drain_queues, end, impatient)

    return lifespan
