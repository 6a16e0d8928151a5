"""Listening: one process, or several that share an address. Connections that keep the server waiting are closed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from discreet.apps.server.app import Pages
from discreet.apps.server.service import Service
from discreet.apps.server.settings import Settings

__all__ = ["WAIT", "Timeouts", "run"]

WAIT = 20.0
"""Seconds within which a request must have begun, and then arrived whole; checked so often, so twice that at most."""

_Protocol: Any = AutoHTTPProtocol


class Timeouts(_Protocol):  # type: ignore[misc]
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


def run(
    settings: Settings,
    service: Service,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    pages: Pages | None = None,
    worker: str = "",
    certificate: Path | None = None,
    key: Path | None = None,
    busy: int = 128,
) -> None:
    """Serve until stopped. With several workers each opens what `settings` names; the ledger keeps them together.

    `worker` names the function (`module:name`) that makes their application.
    """
    how: dict[str, Any] = {
        "host": host,
        "port": port,
        "ssl_certfile": None if certificate is None else str(certificate),
        "ssl_keyfile": None if key is None else str(key),
        "access_log": False,  # it would write paths and addresses
        "log_level": "warning",
        "limit_concurrency": busy,
        "server_header": False,
        "proxy_headers": False,  # whoever is in front, nothing of what they say is needed: see `Settings.behind_proxy`
        "http": Timeouts,
        "ws": "none",
        "lifespan": "off",
        "timeout_graceful_shutdown": 5,
    }
    if settings.workers == 1:
        uvicorn.run(settings.application(service, pages), **how)
        return
    for curator in service.curators.values():
        curator.ledger.close()
    with settings.shared():
        uvicorn.run(worker, factory=True, workers=settings.workers, **how)
