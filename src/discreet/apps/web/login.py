"""Signing in and out, and the files that pages are made of."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame, local

__all__ = ["routes"]

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def routes(frame: Frame) -> APIRouter:
    """/login, /logout and /static."""
    pages = frame.router()
    sent: Any = Depends(frame.form)

    linked = frame.service.linked

    @pages.get("/login")
    def ask(request: Request, then: str = "/", token: str = "") -> Response:
        if linked and token and frame.sessions is not None:
            secret = frame.sessions.begin(token)
            if secret is not None:
                return frame.sign_in(request, secret, then)
            problem = "This address was of an earlier run of the server. Open the one that was printed last."
            return frame.page(request, "login.html", None, 403, then=local(then), problem=problem, linked=linked)
        if frame.known(request) is not None:
            return RedirectResponse(local(then), 303)
        return frame.page(request, "login.html", None, then=local(then), problem="", linked=linked)

    @pages.post("/login")
    def sign_in(request: Request, form: Form = sent) -> Response:
        then = local(form.text("then"))
        if frame.sessions is None:
            return RedirectResponse(then, 303)
        secret = frame.sessions.begin(form.text("token"))
        if secret is None:
            problem = "This is no token of this server, or it was revoked."
            return frame.page(request, "login.html", None, 403, then=then, problem=problem, linked=linked)
        return frame.sign_in(request, secret, then)

    @pages.post("/logout")
    def sign_out(request: Request, form: Form = sent) -> Response:
        return frame.sign_out(request)

    @pages.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in frame.static:
            raise HTTPException(404, "Nothing is at this address.")
        kind = _KINDS[name[name.rindex(".") :]]
        # Its address changes with its text, so it may be kept.
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(frame.static[name], media_type=f"{kind}; charset=utf-8", headers=headers)

    return pages
