"""Data & schema: whom the dataset protects, what is declared, what cannot be asked and why."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.frame import Frame
from discreet.curator import LocalDesk
from discreet.curator.columns import columns_table, limits, missing, neighbours, protects
from discreet.curator.odds import between, lifetime
from discreet.curator.public_facts import grid, numbers

__all__ = ["routes"]


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}"""
    pages = frame.router()
    anyone: Any = Depends(frame.caller)
    frame.links.append(("", "Data & schema"))

    @pages.get("/d/{dataset}")
    def data(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        curator = frame.service.curator(dataset, caller)
        desk, declared = curator.local, curator.declared
        budget = curator.ledger.account(dataset).budget
        common: dict[str, Any] = {"promise": lifetime(budget, between(declared.unit)), "digest": declared.digest}
        if declared.subject == "values":
            return frame.page(request, "numbers.html", caller, **common, **numbers(declared))
        if not isinstance(desk, LocalDesk):
            return frame.page(request, "grid.html", caller, **common, **grid(declared))
        schema = desk.schema
        return frame.page(
            request,
            "data.html",
            caller,
            **common,
            protects=protects(schema.unit),
            neighbours=neighbours(schema.unit),
            limits=limits(schema.unit),
            columns=columns_table(schema, stacked=True),
            missing=missing(schema, desk.source.columns()),
            standing=frame.budgets(caller, dataset),
        )

    return pages
