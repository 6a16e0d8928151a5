"""Who a browser is: sessions that end with their token, and the value that every form must carry."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.apps.server.identity import Person
from discreet.apps.server.tokens import Caller, Tokens
from discreet.noise.bits import SystemBits

__all__ = ["HOURS", "Sessions", "fresh", "mark", "wellformed"]

HOURS = 8
"""How long a session lasts. After that the token is asked for again."""

_MOST = 100  # of one token; when there are more, the oldest end

_TABLE = """CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY, token TEXT NOT NULL, ends REAL NOT NULL
)"""
_PEOPLE = """CREATE TABLE IF NOT EXISTS people_sessions (
    hash BLOB PRIMARY KEY, name TEXT NOT NULL, groups TEXT NOT NULL, ends REAL NOT NULL
)"""
_SECRET = re.compile(r"[\w-]{43}", re.ASCII)


class Sessions:
    """Sessions of one server, beside its tokens, so that every worker on the machine knows them.

    Only hashes are kept. A session is looked up together with its token: when that is revoked, it opens nothing. That
    of a person whom an issuer named gives what the rules give them now.
    """

    def __init__(
        self, tokens: Tokens, admitted: Callable[[Person], Caller | Person | None] = lambda person: None
    ) -> None:
        self.tokens, self.admitted = tokens, admitted
        with self._open() as books:
            books.execute(_TABLE)
            books.execute(_PEOPLE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self.tokens.path, timeout=10)
        try:
            with books:
                yield books
        finally:
            books.close()

    def begin(self, token: str) -> str | None:
        """The secret of a new session for whoever shows a good token that reads; None for any other."""
        caller = self.tokens.caller(token)
        if caller is None or not caller.reads:
            return None
        identity = token.split("_")[1]
        secret, now = fresh(), time.time()
        ends = min(now + HOURS * 3600, self.tokens.until(token))
        with self._open() as books:
            books.execute("DELETE FROM sessions WHERE ends < ?", (now,))
            books.execute("INSERT INTO sessions VALUES (?, ?, ?)", (_hashed(secret), identity, ends))
            _limit(books, "sessions", "token", identity)
        return secret

    def begin_as(self, person: Person) -> str:
        """The secret of a new session for a person whom the issuer named."""
        secret, now = fresh(), time.time()
        with self._open() as books:
            books.execute("DELETE FROM people_sessions WHERE ends < ?", (now,))
            row = (_hashed(secret), person.name, json.dumps(person.groups), now + HOURS * 3600)
            books.execute("INSERT INTO people_sessions VALUES (?, ?, ?, ?)", row)
            _limit(books, "people_sessions", "name", person.name)
        return secret

    def caller(self, secret: str) -> Caller | Person | None:
        """Whose session this is; None for one that is unknown, over, or whose token was revoked.

        A `Person` is someone who signed in and whom no rule gives anything now.
        """
        if not wellformed(secret):
            return None
        with self._open() as books:
            row = books.execute(
                "SELECT token FROM sessions WHERE hash = ? AND ends > ?", (_hashed(secret), time.time())
            ).fetchone()
            one = books.execute(
                "SELECT name, groups FROM people_sessions WHERE hash = ? AND ends > ?", (_hashed(secret), time.time())
            ).fetchone()
        if one is not None:
            return self.admitted(Person(one[0], tuple(json.loads(one[1]))))
        caller = None if row is None else self.tokens.holder(row[0])
        if caller is not None:
            self.tokens.use(row[0])
        return caller

    def end(self, secret: str) -> None:
        """From now on this session opens nothing."""
        with self._open() as books:
            for table in ("sessions", "people_sessions"):
                books.execute(f"DELETE FROM {table} WHERE hash = ?", (_hashed(secret),))


def _limit(books: sqlite3.Connection, table: str, column: str, value: str) -> None:
    """End the oldest sessions of one, where there are too many."""
    books.execute(
        f"DELETE FROM {table} WHERE {column} = ? AND rowid NOT IN "
        f"(SELECT rowid FROM {table} WHERE {column} = ? ORDER BY ends DESC, rowid DESC LIMIT ?)",
        (value, value, _MOST),
    )


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
