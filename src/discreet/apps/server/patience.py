"""Connections that keep the server waiting are closed: whoever sends nothing, or sends it too slowly, takes no room."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = ["WAIT", "Patient"]

WAIT = 20.0
"""Seconds within which a request must have begun, and then arrived whole; checked so often, so twice that at most."""

_Protocol: Any = AutoHTTPProtocol


class Patient(_Protocol):  # type: ignore[misc]
    """HTTP as uvicorn speaks it, which by itself waits for ever for the rest of a request.

    A request that arrived whole may be worked on for as long as it takes.
    """

    wait = WAIT

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A client is there."""
        super().connection_made(transport)
        self._seen: Any = None
        self._watch = self.loop.call_later(self.wait, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """A client is gone."""
        self._watch.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Close what has not moved on since the last look: no new request, or one whose end is still missing."""
        now = self.cycle
        due = now is None or now.response_complete or now.more_body
        if due and now is self._seen:
            self.transport.abort()
            return
        self._seen = now
        self._watch = self.loop.call_later(self.wait, self._look)
