"""Who a browser is: sessions that end with their token, and the value that every form must carry."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.apps.server.tokens import Caller, Tokens
from discreet.noise.bits import SystemBits

__all__ = ["HOURS", "Sessions", "fresh", "mark", "wellformed"]

HOURS = 8
"""How long a session lasts. After that the token is asked for again."""

_MOST = 100  # of one token; when there are more, the oldest end

_TABLE = """CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY, token TEXT NOT NULL, ends REAL NOT NULL
)"""
_SECRET = re.compile(r"[\w-]{43}", re.ASCII)


class Sessions:
    """Sessions of one server, beside its tokens, so that every worker on the machine knows them.

    Only hashes are kept. A session is looked up together with its token: when that is revoked, it opens nothing.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        with self._open() as books:
            books.execute(_TABLE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self.tokens.path, timeout=10)
        try:
            with books:
                yield books
        finally:
            books.close()

    def begin(self, token: str) -> str | None:
        """The secret of a new session for whoever shows a good token; None for any other."""
        if self.tokens.caller(token) is None:
            return None
        identity = token.split("_")[1]
        secret, now = fresh(), time.time()
        with self._open() as books:
            books.execute("DELETE FROM sessions WHERE ends < ?", (now,))
            books.execute("INSERT INTO sessions VALUES (?, ?, ?)", (_hashed(secret), identity, now + HOURS * 3600))
            books.execute(
                "DELETE FROM sessions WHERE token = ? AND rowid NOT IN "
                "(SELECT rowid FROM sessions WHERE token = ? ORDER BY ends DESC, rowid DESC LIMIT ?)",
                (identity, identity, _MOST),
            )
        return secret

    def caller(self, secret: str) -> Caller | None:
        """Whose session this is; None for one that is unknown, over, or whose token was revoked."""
        if not wellformed(secret):
            return None
        with self._open() as books:
            row = books.execute(
                "SELECT name, role, allotment FROM sessions JOIN tokens ON tokens.id = sessions.token "
                "WHERE sessions.hash = ? AND ends > ?",
                (_hashed(secret), time.time()),
            ).fetchone()
        return None if row is None else Caller(*row)

    def end(self, secret: str) -> None:
        """From now on this session opens nothing."""
        with self._open() as books:
            books.execute("DELETE FROM sessions WHERE hash = ?", (_hashed(secret),))


def fresh() -> str:
    """A new secret of 256 random bits, as text for a cookie."""
    return base64.urlsafe_b64encode(SystemBits().read(32).tobytes()).rstrip(b"=").decode()


def wellformed(secret: str) -> bool:
    """Whether it looks like one of ours."""
    return _SECRET.fullmatch(secret) is not None


def mark(secret: str) -> str:
    """The value that forms carry for a browser that holds `secret`. Other sites can send the cookie, not read this."""
    return hmac.new(secret.encode(), b"discreet form", hashlib.sha256).hexdigest()


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(b"discreet session " + secret.encode()).digest()
