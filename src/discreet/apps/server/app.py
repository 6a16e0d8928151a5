"""The server put together: limits, paths, and errors in words that do not depend on the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from discreet import __version__
from discreet.apps.server import uploads
from discreet.apps.server.access_log import AccessLog
from discreet.apps.server.api import routers
from discreet.apps.server.draining import Interrupted, draining
from discreet.apps.server.guard import BESIDE, Guard, OneLength
from discreet.apps.server.jobs import public_words
from discreet.apps.server.metrics import Counts, Metrics
from discreet.apps.server.responses import Json, malformed
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.errors import (
    BudgetError,
    BusyError,
    CapError,
    DiscreetError,
    IdentityError,
    InputError,
    LedgerError,
    LossError,
    MissingError,
    MissingExtraError,
    RunError,
    SourceError,
)
from discreet.ledger.budget import Charge

__all__ = ["STATUS", "Pages", "application", "problem_to", "status_of"]

STATUS: dict[type[DiscreetError], int] = {
    InputError: 422,
    LossError: 422,
    MissingError: 404,
    IdentityError: 403,
    BudgetError: 409,
    CapError: 409,
    BusyError: 429,
    RunError: 500,
    MissingExtraError: 501,
    LedgerError: 503,
    SourceError: 503,
}
_PLAIN = {404: "there is nothing here", 405: "not by this method"}


Pages = Callable[[FastAPI, Service], Callable[[Request], Caller | None]]
"""What gives an application its pages, and then tells whose session a browser has."""


def application(
    service: Service,
    *,
    pages: Pages | None = None,
    log: Callable[[str], None] | None = None,
    log_format: str = "text",
    origin: str | None = None,
    https: bool = False,
    drain: float = 0.0,
) -> FastAPI:
    """The web application of a service, for uvicorn or any ASGI server: the API, and `pages` if there are any.

    `log` is given a line for every request, text or json as `log_format` says (`access_log`); `origin` is the address
    people see, for surveys behind a proxy that changes the Host header. `https`: a proxy in front ends TLS, so cookies
    are for TLS alone. Jobs have `drain` seconds to end once the server stops.
    """
    app = FastAPI(
        lifespan=draining(drain),
        title="discreet",
        version=__version__,
        description="A trusted curator: answers with differential privacy, priced before anything is spent.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # it would send to wherever the Host header says
    )
    counts = Counts(service.limits.pace)
    for one in routers(service, counts):
        app.router.routes.extend(one.routes)  # to include them would make each a second time

    @app.exception_handler(DiscreetError)
    async def ours(request: Request, problem: DiscreetError) -> Response:
        """Our own errors hold nothing private: they speak of the request, the schema and the budget."""
        counts.refusals.labels(_name(problem)).inc()
        return Json(problem_to(problem), status_of(problem))

    @app.exception_handler(RequestValidationError)
    async def unread(request: Request, problem: RequestValidationError) -> Response:
        found = malformed(problem.errors(), _fields(request))
        message = " ".join(str(one) for one in found)
        return Json({"error": "InputError", "message": message, "field": found[0].field if found else ""}, 422)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, problem: HTTPException) -> Response:
        """What was asked for is not repeated."""
        message = _PLAIN.get(problem.status_code, str(problem.detail))
        body = {"error": "HTTPError", "message": message}
        return Json(body, problem.status_code, headers=dict(problem.headers or {}))

    session_of = None if pages is None else pages(app, service)

    def named(scope: dict[str, Any]) -> str | None:
        """Whose token a request shows, or whose session a browser has: then its header says nothing of who it is."""
        caller = service.identify(scope)
        if caller is None and session_of is not None:
            caller, scope[BESIDE] = session_of(Request(scope)), True
        return caller.name if isinstance(caller, Caller) else None

    limits = service.limits
    app.add_middleware(
        Guard,
        body=limits.body,
        rate=limits.rate,
        burst=limits.burst,
        named=named,
        alone=service.tokens is None,
        larger={} if pages is None or service.state is None else {uploads.PATH: limits.upload + limits.body},
    )
    app.add_middleware(Interrupted)
    app.add_middleware(Metrics, counts=counts)
    if log is not None:
        app.add_middleware(AccessLog, write=log, style=log_format)
    if service.surveys or service.surveys_here is not None:
        from discreet.apps.server.surveys import Surveys

        app.add_middleware(Surveys, surveys=service.surveys, origin=origin)
    if https:
        app.add_middleware(_Https)
    app.add_middleware(OneLength)
    return app


class _Https:
    """ASGI middleware: what arrives came over TLS, to the proxy in front."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await self.app({**scope, "scheme": "https"} if scope["type"] == "http" else scope, receive, send)


def _fields(request: Request) -> list[str]:
    """The fields of the body that this path takes."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model = getattr(getattr(body, "field_info", None), "annotation", None)
    return list(getattr(model, "model_fields", ()))


def problem_to(problem: DiscreetError) -> dict[str, Any]:
    """An error of ours as plain values."""
    values: dict[str, Any] = {"error": _name(problem), "message": public_words(problem)}
    match problem:
        case SourceError():
            pass  # its words name places
        case InputError():
            values |= {"field": problem.field, "allowed": problem.allowed, "hint": problem.hint}
        case BudgetError():
            values |= {"allotment": problem.allotment}
            charges = {"asked": problem.asked, "left": problem.left}
            values |= {name: _charge_to(one) for name, one in charges.items() if isinstance(one, Charge)}
            if isinstance(problem, CapError):
                values |= {"frees": problem.frees}
        case RunError():
            values |= {"release": problem.release}
    return values


def _charge_to(charge: Charge) -> dict[str, str]:
    return {"amount": str(charge.amount), "delta": str(charge.delta)}


def _name(problem: DiscreetError) -> str:
    """The name a client knows: that of the kind of error, not of a finer one."""
    wider = next((kind for kind in (SourceError, InputError, LedgerError) if isinstance(problem, kind)), type(problem))
    return wider.__name__


def status_of(problem: DiscreetError) -> int:
    """The HTTP status of an error of ours."""
    return next((STATUS[kind] for kind in type(problem).__mro__ if kind in STATUS), 400)
