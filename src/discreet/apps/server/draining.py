"""The end of a process of a server: what runs has time to end, jobs that wait stay in the queue.

Requests that do not end in time are told so, in words.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import anyio.to_thread

from discreet.apps.server.job_queue import drain_queues, pause_queues
from discreet.apps.server.responses import Json

__all__ = ["Interrupted", "draining"]

_STOPPED = (
    "The server stopped before this was done. Ask again, under the same release id if it has one: it is charged once."
)


class Interrupted:
    """ASGI middleware: a request that is given up, because the process ends, is answered 503."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        answered = False

        async def seen(message: dict[str, Any]) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self.app(scope, receive, seen)
        except asyncio.CancelledError:
            if scope["type"] != "http" or answered:
                raise
            body = {"error": "BusyError", "message": _STOPPED}
            await Json(body, 503, {"connection": "close"})(scope, receive, send)


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
