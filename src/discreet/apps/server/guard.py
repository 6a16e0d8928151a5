"""What every request passes first: size, rate, headers, and errors that say the same whatever the data holds."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

from discreet.apps.server.access_log import template
from discreet.show import served_policy

__all__ = ["BESIDE", "HEADERS", "Bucket", "Guard", "OneLength"]

log = logging.getLogger("discreet.server")

_NAMES = 1000
_ALWAYS = ("/livez", "/readyz")  # a load balancer is not to wait behind strangers, and these are cheap
_WIDE = 200  # bytes of a header that shows a token

BESIDE = "discreet.beside"
"""Set on a request whose caller is known by something else than its authorization header, which others may send too."""

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", served_policy(forms=True).encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


@dataclass
class Bucket:
    """So many requests a second on average, and short bursts of more."""

    rate: float
    burst: float
    level: float = field(init=False)
    last: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.level = self.burst

    def take(self) -> bool:
        """Whether one more is allowed now."""
        with self.lock:
            now = time.monotonic()
            self.level = min(self.burst, self.level + (now - self.last) * self.rate)
            self.last = now
            if self.level < 1:
                return False
            self.level -= 1
            return True


class Guard:
    """ASGI middleware: a limit on bodies, one on the rate of a caller, and headers on every answer.

    The rate is kept for each caller that `named` knows by what a request shows, and for all others together, so that
    made-up tokens buy nothing and take nothing from those who have one. No address is looked at.

    `alone` is for a server without tokens, which serves whoever reaches it: then requests must be made to this machine
    by its own name, and what spends must not come from a page of another site that a browser here has open.

    `larger` names paths whose bodies may be larger: they read them as they come, from those who may send one.
    """

    def __init__(
        self,
        app: Any,
        *,
        body: int,
        rate: float,
        burst: float,
        named: Callable[[Scope], str | None],
        alone: bool = False,
        larger: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.app, self.body, self.rate, self.burst, self.named, self.alone = app, body, rate, burst, named, alone
        self.larger = larger
        self.strangers = Bucket(rate, burst)
        self.names: dict[bytes, str] = {}  # of headers that were good once
        self.buckets: dict[str, Bucket] = {}
        self.lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def dressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in own)]
            await send(message)

        try:
            await self._passed(scope, receive, dressed)
        except Exception as problem:
            # What was not foreseen may hold anything: its kind is logged, its text is told to nobody.
            log.error("%s in %s", type(problem).__name__, template(scope))
            if not begun:
                await _plain(send, 500, "something went wrong", "ServerError")

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """On to the paths, unless a limit is met."""
        scope["discreet.begun"] = time.monotonic()
        if scope.get("path") in _ALWAYS and scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        headers = dict(reversed(scope["headers"]))  # of a header sent twice the first counts, here as for the paths
        if not (await self._bucket(scope, headers.get(b"authorization", b""))).take():
            await _plain(send, 429, "too many requests: slow down")
            return
        if self.alone and not _from_here(scope["method"], headers):
            await _plain(send, 403, "without tokens this machine alone is served")
            return
        most = self.larger.get(scope.get("path", ""), self.body)
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > most:
            await _plain(send, 413, "the body is too large")
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:  # a body that lied about its length is cut off
                return {"type": "http.disconnect"}
            return message

        await self.app(scope, counted, send)

    async def _bucket(self, scope: Scope, shown: bytes) -> Bucket:
        shown = b"local" if self.alone else shown
        name = self.names.get(shown) if shown else None
        if name is None:
            name = await anyio.to_thread.run_sync(self.named, scope)
            if name is None:
                return self.strangers
        scope["discreet.caller"] = name
        with self.lock:
            borne = 0 < len(shown) <= _WIDE and not scope.get(BESIDE)
            if borne and len(self.names) < _NAMES:  # one token can be written in many ways
                self.names[shown] = name
            return self.buckets.setdefault(name, Bucket(self.rate, self.burst))


class OneLength:
    """ASGI middleware, before all others: a request whose length can be read in two ways ends its connection.

    What a proxy in front takes for the body of one would here be another request, in which a stranger says who is
    there as if the proxy did (RFC 9112, section 6.3).
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            names = [name.lower() for name, _ in scope["headers"]]
            if b"transfer-encoding" in names and b"content-length" in names:
                await _plain(send, 400, "a request has one length", closing=True)
                return
        await self.app(scope, receive, send)


def _from_here(method: str, headers: dict[bytes, bytes]) -> bool:
    """Whether a request names this machine, and does not come from a page of another site.

    A name that some site made to point here is not ours, though the request arrives.
    """
    host = headers.get(b"host", b"").decode("latin-1")
    try:
        named = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    if named not in ("localhost", "127.0.0.1", "::1"):
        return False
    if method in ("GET", "HEAD"):
        return True
    origin = headers.get(b"origin")
    same = origin is None or origin.decode("latin-1").partition("://")[2] == host
    return same and headers.get(b"sec-fetch-site", b"none") in (b"same-origin", b"none")


async def _plain(send: Send, status: int, message: str, error: str = "HTTPError", *, closing: bool = False) -> None:
    body = json.dumps({"error": error, "message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    headers += [(b"retry-after", b"1")] if status == 429 else []
    headers += [(b"connection", b"close")] if closing else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
