"""Answering a question within a time limit, at a pace that tells little of how long the engine took."""

from __future__ import annotations

import math
import time
import uuid
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.requests import ReleaseRequest
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller

__all__ = ["LATER", "Pacer"]

LATER = "Not done yet. Fetch it later by its id, or ask again under it: it is charged once, if at all."


# How many are answered at once counts for a process, whatever way its service was asked.
_ROOMS: WeakKeyDictionary[Jobs, RunVar[anyio.CapacityLimiter]] = WeakKeyDictionary()


class Pacer:
    """Where questions of a service are answered, so many at once, each by a deadline.

    Guarantee: what a caller sees of a run that was charged is its answer, or words that do not depend on the data; and
    either leaves at a whole multiple of `limits.pace` seconds after it was asked, or at the deadline. How many
    multiples may depend on the data, and the books have the answer as soon as it is there: docs/proofs/server.md.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._room = _ROOMS.setdefault(service.jobs, RunVar("discreet_room"))

    async def answer(
        self, name: str, asked: ReleaseRequest, caller: Caller, begun: float | None = None
    ) -> dict[str, Any]:
        """The release as plain values, or, past the deadline, its id and `text` that says how to have it later.

        Errors are raised at the same pace.
        """
        begun = time.monotonic() if begun is None else begun
        offer = await anyio.to_thread.run_sync(self.service.offer, name, asked, caller)
        identity = asked.release or uuid.uuid4().hex

        def work() -> dict[str, Any]:
            return self.service.shown(name, identity, offer.release(release=identity, why=asked.why).to_dict(), caller)

        limits = self.service.limits
        room = self._room.get(None) or anyio.CapacityLimiter(limits.releases)
        self._room.set(room)
        with anyio.move_on_at(anyio.current_time() + begun + limits.seconds - time.monotonic()):
            try:
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=room)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(_until(begun, limits.pace, limits.seconds))
        return {"release": identity, "text": LATER}


def _until(begun: float, pace: float, most: float) -> float:
    """How long to the next multiple of `pace` after `begun`, but not past `most`."""
    if pace <= 0:
        return 0.0
    gone = time.monotonic() - begun
    return max(0.0, min(math.ceil(gone / pace) * pace, most) - gone)
