"""Who may do what on a server: tokens, of which only hashes are kept, with roles and an allotment of their own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from discreet.errors import InputError
from discreet.noise.bits import SystemBits

__all__ = ["ROLES", "Caller", "Role", "Tokens"]

Role = Literal["custodian", "analyst", "viewer"]
ROLES: tuple[str, ...] = get_args(Role)

_PREFIX = "dsc"
_TABLE = """CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, allotment TEXT,
    made TEXT NOT NULL DEFAULT (datetime('now'))
)"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone whose token was shown. `allotment` is the only one they may spend from; None: any.

    A custodian may do everything; an analyst may plan, ask and read releases; a viewer may read releases and plans.
    """

    name: str
    role: Role
    allotment: str | None = None

    @property
    def spends(self) -> bool:
        """Whether they may spend."""
        return self.role != "viewer"


class Tokens:
    """The tokens of one server, in an SQLite file that only its owner can read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        with self._open() as books:
            books.execute(_TABLE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self.path, timeout=10)
        try:
            with books:
                yield books
        finally:
            books.close()

    def create(self, name: str, role: str, allotment: str | None = None) -> str:
        """A new token, shown this once: only its hash is kept."""
        if not isinstance(name, str) or not 1 <= len(name) <= 100 or not name.isprintable():
            raise InputError("name", name, "a printable name of 1 to 100 characters")
        if role not in ROLES:
            raise InputError("role", role, among=ROLES)
        bits = SystemBits()
        identity = bits.read(6).tobytes().hex()
        secret = base64.urlsafe_b64encode(bits.read(32).tobytes()).rstrip(b"=").decode()
        try:
            with self._open() as books:
                row = (identity, _hashed(secret), name, role, allotment)
                books.execute("INSERT INTO tokens (id, hash, name, role, allotment) VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.IntegrityError:
            hint = "Revoke the old token first."
            raise InputError("name", name, "a name that has no token yet", hint) from None
        return f"{_PREFIX}_{identity}_{secret}"

    def caller(self, token: str) -> Caller | None:
        """Whose token this is; None for one that is unknown or was revoked. Takes as long for either."""
        prefix, _, rest = token.partition("_")
        identity, _, secret = rest.partition("_")
        with self._open() as books:
            row = books.execute("SELECT hash, name, role, allotment FROM tokens WHERE id = ?", (identity,)).fetchone()
        known = row[0] if row else bytes(32)
        fits = hmac.compare_digest(known, _hashed(secret))
        return Caller(*row[1:]) if row and fits and prefix == _PREFIX else None

    def revoke(self, name: str) -> None:
        """From now on the token of `name` opens nothing."""
        with self._open() as books:
            gone = books.execute("DELETE FROM tokens WHERE name = ?", (name,)).rowcount
        if not gone:
            raise InputError("name", name, "the name of a token", among=[one["name"] for one in self.listed()])

    def listed(self) -> list[dict[str, str | None]]:
        """Names, roles, allotments and when each was made. No secret is kept."""
        with self._open() as books:
            rows = books.execute("SELECT name, role, allotment, made FROM tokens ORDER BY made, name").fetchall()
        return [dict(zip(("name", "role", "allotment", "made"), row, strict=True)) for row in rows]

    def __len__(self) -> int:
        with self._open() as books:
            return int(books.execute("SELECT COUNT(*) FROM tokens").fetchone()[0])


def _hashed(secret: str) -> bytes:
    """A plain hash is enough: secrets have 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()
