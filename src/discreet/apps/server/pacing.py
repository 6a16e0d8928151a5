"""Answering a question within a time limit, its run ending at a tick that tells little of how long it took."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.requests import ReleaseRequest
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.core.deadline import limited
from discreet.core.tick import paced
from discreet.errors import BusyError

__all__ = ["LATER", "Pacer"]

LATER = "Not finished yet. Fetch it later by its id, or ask again under the same id: it is charged at most once."
_STOPPING = 5.0  # seconds that a caller waits for an engine to stop


# How many are answered at once counts for a process, whatever way its service was asked.
_ROOMS: WeakKeyDictionary[Jobs, RunVar[anyio.CapacityLimiter]] = WeakKeyDictionary()
_THREADS: RunVar[anyio.CapacityLimiter] = RunVar("discreet_threads")


class Pacer:
    """Where questions of a service are answered, so many at once, each by a deadline.

    Guarantee: what a caller sees of a run that was charged is its answer, or words that do not depend on the data; and
    neither is anywhere to be seen before a whole multiple of `limits.pace` seconds, on a grid that all runs share. How
    many multiples it takes may depend on the data: docs/proofs/server.md.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._room = _ROOMS.setdefault(service.jobs, RunVar("discreet_room"))

    async def answer(
        self, name: str, asked: ReleaseRequest, caller: Caller, begun: float | None = None
    ) -> dict[str, Any]:
        """The release as plain values; after `limits.wait` seconds its id, and `text` that says how to have it later.

        A run is stopped `limits.seconds` after it was asked for: then a `RunError` says that its charge stays spent.
        `BusyError`: it did not have its turn in time, and nothing was spent.
        """
        begun = time.monotonic() if begun is None else begun
        offer = await anyio.to_thread.run_sync(self.service.offer, name, asked, caller)
        identity, limits = asked.release or uuid.uuid4().hex, self.service.limits
        end = begun + limits.seconds
        turn = _Turn(_limiter(self._room, limits.releases))

        def work() -> dict[str, Any]:
            turn.running = True
            try:
                with limited(end - time.monotonic()), paced(limits.pace):
                    found = offer.release(release=identity, why=asked.why)
            finally:
                turn.end()
            return self.service.shown(name, identity, found.to_dict(), caller)

        await turn.begin(begun + min(limits.wait, limits.seconds))
        with turn, _until(begun + min(limits.wait, limits.seconds + _STOPPING)):
            # A thread that is waited for no more goes on, and has its turn until its run is over.
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=_limiter(_THREADS, math.inf))
        return {"release": identity, "text": LATER}


class _Turn:
    """The turn of one run among those that a process has at once: it ends with the run, whoever waits for it."""

    def __init__(self, room: anyio.CapacityLimiter) -> None:
        self._room, self._loop = room, asyncio.get_running_loop()
        self.running = False

    async def begin(self, end: float) -> None:
        """Wait for it until a time of the monotonic clock; `BusyError` where it does not come."""
        with suppress(anyio.WouldBlock):
            self._room.acquire_on_behalf_of_nowait(self)
            return
        with _until(end):
            await self._room.acquire_on_behalf_of(self)
            return
        raise BusyError("Too many questions are being answered here. Nothing was spent. Try again later.")

    def __enter__(self) -> None:
        """From here on there may be a thread that runs."""

    def __exit__(self, *_: object) -> None:
        if not self.running:  # the time was up before its thread was started
            self._release()

    def end(self) -> None:
        """From the thread of the run, which does not wait for it."""
        with suppress(RuntimeError):  # the server has ended meanwhile
            self._loop.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        with suppress(RuntimeError):  # it was started just as its time was up, so that both ended it
            self._room.release_on_behalf_of(self)


def _limiter(where: RunVar[anyio.CapacityLimiter], most: float) -> anyio.CapacityLimiter:
    """The limiter of this event loop."""
    found = where.get(None) or anyio.CapacityLimiter(most)
    where.set(found)
    return found


def _until(end: float) -> anyio.CancelScope:
    """Leave at a time of the monotonic clock."""
    return anyio.move_on_at(anyio.current_time() + end - time.monotonic())
