"""The server of a survey: gives out the page, takes randomised reports, shows the estimates. It knows nobody.

No cookie, no address, no time of arrival is read, logged or kept. A refusal is the same few bytes whatever was wrong.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import threading
import time
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from discreet.apps.survey.invitations import Invitations
from discreet.apps.survey.page import render, render_closed
from discreet.apps.survey.results import Results, results_of, results_page
from discreet.apps.survey.store import Reports
from discreet.errors import DiscreetError, InputError, MissingExtraError
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.show import served_policy, style

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

__all__ = ["HEADERS", "Throttle", "application", "is_loopback", "serve"]

HEADERS = {
    "Content-Security-Policy": served_policy(),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_FILES = {
    "page.js": "text/javascript",
    "randomise.js": "text/javascript",
    "memory.js": "text/javascript",
    "number.js": "text/javascript",
    "blind.js": "text/javascript",
    "sw.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_TOKEN = re.compile(r"[0-9a-f]{32}")
_log = logging.getLogger("discreet.survey")


class Throttle:
    """So many a second for everybody together, `burst` at once: no address needs to be kept for it."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left, self._last = float(burst), clock()
        self._guard = threading.Lock()

    def allows(self) -> bool:
        """Whether one more may pass now."""
        with self._guard:
            now = self._clock()
            self._left = min(self._burst, self._left + (now - self._last) * self._rate)
            self._last = now
            if self._left < 1:
                return False
            self._left -= 1
            return True


class _Latest:
    """The estimates, made anew when they are looked at, but not more often than one second in ten is spent on it."""

    def __init__(self, survey: Questionnaire, reports: Reports) -> None:
        self._survey, self._reports = survey, reports
        self._guard = threading.Lock()
        self._until = 0.0
        self._found: Results | None = None

    def __call__(self) -> Results:
        with self._guard:
            start = time.monotonic()
            if self._found is None or start >= self._until:
                self._found = results_of(self._survey, self._reports)
                end = time.monotonic()
                self._until = end + 9 * (end - start)
            return self._found


