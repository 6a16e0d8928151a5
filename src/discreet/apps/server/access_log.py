"""A line for every request, without a value: when, by which method, along which path, how it ended, and whose token.

Of a path only its pattern is written (/api/datasets/{name}/release), of a method only one that there is. Nothing of a
query, a body, an id, an address or how long it took comes here. Surveys have no log at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import InputError

__all__ = ["AccessLog", "template", "writer"]

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class AccessLog:
    """ASGI middleware, the outermost: writes the line when the answer begins."""

    def __init__(self, app: Any, *, write: Callable[[str], None]) -> None:
        self.app, self.write = app, write

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0

        async def seen(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        finally:
            self.write(line(scope, status))


def line(scope: dict[str, Any], status: int) -> str:
    """One line of the log."""
    method = scope["method"] if scope["method"] in _METHODS else "OTHER"
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{when} {method} {template(scope)} {status or '-'} {scope.get('discreet.caller', '-')}"


def template(scope: dict[str, Any]) -> str:
    """The pattern of the path that was found; "-" where there is none."""
    found = getattr(scope.get("route"), "path", None)
    return found if isinstance(found, str) else "-"


def writer(place: str) -> Callable[[str], None]:
    """What writes lines to a file that only its owner can read, or to standard error for "-".

    Each line is one write at the end of the file, so that processes can share it.
    """
    how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        handle = 2 if place == "-" else os.open(Path(place), how, 0o600)
    except OSError as problem:
        allowed = f"a file that can be written, or - for standard error ({problem.strerror})"
        raise InputError("--access-log", place, allowed) from None

    def write(text: str) -> None:
        with suppress(OSError):  # a full disk is no reason to refuse an answer that was paid for
            os.write(handle, f"{text}\n".encode())

    return write
