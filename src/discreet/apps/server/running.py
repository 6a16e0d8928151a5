"""Listening: one process, or several that share an address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import uvicorn

from discreet.apps.server.app import Pages
from discreet.apps.server.house import House
from discreet.apps.server.patience import Patient
from discreet.apps.server.serving import Serving

__all__ = ["run"]


def run(
    asked: Serving,
    house: House,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    pages: Pages | None = None,
    worker: str = "",
    certificate: Path | None = None,
    key: Path | None = None,
    busy: int = 128,
) -> None:
    """Serve until stopped. With several workers each opens what `asked` names; the ledger keeps them together.

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
        "proxy_headers": False,  # whoever is in front, nothing of what they say is needed: see `Serving.behind_proxy`
        "http": Patient,
        "ws": "none",
        "lifespan": "off",
        "timeout_graceful_shutdown": 5,
    }
    if asked.workers == 1:
        uvicorn.run(asked.application(house, pages), **how)
        return
    for curator in house.curators.values():
        curator.ledger.close()
    with asked.shared():
        uvicorn.run(worker, factory=True, workers=asked.workers, **how)
