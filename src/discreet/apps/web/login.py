"""Signing in and out, by a token or by an issuer, and the files that pages are made of."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.identity import Person
from discreet.apps.web import session
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame, local
from discreet.errors import IdentityError

__all__ = ["routes"]

_BACK = "/login/oidc/callback"
_MINUTES = 10  # to sign in at the issuer
_LONGEST = 1000  # characters of an address to go on to, for a cookie
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def routes(frame: Frame) -> APIRouter:
    """/login, /login/oidc, /logout and /static."""
    pages = frame.router()
    sent: Any = Depends(frame.form)

    linked, issuer = frame.service.linked, frame.service.issuer

    def asked(request: Request, then: str, problem: str = "", status: int = 200) -> Response:
        label = "" if issuer is None else issuer.provider.label
        how = {"then": local(then), "problem": problem, "linked": linked, "issuer": label}
        return frame.page(request, "login.html", None, status, **how)

    @pages.get("/login")
    def ask(request: Request, then: str = "/", token: str = "") -> Response:
        if linked and token and frame.sessions is not None:
            secret = frame.sessions.begin(token)
            if secret is not None:
                return frame.sign_in(request, secret, then)
            problem = "This address belongs to an earlier run of the server. Open the one that was printed last."
            return asked(request, then, problem, 403)
        if frame.known(request) is not None:
            return RedirectResponse(local(then), 303)
        return asked(request, then)

    @pages.post("/login")
    def sign_in(request: Request, form: Form = sent) -> Response:
        then = local(form.text("then"))
        if frame.sessions is None:
            return RedirectResponse(then, 303)
        secret = frame.sessions.begin(form.text("token"))
        if secret is None:
            ended = frame.sessions.tokens.ended(form.text("token"))
            problem = "This is not a token of this server, or it was revoked."
            if ended is not None:
                problem = f"This token ended at {ended} UTC. Ask a custodian to rotate it."
            return asked(request, then, problem, 403)
        return frame.sign_in(request, secret, then)

    if issuer is not None:
        _add_issuer(pages, frame, issuer, asked)

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


def _add_issuer(pages: APIRouter, frame: Frame, issuer: Any, asked: Callable[..., Response]) -> None:
    """The way to the issuer and back (authorization code with PKCE)."""
    from discreet.apps.server.issuer import Trip

    back = issuer.provider.home + _BACK

    @pages.get("/login/oidc")
    def go(request: Request, then: str = "/") -> Response:
        secret = session.fresh()
        try:
            answer = RedirectResponse(issuer.address(Trip(secret), back), 303)
        except IdentityError as problem:
            return asked(request, then, str(problem), 503)
        kept = f"{secret}.{quote(local(then), safe='')[:_LONGEST]}"
        frame.give(request, answer, "trip", kept, seconds=_MINUTES * 60, lax=True)
        return answer

    @pages.get(_BACK)
    def come_back(request: Request, code: str = "", state: str = "", error: str = "", iss: str = "") -> Response:
        secret, _, path = frame.cookie(request, "trip").partition(".")
        then, trip = local(unquote(path)), Trip(secret)
        begun = session.wellformed(secret) and hmac.compare_digest(trip.state.encode(), state.encode())
        if not begun or (iss and iss != issuer.provider.issuer):
            text = "This browser did not begin to sign in here, or too long ago. Nobody was signed in. Begin again."
            return asked(request, then, text, 403)
        try:
            if error or not code:
                raise IdentityError("The issuer did not say who you are. Nobody was signed in.")
            person = issuer.person(trip, code, back)
            caller = frame.service.admitted(person)
            if isinstance(caller, Person):
                raise IdentityError(caller.refusal)
            if caller is None or not caller.reads:
                raise IdentityError("These pages are not for your role. Nobody was signed in.")
        except IdentityError as problem:
            answer = asked(request, then, str(problem), 403)
        else:
            # Not a redirect: a browser that comes from another site would not send the new cookie along.
            answer = frame.page(request, "signed_in.html", None, name=caller.name, role=caller.role, then=then)
            frame.renew(request, answer, person)
        frame.give(request, answer, "trip", "", seconds=0, lax=True)
        return answer