def application(
    survey: Questionnaire,
    reports: Reports,
    *,
    origin: str | None = None,
    show_results: bool = True,
    accepting: bool = True,
    throttle: Throttle | None = None,
    invitations: Invitations | None = None,
) -> FastAPI:
    """The web application of one survey over one store.

    `origin` is the address people see (https://survey.example.org) where a proxy in front changes the Host header. One
    that is not `accepting` is over: it says so, refuses reports, and still shows the estimates. With `invitations` a
    report is taken only with a token that was signed for one of them. A survey of several rounds is served in one of
    them (`survey.at(3)`), and takes reports of that round alone.
    """
    try:
        from fastapi import FastAPI
        from fastapi.concurrency import run_in_threadpool
        from fastapi.responses import HTMLResponse, JSONResponse, Response
    except ImportError:
        raise MissingExtraError("server", "fastapi") from None
    survey.check_round()
    gate = throttle if throttle is not None else Throttle(rate=100, burst=1000)
    latest = _Latest(survey, reports)
    key = None if invitations is None else invitations.public
    page, digest = render(survey, key) if accepting else render_closed(survey, show_results), survey.digest
    longest = 4096 + survey.longest
    app = FastAPI(title="survey", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    def refuse(status: int) -> Response:
        return JSONResponse({"error": "refused"}, status)

    async def take(request: Request) -> Response:
        if not _same_origin(request, origin) or not _is_json(request):
            return refuse(403)
        if not accepting:
            return refuse(410)
        if not gate.allows():
            return refuse(429)
        body = await _body(request, longest)
        if body is None:
            return refuse(413)
        read = _report(survey, digest, body, signed=invitations is not None)
        if read is None:
            return refuse(400)
        token, answers, signature = read
        if invitations is not None and not await run_in_threadpool(invitations.valid, token, signature):
            return refuse(400)
        kept = await run_in_threadpool(reports.keep, token, digest, answers)
        return refuse(409) if kept == "other" else JSONResponse({"kept": True})

    async def sign(request: Request) -> Response:
        if not _same_origin(request, origin) or not _is_json(request):
            return refuse(403)
        if not accepting or invitations is None:
            return refuse(410)
        if not gate.allows():
            return refuse(429)
        body = await _body(request, 4096)
        sent = _object(body, {"survey", "code", "blinded"}) if body is not None else None
        if sent is None or sent["survey"] != digest:
            return refuse(400)
        try:
            signature = await run_in_threadpool(invitations.sign, sent["code"], sent["blinded"])
        except InputError:
            return refuse(400)
        return refuse(409) if signature is None else JSONResponse({"signature": signature})

    async def show(request: Request) -> Response:
        found = await run_in_threadpool(latest)
        if request.url.path.endswith(".json"):
            return JSONResponse(found.to_dict())
        return HTMLResponse(results_page(found))

    def fixed(content: bytes, kind: str) -> Callable[[Request], Any]:
        async def given(request: Request) -> Response:
            return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

        return given

    async def guard(request: Request, proceed: Any) -> Response:
        try:
            answer: Response = await proceed(request)
        except DiscreetError as problem:  # the store is away; the device keeps the report and tries again
            _log.warning("%s", problem)
            answer = refuse(503)
        except Exception as problem:  # a traceback is no place for what was sent
            _log.error("a request failed: %s", type(problem).__name__)
            answer = refuse(500)
        if answer.status_code in (404, 405):  # what was asked for is not repeated
            answer = refuse(answer.status_code)
        for name, value in HEADERS.items():
            answer.headers[name] = value
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer

    app.middleware("http")(guard)
    app.add_route("/", fixed(page.encode(), "text/html; charset=utf-8"), methods=["GET"])
    app.add_route("/style.css", fixed(style().encode(), "text/css"), methods=["GET"])
    for name, kind in _FILES.items():
        content = (files("discreet.apps.survey") / name).read_bytes()
        app.add_route(f"/{name}", fixed(content, kind), methods=["GET"])
    app.add_route("/report", take, methods=["POST"])
    if invitations is not None:
        app.add_route("/sign", sign, methods=["POST"])
    if show_results:
        app.add_route("/results", show, methods=["GET"])
        app.add_route("/results.json", show, methods=["GET"])
    return app


def _same_origin(request: Request, origin: str | None) -> bool:
    """Whether the page that sends is ours: a page of another site cannot lie about either header."""
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    came = request.headers.get("origin", "")
    if origin is not None:
        return came == origin
    return bool(came) and urlsplit(came).netloc == request.headers.get("host", "")


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def _body(request: Request, longest: int) -> bytes | None:
    """The body, or None as soon as it is longer than any report can be."""
    whole = bytearray()
    async for piece in request.stream():
        whole += piece
        if len(whole) > longest:
            return None
    return bytes(whole)


def _object(body: bytes, fields: set[str]) -> dict[str, Any] | None:
    """A JSON object with just these fields, else None."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return sent if isinstance(sent, dict) and set(sent) == fields else None


def _report(survey: Questionnaire, digest: str, body: bytes, *, signed: bool) -> tuple[str, str, Any] | None:
    """The token, the answers and the signature (if there is one) of a well-formed report of this survey, else None."""
    sent = _object(body, {"survey", "token", "answers", *(("signature",) if signed else ())})
    if sent is None or sent["survey"] != digest:
        return None
    token = sent["token"]
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return None
    try:
        return token, survey.written(sent["answers"]), sent.get("signature")
    except InputError:
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(app: FastAPI, host: str, port: int) -> None:
    """Run until stopped. No access log; forwarded addresses are not even parsed."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("server", "uvicorn") from None
    uvicorn.run(
        app,
        host=host,
        port=port,
        access_log=False,
        log_level="warning",  # below this, uvicorn names addresses
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_keep_alive=5,
        limit_concurrency=1000,
    )
