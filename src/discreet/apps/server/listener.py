"""Listening: one process, or several that share an address."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import uvicorn

from discreet.apps.server.app import Pages
from discreet.apps.server.metrics import forget_process, note_deaths, sharing_counts
from discreet.apps.server.service import Service
from discreet.apps.server.settings import Settings
from discreet.apps.server.timeouts import Timeouts
from discreet.apps.server.workers import Workers

__all__ = ["run"]


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
    `drain` seconds to end. SIGHUP replaces workers one by one: each reads its settings again. What a file says may be
    read again, so there it is a process of its own that answers, if it is only one.
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
    with contextlib.nullcontext() if service.state is None else service.uploads.expiring():
        if settings.workers == 1 and settings.config is None:
            uvicorn.run(settings.application(service, pages), **how)
            return
        for curator in service.curators.values():
            curator.ledger.close()
        how |= {"app": worker, "factory": True}
        listener = uvicorn.Config(**how).bind_socket()
        with listener, settings.shared(), sharing_counts() as folder:
            workers = Workers(settings.workers, how, listener, _note, drain)
            workers.gone = lambda process: forget_process(process, folder)
            workers.died = lambda deaths: note_deaths(deaths, folder)
            if not workers.run():
                sys.exit(1)


def _note(event: str, **values: str | int) -> None:
    Settings.received().note(event, **values)  # where the log is now: a reload may have moved it
