"""What every request passes first: size, rate, headers, and errors that say the same whatever the data holds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["HEADERS", "Bucket", "Guard"]

log = logging.getLogger("discreet.server")

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
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

    The rate is kept for each token (or for all who show none together), by a hash of it, never by address.
    """

    def __init__(self, app: Any, *, body: int, rate: float, burst: float) -> None:
        self.app, self.body, self.rate, self.burst = app, body, rate, burst
        self.buckets: dict[int, Bucket] = {}
        self.lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if not self._bucket(headers.get(b"authorization", headers.get(b"cookie", b""))).take():
            await _plain(send, 429, b'{"error":"slow down"}')
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.body:
            await _plain(send, 413, b'{"error":"body too large"}')
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.body:  # a body that lied about its length is cut off
                return {"type": "http.disconnect"}
            return message

        begun = False

        async def dressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in own)]
            await send(message)

        try:
            await self.app(scope, counted, dressed)
        except Exception as problem:
            # What was not foreseen may hold anything: its kind is logged, its text is told to nobody.
            log.error("%s in %s", type(problem).__name__, scope["path"])
            if not begun:
                await _plain(send, 500, b'{"error":"ServerError","message":"something went wrong"}')

    def _bucket(self, who: bytes) -> Bucket:
        with self.lock:
            if len(self.buckets) > 10_000:  # strangers' made-up tokens must not fill the memory
                self.buckets.clear()
            return self.buckets.setdefault(hash(who), Bucket(self.rate, self.burst))


async def _plain(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
