"""Help: the glossary, the documentation and a search over both, without a network."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.frame import Frame
from discreet.apps.web.manual import PICTURES, Manual, manual_folder
from discreet.apps.web.tour import STEPS
from discreet.core.glossary import TERMS

__all__ = ["routes"]


def routes(frame: Frame) -> APIRouter:
    """/help and what is under it"""
    pages = frame.router()
    anyone: Any = Depends(frame.caller)
    manual = Manual(manual_folder())

    @pages.get("/help")
    def front(request: Request, q: str = "", caller: Caller = anyone) -> Response:
        """The front page of help, or what a search found."""
        words = q.strip()[:200]
        found = manual.search(words) if words else []
        values: dict[str, Any] = {"words": words, "found": found, "sections": manual.listed(), "steps": STEPS}
        return frame.page(request, "help.html", caller, **values)

    @pages.get("/help/glossary")
    def glossary(request: Request, caller: Caller = anyone) -> Response:
        """Every term."""
        known = {term.page: name for term in TERMS.values() if (name := term.page.removesuffix(".md")) in manual.pages}
        return frame.page(request, "glossary.html", caller, glossary=list(TERMS.values()), known=known)

    @pages.get("/help/file/{name:path}")
    def picture(name: str, caller: Caller = anyone) -> Response:
        """A picture of the documentation."""
        path = manual.pictures.get(name)
        if path is None:
            raise HTTPException(404, "There is no such picture.")
        return Response(path.read_bytes(), media_type=PICTURES[path.suffix.lower()])

    @pages.get("/help/{name:path}")
    def shown(request: Request, name: str, caller: Caller = anyone) -> Response:
        """One page of the documentation."""
        page = manual.pages.get(name.removesuffix(".md"))
        if page is None:
            raise HTTPException(404, "There is no such page of the documentation.")
        return frame.page(
            request, "manual.html", caller, page=page, text=manual.rendered(page), outline=manual.outline(page)
        )

    return pages
