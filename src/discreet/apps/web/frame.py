"""What all pages share: who looks, the budget in the header, the way forms are checked, errors in the same words."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal
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
from discreet.apps.server.identity import Person
from discreet.apps.server.jobs import public_words
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web import form as forms
from discreet.apps.web import session
from discreet.apps.web.form import Form
from discreet.apps.web.terms import Terms
from discreet.apps.web.tour import tour_at
from discreet.core.release import number, percent
from discreet.curator.plan_view import expected, odds_table
from discreet.curator.title import title_of
from discreet.errors import DiscreetError, FormError, LedgerError, SignInError
from discreet.ledger.account import Standing
from discreet.ledger.standing_view import budget_meter, standing_table
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
        self.sessions = (
            None if self.service.tokens is None else session.Sessions(self.service.tokens, self.service.admitted)
        )
        self.static = _static()
        self.templates = jinja2.Environment(
            loader=jinja2.PackageLoader("discreet.apps.web"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        pictures = {
            "expected": expected,
            "odds_table": odds_table,
            "meter": meter,
            "reach": reach,
            "reach_axis": reach_axis,
        }
        pictures |= {"budget_meter": budget_meter, "standing_table": standing_table}
        self.templates.globals.update(static=self._file, readable=readable, title_of=title_of, **pictures)
        self.templates.filters.update(number=number, percent=percent, segment=lambda text: quote(str(text), safe=""))
        self.templates.filters["code"] = _code
        self.templates.filters["capitalized"] = lambda text: text[:1].upper() + text[1:]
        self.templates.filters["figure"] = lambda text: text[:1].isdigit() or text[:1] in "-\u2013"

    # Who looks

    def known(self, request: Request) -> Caller | None:
        """Who is signed in; without tokens, the custodian of this machine."""
        if self.sessions is None:
            return Caller("local", "custodian")
        seen = request.scope
        if "discreet.known" not in seen:  # once for each request
            seen["discreet.known"] = self._seen(request)
        found: Caller | Person | None = seen["discreet.known"]
        return found if isinstance(found, Caller) else None

    def _seen(self, request: Request) -> Caller | Person | None:
        """By the session of the browser, or by a proxy that vouches for whoever is there: then it decides alone."""
        identity = self.service.identity
        if identity is not None and identity.proxy is not None:
            person = identity.proxy.person(request.scope)
            if person is not None:
                return self.service.admitted(person)
        held = self.cookie(request, "session")
        found = None if self.sessions is None else self.sessions.caller(held)
        if found is not None:
            request.scope["discreet.session"] = held
        return found

    def caller(self, request: Request) -> Caller:
        """Who is signed in, as a dependency: others are sent to sign in."""
        caller = self.known(request)
        if caller is None:
            if isinstance(person := request.scope.get("discreet.known"), Person):
                raise HTTPException(403, person.refusal)
            raise SignInError
        if not caller.reads:
            raise HTTPException(403, f"These pages are not for the role {caller.role}.")
        dataset = request.path_params.get("dataset")
        if dataset is not None and not caller.knows(dataset):  # here once, whatever a page does with it
            self.service.curator(dataset, caller)
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
            raise HTTPException(
                403, f"This page is for custodians; you are signed in as {caller.role}. Nothing was changed."
            )
        return caller

    # Forms

    async def form(self, request: Request) -> Form:
        """What a form sent, as a dependency: only if it is one that this browser was given here."""
        try:
            found = await forms.read(request)
        except FormError:
            raise HTTPException(400, "This request is not a form of these pages. Nothing was spent.") from None
        self.check_form(request, found.pop("csrf", ""))
        return found

    def check_form(self, request: Request, shown: str) -> None:
        """Refuse a form that does not carry what this browser was given."""
        secret = self._secret(request)
        if not secret or not hmac.compare_digest(session.mark(secret).encode(), shown.encode()):
            raise HTTPException(
                403, "This form belongs to another session. Nothing was spent or changed. Load it again."
            )

    def marked(self, request: Request) -> None:
        """The same of what a script of a page sends, as a dependency: the mark is in a header."""
        secret, shown = self._secret(request), request.headers.get("x-csrf", "")
        if not secret or not hmac.compare_digest(session.mark(secret).encode(), shown.encode()):
            raise HTTPException(403, "This page belongs to another session. Nothing was spent. Load it again.")

    def csrf(self, request: Request) -> str:
        """What forms of this browser must carry."""
        return session.mark(self._secret(request))

    def _secret(self, request: Request) -> str:
        """What ties forms to this browser: its session, or a cookie for that alone where there is none."""
        if self.known(request) is not None and (held := request.scope.get("discreet.session")):
            return str(held)
        own = request.cookies.get(_cookie(request, "form"), "")
        return own if session.wellformed(own) else ""

    # Pages

    def page(
        self, request: Request, template: str, caller: Caller | None, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page: its template with the navigation, the budget left, and what its forms must carry.

        The dataset is that of the path, or `dataset` among the values. `tabs` is the navigation of a section that is
        about no dataset. What is left of budgets is shown on the pages of their dataset.
        """
        tabs = values.pop("tabs", None)
        name = values.pop("dataset", None) or request.path_params.get("dataset")
        known = [] if caller is None else self.service.datasets(caller)
        dataset = name if name in known and tabs is None else None
        secret = self._secret(request)
        own = secret or session.fresh()
        text = self.templates.get_template(template).render(
            caller=caller,
            alone=self.service.tokens is None,
            dataset=dataset,
            datasets=known,
            budgets=[] if caller is None or dataset is None else self._left(caller, dataset),
            navigation=tabs or ([] if dataset is None else self._navigation(request, dataset)),
            section=tabs is not None,
            wide=[] if caller is None else [(path, text, request.url.path == path) for path, text in self.wide],
            csrf=session.mark(own),
            terms=Terms(),
            tour=None if caller is None else tour_at(request, dataset or next(iter(known), "")),
            **values,
        )
        # Not "no-referrer": with that, browsers name no origin when a form is sent, and the guard asks for it.
        page = HTMLResponse(text, status, {"referrer-policy": "same-origin"})
        if not secret:
            self._give(request, page, "form", own)
        return page

    def fragment(self, template: str, **values: Any) -> HTMLResponse:
        """A part of a page, for a script that puts it in place."""
        return HTMLResponse(self.templates.get_template(template).render(**{"terms": Terms(), **values}))

    def problem(self, request: Request, status: int, message: str, title: str = "") -> HTMLResponse:
        """A page that says what went wrong, in the words that the API has for it."""
        heading = title or _TITLES.get(status, "This cannot be done")
        return self.page(request, "problem.html", self.known(request), status, heading=heading, message=message)

    def budgets(self, caller: Caller, dataset: str | None = None) -> list[Standing]:
        """Where the allotments stand that a caller may see: of one dataset, or of all."""
        names = [dataset] if dataset is not None else self.service.datasets(caller)
        found = [one for name in names for one in self.service.curators[name].standing()]
        return [one for one in found if caller.sees(one.allotment.name)]

    def _left(self, caller: Caller, dataset: str) -> list[Standing]:
        """The same for the header of a page, which may be the page that says that the ledger does not answer."""
        try:
            return self.budgets(caller, dataset)
        except LedgerError:
            return []

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
        rest = "jobs" if rest == "new" else rest
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

    def renew(self, request: Request, answer: Response, person: Person) -> None:
        """A new session for a person whom the issuer named; what this browser had before ends."""
        if self.sessions is None:
            return
        self.sessions.end(self.cookie(request, "session"))
        secret = self.sessions.begin_as(person)
        self._give(request, answer, "session", secret, seconds=session.HOURS * 3600)

    def sign_out(self, request: Request) -> Response:
        """To the front door, without a session."""
        name = _cookie(request, "session")
        if self.sessions is not None and name in request.cookies:
            self.sessions.end(request.cookies[name])
        answer = RedirectResponse("/login", 303)
        self._give(request, answer, "session", "", seconds=0)
        return answer

    def cookie(self, request: Request, kind: str) -> str:
        """The cookie of a kind that this browser has; nothing where it has none."""
        return request.cookies.get(_cookie(request, kind), "")

    def give(self, request: Request, answer: Response, kind: str, value: str, *, seconds: int, lax: bool) -> None:
        """Give a browser a cookie; a `lax` one comes along when another site sends it here."""
        self._give(request, answer, kind, value, seconds, "lax" if lax else "strict")

    @staticmethod
    def _give(
        request: Request,
        answer: Response,
        kind: str,
        value: str,
        seconds: int | None = None,
        site: Literal["lax", "strict"] = "strict",
    ) -> None:
        answer.set_cookie(
            _cookie(request, kind),
            value,
            max_age=seconds,
            path="/",
            secure=_secure(request),
            httponly=True,
            samesite=site,
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
    more = (folder / "desk.css").read_text("utf-8")  # what only pages of a server have
    return {"style.css": f"{style()}\n{more}".encode(), **own}


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
