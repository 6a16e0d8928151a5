"""The front page: every dataset, whom it protects, what is left."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.frame import Frame
from discreet.curator import Curator

__all__ = ["routes"]


def _contents(curator: Curator) -> str:
    """How much there is, as declared."""
    if curator.declared.subject == "table":
        return f"{len(curator.schema.columns):,} columns"
    return f"{curator.declared.to_dict()['grid']['public']['loads']:,} loads of a power grid"


def routes(frame: Frame) -> APIRouter:
    """/"""
    pages = frame.router()
    anyone: Any = Depends(frame.caller)

    @pages.get("/")
    def home(request: Request, caller: Caller = anyone) -> Response:
        shown = [
            (name, curator.declared, _contents(curator), frame.budgets(caller, name))
            for name, curator in frame.service.curators.items()
        ]
        return frame.page(request, "home.html", caller, shown=shown)

    return pages
