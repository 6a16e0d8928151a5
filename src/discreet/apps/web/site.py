"""All pages put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from discreet.apps.server import app as server
from discreet.apps.server.away import watch
from discreet.apps.server.config import latest
from discreet.apps.server.service import Service
from discreet.apps.server.settings import Settings
from discreet.apps.server.tokens import Caller
from discreet.apps.web import (
    ask,
    attack_page,
    audit_page,
    custodian,
    data,
    decide_page,
    help_page,
    home,
    job_page,
    jobs_page,
    ledger,
    login,
    map_page,
    releases,
    survey_page,
    synthetic_page,
    tour,
)
from discreet.apps.web.frame import Frame

__all__ = ["WORKER", "add_pages", "application", "worker"]

PAGES = (
    home,
    login,
    data,
    ask,
    map_page,
    synthetic_page,
    decide_page,  # before releases, whose ids may have any characters
    releases,
    jobs_page,
    job_page,
    ledger,
    audit_page,
    attack_page,
    survey_page,
    help_page,
    tour,
    custodian,
)
"""Modules with `routes(frame)`, in the order of the navigation."""


WORKER = "discreet.apps.web.site:worker"
"""The application of a worker process, for uvicorn."""


def application(
    service: Service, *, log: Callable[[str], None] | None = None, origin: str | None = None, https: bool = False
) -> FastAPI:
    """The server of a service with all pages; the options are those of the server without."""
    return server.application(service, pages=add_pages, log=log, origin=origin, https=https)


def worker() -> FastAPI:
    """The application of a process that was started with `Settings.shared`."""
    settings, service = latest(Settings.received())
    for name, one in service.away.items():
        settings.note("away", dataset=name, check=one.check, problem=" ".join(str(one.problem).split()))
    if service.away:
        from discreet.apps.server.workers import renew  # needs what a worker has anyway

        watch(service.away, settings.note, renew)
    return settings.application(service, add_pages)


def add_pages(app: FastAPI, service: Service) -> Callable[[Request], Caller | None]:
    """Give an application its pages; what comes back tells whose session a browser has."""
    frame = Frame(service)
    for one in PAGES:
        app.router.routes.extend(one.routes(frame).routes)
    before: Any = app.exception_handlers.get(HTTPException)

    async def missing(request: Request, problem: Exception) -> Response:
        """A path that is not there: a page for people, and for programs what they had without pages."""
        status = getattr(problem, "status_code", 404)
        if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api"):
            return frame.problem(request, status, "Nothing is at this address.")
        if before is not None:
            answer: Response = await before(request, problem)
            return answer
        return JSONResponse({"detail": getattr(problem, "detail", "Not Found")}, status)

    app.add_exception_handler(404, missing)
    app.add_exception_handler(405, missing)
    return frame.known
