"""The server put together: limits, paths, and errors in words that do not depend on the data."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from discreet import __version__
from discreet.apps.server.api import routes
from discreet.apps.server.guard import Guard
from discreet.apps.server.house import House
from discreet.errors import BudgetError, DiscreetError, InputError, RunError

__all__ = ["application"]


def application(house: House, pages: bool = True) -> FastAPI:
    """The web application of a house, for uvicorn or any ASGI server: the API, and pages for people."""
    app = FastAPI(
        title="discreet",
        version=__version__,
        description="A trusted curator: private answers, priced before they are asked.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.include_router(routes(house))
    limits = house.limits
    app.add_middleware(
        Guard,
        body=limits.body,
        rate=limits.rate,
        burst=limits.burst,
        named=lambda shown: None if (caller := house.caller(shown)) is None else caller.name,
        alone=house.tokens is None,
    )

    @app.exception_handler(DiscreetError)
    async def ours(request: Request, problem: DiscreetError) -> JSONResponse:
        """Our own errors hold nothing private: they speak of the request, the schema and the ledger."""
        status = _STATUS.get(type(problem), 400)
        return JSONResponse({"error": type(problem).__name__, "message": str(problem)}, status)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, problem: RequestValidationError) -> JSONResponse:
        fields = [".".join(str(part) for part in one["loc"][1:]) for one in problem.errors()]
        told = [f"{name or 'body'}: {one['msg']}" for name, one in zip(fields, problem.errors(), strict=True)]
        return JSONResponse({"error": "InputError", "message": "; ".join(told)}, 422)

    if pages:
        from discreet.apps.web.site import furnish

        furnish(app, house)
    return app


_STATUS: dict[Any, int] = {InputError: 422, BudgetError: 409, RunError: 500}
