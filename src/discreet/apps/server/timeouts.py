"""Connections that keep the server waiting are closed."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

__all__ = ["WAIT", "Timeouts"]

WAIT = 20.0
"""Seconds within which a request must have begun, and then arrived whole; checked so often, so twice that at most."""

_MOMENT = 0.5
_Protocol: Any = AutoHTTPProtocol


class Timeouts(_Protocol):  # type: ignore[misc]
    """HTTP as uvicorn speaks it, which otherwise waits for ever for the rest of a request.

    A request that arrived whole may be worked on for as long as it takes.
    """

    wait = WAIT

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A client is there."""
        super().connection_made(transport)
        self._seen: Any = None
        self._last = False
        self._watch = self.loop.call_later(self.wait, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """A client is gone."""
        self._watch.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The server stops. A connection that was just taken has a moment: its first request may be on the way."""
        if self.cycle is None and not self._last:
            self._last = True
            self.loop.call_later(_MOMENT, self.shutdown)
        elif not self.transport.is_closing():
            super().shutdown()

    def _look(self) -> None:
        """Close what has not moved on since the last look: no new request, or one whose end is still missing."""
        now = self.cycle
        due = now is None or now.response_complete or now.more_body
        if due and now is self._seen:
            self.transport.abort()
            return
        self._seen = now
        self._watch = self.loop.call_later(self.wait, self._look)
