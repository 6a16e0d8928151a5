"""Listening: one process, or several that share an address. Connections that keep the server waiting are closed."""

from __future__ import annotations

import asyncio
import contextlib
from inspect import signature
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from discreet.apps.server.app import Pages
from discreet.apps.server.metrics import sharing_counts
from discreet.apps.server.service import Service
from discreet.apps.server.settings import Settings

__all__ = ["WAIT", "WORKER_PATIENCE", "Timeouts", "run"]

WAIT = 20.0
"""Seconds within which a request must have begun, and then arrived whole; checked so often, so twice that at most."""

WORKER_PATIENCE = 60
"""Seconds in which a worker must answer the process that watches over it, or it is killed and another is started.

Where nothing is said it is five, also for a worker that still loads its libraries: on a busy machine none ever starts.
"""

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
    drain: float = 5.0,
) -> None:
    """Serve until stopped. With several workers each opens what `settings` names; the ledger keeps them together.

    `worker` names the function (`module:name`) that makes their application. Once it is told to stop, requests have
    `drain` seconds to end. SIGHUP replaces workers one by one: each reads its settings again.
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
        "lifespan": "on",  # where jobs are let end
        "timeout_graceful_shutdown": max(1, round(drain)),
    }
    if "timeout_worker_healthcheck" in signature(uvicorn.Config).parameters:  # else it is five seconds
        how["timeout_worker_healthcheck"] = WORKER_PATIENCE
    with contextlib.nullcontext() if service.state is None else service.uploads.expiring():
        if settings.workers == 1:
            uvicorn.run(settings.application(service, pages), **how)
            return
        for curator in service.curators.values():
            curator.ledger.close()
        with settings.shared(), sharing_counts():
            uvicorn.run(worker, factory=True, workers=settings.workers, **how)
