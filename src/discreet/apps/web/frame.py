"""What all pages share: who looks, the budget in the header, the way forms are checked, errors in the same words."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

import jinja2
from fastapi import APIRouter, Depends, HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.accounting.words import readable
from discreet.apps.server.app import status_of
from discreet.apps.server.jobs import public_words
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web import form as forms
from discreet.apps.web import session
from discreet.apps.web.form import Form
from discreet.apps.web.pictures import expected
from discreet.core.release import number, percent
from discreet.errors import DiscreetError, FormError, SignInError
from discreet.ledger.account import Standing
from discreet.query.ask import Ask, check_subject
from discreet.show import element, meter, page, reach, reach_axis, style

__all__ = ["Frame", "Page", "local"]

log = logging.getLogger("discreet.server")

_HERE = ("localhost", "127.0.0.1", "::1")


@dataclass
class Frame:
    """The frame around every page of a service."""

    service: Service
    sessions: session.Sessions | None = field(init=False)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Pages of a dataset, in the order of the navigation: the end of the path, and what it is called."""
    tables: set[str] = field(default_factory=set)
    """Those of them that only a table has."""
    wide: list[tuple[str, str]] = field(default_factory=list)
    """Pages that are about no dataset: path and name."""

    def __post_init__(self) -> None:
        self.sessions = None if self.service.tokens is None else session.Sessions(self.service.tokens)
        self.static = _static()
        self.templates = jinja2.Environment(
            loader=jinja2.PackageLoader("discreet.apps.web"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        pictures = {"expected": expected, "meter": meter, "reach": reach, "reach_axis": reach_axis}
        self.templates.globals.update(static=self._file, readable=readable, **pictures)
        self.templates.filters.update(number=number, percent=percent, segment=lambda text: quote(str(text), safe=""))
        self.templates.filters["code"] = _code

    # Who looks

    def known(self, request: Request) -> Caller | None:
        """Who is signed in; without tokens, the custodian of this machine."""
        if self.sessions is None:
            return Caller("local", "custodian")
        seen = request.scope
        if "discreet.known" not in seen:  # once for each request
            seen["discreet.known"] = self.sessions.caller(request.cookies.get(_cookie(request, "session"), ""))
        found: Caller | None = seen["discreet.known"]
        return found

    def caller(self, request: Request) -> Caller:
        """Who is signed in, as a dependency: others are sent to sign in."""
        caller = self.known(request)
        if caller is None:
            raise SignInError
        return caller

    def spender(self, request: Request) -> Caller:
        """Someone who may spend, as a dependency."""
        caller = self.caller(request)
        if not caller.spends:
            raise HTTPException(403, "This token may look but not spend. Nothing was spent.")
        return caller

    def custodian(self, request: Request) -> Caller:
        """A custodian, as a dependency."""
        caller = self.caller(request)
        if caller.role != "custodian":
            raise HTTPException(403, "This page is for custodians.")
        return caller

    # Forms

    async def form(self, request: Request) -> Form:
        """What a form sent, as a dependency: only if it is one that this browser was given here."""
        try:
            found = await forms.read(request)
        except FormError:
            raise HTTPException(400, "This is no form of these pages. Nothing was spent.") from None
        secret = self._secret(request)
        shown = found.pop("csrf", "")
        if not secret or not hmac.compare_digest(session.mark(secret).encode(), shown.encode()):
            raise HTTPException(403, "This form is not of this session; nothing was spent. Load it again.")
        return found

    def marked(self, request: Request) -> None:
        """The same of what a script of a page sends, as a dependency: the mark is in a header."""
        secret, shown = self._secret(request), request.headers.get("x-csrf", "")
        if not secret or not hmac.compare_digest(session.mark(secret).encode(), shown.encode()):
            raise HTTPException(403, "This page is not of this session; nothing was spent. Load it again.")

    def csrf(self, request: Request) -> str:
        """What forms of this browser must carry."""
        return session.mark(self._secret(request))

    def _secret(self, request: Request) -> str:
        """What ties forms to this browser: its session, or a cookie for that alone where there is none."""
        if self.sessions is not None and self.known(request) is not None:
            return request.cookies[_cookie(request, "session")]
        own = request.cookies.get(_cookie(request, "form"), "")
        return own if session.wellformed(own) else ""

    # Pages

    def page(
        self, request: Request, template: str, caller: Caller | None, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page: its template with the navigation, the budget left, and what its forms must carry.

        The dataset is that of the path, or `dataset` among the values.
        """
        name = values.pop("dataset", None) or request.path_params.get("dataset")
        dataset = name if name in self.service.curators and caller is not None else None
        secret = self._secret(request)
        own = secret or session.fresh()
        text = self.templates.get_template(template).render(
            caller=caller,
            alone=self.service.tokens is None,
            dataset=dataset,
            datasets=list(self.service.curators) if caller is not None else [],
            budgets=[] if caller is None else self.budgets(caller, dataset),
            navigation=[] if dataset is None else self._navigation(request, dataset),
            wide=[] if caller is None else [(path, text, request.url.path == path) for path, text in self.wide],
            csrf=session.mark(own),
            **values,
        )
        # Not "no-referrer": with that, browsers name no origin when a form is sent, and the guard asks for it.
        page = HTMLResponse(text, status, {"referrer-policy": "same-origin"})
        if not secret:
            self._give(request, page, "form", own)
        return page

    def fragment(self, template: str, **values: Any) -> HTMLResponse:
        """A part of a page, for a script that puts it in place."""
        return HTMLResponse(self.templates.get_template(template).render(**values))

    def problem(self, request: Request, status: int, message: str, title: str = "") -> HTMLResponse:
        """A page that says what went wrong, in the words that the API has for it."""
        heading = title or _TITLES.get(status, "This cannot be done")
        return self.page(request, "problem.html", self.known(request), status, heading=heading, message=message)

    def budgets(self, caller: Caller, dataset: str | None = None) -> list[Standing]:
        """Where the allotments stand that a caller may see: of one dataset, or of all."""
        names = [dataset] if dataset is not None else list(self.service.curators)
        found = [one for name in names for one in self.service.curators[name].standing()]
        return [one for one in found if caller.allotment in (None, one.allotment.name)]

    def router(self, ask: type[Ask] | None = None) -> APIRouter:
        """Where a page puts its paths: errors become pages, and nothing is part of the API's description.

        With `ask`, the pages are about what such an ask is about, and refused where a dataset is something else.
        """
        frame = self

        class Framed(Page):
            owner = frame

        def fits(dataset: str, caller: Caller = Depends(self.caller)) -> None:  # noqa: B008  (FastAPI reads it there)
            check_subject(ask or Ask, self.service.curator(dataset, caller).declared)

        needed = [] if ask is None else [Depends(fits)]
        return APIRouter(route_class=Framed, include_in_schema=False, dependencies=needed)

    def _navigation(self, request: Request, dataset: str) -> list[tuple[str, str, bool]]:
        home = f"/d/{quote(dataset, safe='')}"
        path = request.scope.get("raw_path", b"").decode("latin-1") or request.url.path
        rest = path.removeprefix(home).strip("/").split("/")[0]
        hidden = set() if self.service.curators[dataset].declared.subject == "table" else self.tables
        return [(f"{home}/{end}".rstrip("/"), text, rest == end) for end, text in self.links if end not in hidden]

    def _file(self, name: str) -> str:
        """The address of a file of ours; it changes when the file does."""
        return f"/static/{name}?{hashlib.sha256(self.static[name]).hexdigest()[:12]}"

    # Signing in and out

    def sign_in(self, request: Request, secret: str, then: str) -> Response:
        """On to where someone wanted to go, with a session."""
        answer = RedirectResponse(local(then), 303)
        self._give(request, answer, "session", secret, seconds=session.HOURS * 3600)
        return answer

    def sign_out(self, request: Request) -> Response:
        """To the front door, without a session."""
        name = _cookie(request, "session")
        if self.sessions is not None and name in request.cookies:
            self.sessions.end(request.cookies[name])
        answer = RedirectResponse("/login", 303)
        self._give(request, answer, "session", "", seconds=0)
        return answer

    @staticmethod
    def _give(request: Request, answer: Response, kind: str, value: str, seconds: int | None = None) -> None:
        answer.set_cookie(
            _cookie(request, kind),
            value,
            max_age=seconds,
            path="/",
            secure=_secure(request),
            httponly=True,
            samesite="strict",
        )


def _code(text: object) -> Markup:
    """A message with its names, which stand in backticks, as code; everything else in it is text."""
    return Markup(re.sub(r"`([^`\n]*)`", r"<code>\1</code>", str(escape(str(text)))))


class Page(APIRoute):
    """A path whose errors are pages."""

    owner: Frame

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inside = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await self._told(inside, request)
            except Exception as problem:
                # What was not foreseen may hold anything: its kind is logged, its text is told to nobody.
                log.error("%s in %s", type(problem).__name__, self.path)
                return HTMLResponse(_BROKEN, 500)

        return handler

    async def _told(self, inside: Callable[[Request], Coroutine[Any, Any, Response]], request: Request) -> Response:
        """What a path answers, or a page that says why it cannot."""
        try:
            return await inside(request)
        except SignInError:
            back = request.url.path if request.method == "GET" else "/"
            return RedirectResponse(f"/login?then={quote(back, safe='')}", 303)
        except RequestValidationError:
            return self.owner.problem(request, 422, "This address is not understood.")
        except HTTPException as problem:
            return self.owner.problem(request, problem.status_code, str(problem.detail))
        except DiscreetError as problem:  # ours hold nothing private
            return self.owner.problem(request, status_of(problem), public_words(problem))


def local(path: str) -> str:
    """A path of these pages to go on to; the front page for anything else."""
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if fine and not urlsplit(path).netloc else "/"


def _cookie(request: Request, kind: str) -> str:
    """The name of a cookie; under TLS one that no other host and no plain connection can set."""
    return f"{'__Host-' if _secure(request) else ''}discreet-{kind}"


def _secure(request: Request) -> bool:
    """Whether the browser speaks TLS: other machines are served in no other way, if only by a proxy in front."""
    return request.url.scheme == "https" or request.url.hostname not in _HERE


def _static() -> dict[str, bytes]:
    """Files that pages use, by name: read once, so that no path of a request is ever opened."""
    folder = files("discreet.apps.web") / "static"
    own = {one.name: one.read_bytes() for one in folder.iterdir() if one.name.endswith((".js", ".svg"))}
    return {"style.css": style().encode(), **own}


_TITLES = {
    400: "This cannot be read",
    403: "Not allowed",
    404: "There is no such page",
    405: "There is no such page",
    409: "The budget does not cover this",
    422: "This cannot be asked",
    500: "Something went wrong",
}

_BROKEN = page(
    "Something went wrong",
    [
        element("h1", None, "Something went wrong"),
        element("p", None, "What happened is in the log of the server. The ledger says whether anything was spent."),
        element("p", None, element("a", {"href": "/"}, "To the front page")),
    ],
    linked="/static/style.css",
)
