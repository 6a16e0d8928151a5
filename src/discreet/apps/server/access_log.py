"""A line for every request, without a value: when, by which method, along which path, how it ended, and whose token.

Of a path only its pattern is written (/api/datasets/{name}/release), of a method only one that there is. Nothing of a
query, a body, an id of a release or an address comes here. Lines in JSON also have an id of the request, which its
answer carries as `x-request-id`, and how long whoever asked had to wait. Surveys have no log at all.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.noise.bits import SystemBits

__all__ = ["AccessLog", "event_line", "method_of", "template", "write_event", "writer"]

_HOW = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class AccessLog:
    """ASGI middleware, the outermost: writes the line when the answer has ended. `style` is text or json."""

    def __init__(self, app: Any, *, write: Callable[[str], None], style: str = "text") -> None:
        self.app, self.write, self.style = app, write, style

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, begun = 0, time.monotonic()
        name = SystemBits().read(8).tobytes().hex() if self.style == "json" else ""

        async def seen(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if name:
                    message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        finally:
            if name:
                self.write(json_line(scope, status, name, time.monotonic() - begun))
            else:
                self.write(line(scope, status))


def line(scope: dict[str, Any], status: int) -> str:
    """One line of the log, as text."""
    return f"{_now()} {method_of(scope)} {template(scope)} {status or '-'} {scope.get('discreet.caller', '-')}"


def json_line(scope: dict[str, Any], status: int, name: str, seconds: float) -> str:
    """One line of the log, as JSON."""
    values = {"time": _now(), "event": "request", "id": name, "method": method_of(scope), "route": template(scope)}
    caller = scope.get("discreet.caller")
    return json.dumps({**values, "status": status or None, "caller": caller, "seconds": round(seconds, 3)})


def event_line(event: str, style: str = "text", **values: str | int) -> str:
    """A line for what happens to the server itself: a process started or died, settings are read again, it stops."""
    if style == "json":
        return json.dumps({"time": _now(), "event": event, **values})
    return " ".join([_now(), event, *(f"{name}={value}" for name, value in values.items())])


def write_event(place: str, event: str, style: str = "text", **values: str | int) -> None:
    """Write such a line, to the file of that name as it is now: it may have been moved away and begun anew."""
    with suppress(OSError):
        handle = 2 if place == "-" else os.open(Path(place), _HOW, 0o600)
        try:
            os.write(handle, f"{event_line(event, style, **values)}\n".encode())
        finally:
            if place != "-":
                os.close(handle)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def method_of(scope: dict[str, Any]) -> str:
    """The method of a request; OTHER for one that there is not."""
    return scope["method"] if scope["method"] in _METHODS else "OTHER"


def template(scope: dict[str, Any]) -> str:
    """The pattern of the path that was found; "-" where there is none."""
    found = getattr(scope.get("route"), "path", None)
    return found if isinstance(found, str) else "-"


def writer(place: str) -> Callable[[str], None]:
    """What writes lines to a file that only its owner can read, or to standard error for "-".

    Each line is one write at the end of the file, so that processes can share it.
    """
    try:
        handle = 2 if place == "-" else os.open(Path(place), _HOW, 0o600)
    except OSError as problem:
        allowed = f"a file that can be written, or - for standard error ({problem.strerror})"
        raise InputError("--access-log", place, allowed) from None

    def write(text: str) -> None:
        with suppress(OSError):  # a full disk is no reason to refuse an answer that was paid for
            os.write(handle, f"{text}\n".encode())

    return write
