"""Who may do what on a server: tokens, of which only hashes are kept, with roles and an allotment of their own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from discreet.apps.server.trail import Trail
from discreet.errors import InputError
from discreet.ledger.location import private_folder
from discreet.noise.bits import SystemBits

__all__ = ["ROLES", "Caller", "Role", "Tokens", "check_allotment", "check_datasets", "check_rights", "rights_words"]

Role = Literal["custodian", "analyst", "viewer", "monitor", "auditor"]
ROLES: tuple[str, ...] = get_args(Role)

_PREFIX = "dsc"
_TABLE = """CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, allotment TEXT,
    made TEXT NOT NULL DEFAULT (datetime('now')), used TEXT, expires TEXT, datasets TEXT, former BLOB, former_until TEXT
)"""
_LATER = {"used": "TEXT", "expires": "TEXT", "datasets": "TEXT", "former": "BLOB", "former_until": "TEXT"}
"""Columns that files of earlier versions do not have."""

_OF_DATASETS = ("analyst", "viewer")
_FRESH = 60
"""So many seconds may pass before the time of last use is written again: not every request waits for a disk."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who is known: they may spend from `allotment` alone and know `datasets` alone; None: any.

    A custodian may do everything; an analyst may plan, ask and read releases; a viewer may read releases and plans;
    a monitor reads the figures of the server and nothing else; an auditor reads them and the records of ledgers.
    """

    name: str
    role: Role
    allotment: str | None = None
    datasets: frozenset[str] | None = None

    @property
    def reads(self) -> bool:
        """Whether they may read what is published."""
        return self.role not in ("monitor", "auditor")

    @property
    def audits(self) -> bool:
        """Whether they may read the records of ledgers."""
        return self.role in ("custodian", "auditor")

    def knows(self, dataset: str) -> bool:
        """Whether a dataset is there for them."""
        return self.datasets is None or dataset in self.datasets

    @property
    def spends(self) -> bool:
        """Whether they may spend."""
        return self.role in ("custodian", "analyst")

    def sees(self, allotment: str) -> bool:
        """Whether they may know where an allotment stands: any, unless they have one of their own."""
        return self.allotment in (None, allotment)


class Tokens:
    """The tokens of one server, in an SQLite file that only its owner can read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()
        self._reader: _Reader | None = None
        if not self.path.exists():
            private_folder(self.path.parent)
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        with self._open() as books:
            books.execute(_TABLE)
            there = {row[1] for row in books.execute("PRAGMA table_info(tokens)")}
            for column, kind in _LATER.items():
                if column not in there:
                    with suppress(sqlite3.OperationalError):  # another process was faster
                        books.execute(f"ALTER TABLE tokens ADD COLUMN {column} {kind}")
        self.trail = Trail(self.path)

    @contextmanager
    def _open(self, wait: float = 10) -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self.path, timeout=wait)
        try:
            with books:
                yield books
        finally:
            books.close()

    def check(self, name: str, role: str, datasets: Iterable[str] | None = None) -> None:
        """`InputError` unless a token may be made for someone of this name, role and rights."""
        if not isinstance(name, str) or not 1 <= len(name) <= 100 or not name.isprintable():
            raise InputError("name", name, "a printable name of 1 to 100 characters")
        check_rights(role, datasets)
        if name in (one["name"] for one in self.listed()):
            raise _taken(name)

    def create(
        self,
        name: str,
        role: str,
        allotment: str | None = None,
        *,
        datasets: Iterable[str] | None = None,
        expires: timedelta | None = None,
        by: str = "",
    ) -> str:
        """A new token, shown this once: only its hash is kept. `by` whom it was made goes on the trail.

        It knows only `datasets`, where they are given, and ends when it `expires`, counted from now.
        """
        known = None if datasets is None else sorted(set(datasets))
        self.check(name, role, known)
        identity, secret = SystemBits().read(6).tobytes().hex(), _secret()
        ends = None if expires is None else _text(_now() + expires)
        stored = None if known is None else json.dumps(known)
        try:
            with self._open() as books:
                row = (identity, _hashed(secret), name, role, allotment, ends, stored)
                columns = "id, hash, name, role, allotment, expires, datasets"
                books.execute(f"INSERT INTO tokens ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                until = "" if ends is None else f", until {ends}"
                what = f"made, as {role}{rights_words(allotment, known)}{until}"
                self.trail.add_with(books, by, "token", name, what)
        except sqlite3.IntegrityError:  # by another process, just now
            raise _taken(name) from None
        self.trail.added()
        return f"{_PREFIX}_{identity}_{secret}"

    def rotate(
        self, name: str, *, grace: timedelta = timedelta(0), expires: timedelta | None = None, by: str = ""
    ) -> str:
        """A new secret for the token of `name`, shown this once. The old one works for as long as `grace` says.

        Rights and sessions stay; sessions end with the old secret, and so does one that was replaced before. A token
        that expires is given as long again as `expires` says, or keeps its end.
        """
        secret, now = _secret(), _now()
        until = now + grace
        with self._open() as books:
            books.execute("BEGIN IMMEDIATE")
            row = books.execute("SELECT id, expires FROM tokens WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise self._unknown(name)
            identity, ends = row[0], row[1] if expires is None else _text(now + expires)
            books.execute(
                "UPDATE tokens SET former = hash, former_until = ?, hash = ?, expires = ? WHERE name = ?",
                (_text(until), _hashed(secret), ends, name),
            )
            if books.execute("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").fetchone():
                held = "UPDATE sessions SET ends = MIN(ends, ?) WHERE token = ?"
                books.execute(held, (until.timestamp(), identity))
            kept = f"; the old secret works until {_text(until)}" if grace else "; the old secret ended at once"
            self.trail.add_with(books, by, "token", name, f"rotated{kept}")
        self.trail.added()
        return f"{_PREFIX}_{identity}_{secret}"

    def caller(self, token: str) -> Caller | None:
        """Whose token this is; None for one that is unknown, over or revoked. Takes as long for either."""
        row, until = self._matching(token)
        if row is None or (until is not None and until <= _text(_now())):
            return None
        self.use(row.id)
        return row.caller

    def ended(self, token: str) -> str | None:
        """When a token ended that was good once (UTC); None for any other: who shows it may know."""
        row, until = self._matching(token)
        return until if row is not None and until is not None and until <= _text(_now()) else None

    def until(self, token: str) -> float:
        """When what a token opens must end, in seconds since 1970."""
        _, until = self._matching(token)
        return float("inf") if until is None else datetime.fromisoformat(f"{until}+00:00").timestamp()

    def _matching(self, token: str) -> tuple[_Row | None, str | None]:
        """The row of a token, and until when what was shown opens it, if there is an end."""
        prefix, _, rest = token.partition("_")
        identity, _, secret = rest.partition("_")
        row = self._rows().get(identity)
        shown = _hashed(secret)
        fits = hmac.compare_digest(row.hash if row else bytes(32), shown)
        fitted = hmac.compare_digest((row.former if row else None) or bytes(32), shown)
        if row is None or not (fits or fitted) or prefix != _PREFIX:
            return None, None
        ends = [one for one in (row.expires, None if fits else row.former_until) if one is not None]
        return row, min(ends, default=None)

    def _rows(self) -> dict[str, _Row]:
        """Every token by its id: read again whenever something was written."""
        stat = self.path.stat()
        place = (os.getpid(), stat.st_dev, stat.st_ino)
        with self._lock:
            if self._reader is None or self._reader.place != place:
                self._reader = _Reader(place, sqlite3.connect(self.path, timeout=10, check_same_thread=False))
            return self._reader.rows()

    def holder(self, identity: str) -> Caller | None:
        """Whose the token of an id is; None where it is over or revoked."""
        row = self._rows().get(identity)
        if row is None or (row.expires is not None and row.expires <= _text(_now())):
            return None
        return row.caller

    def use(self, identity: str) -> None:
        """Note that a token was used now, to the minute. Nobody waits for it, or is refused, where that is busy."""
        now = time.monotonic()
        if now - self._used.get(identity, -_FRESH) < _FRESH:
            return
        self._used[identity] = now
        with suppress(sqlite3.OperationalError), self._open(wait=0.1) as books:
            books.execute("UPDATE tokens SET used = strftime('%Y-%m-%d %H:%M', 'now') WHERE id = ?", (identity,))

    def revoke(self, name: str, *, by: str = "") -> None:
        """From now on the token of `name` opens nothing."""
        with self._open() as books:
            gone = books.execute("DELETE FROM tokens WHERE name = ?", (name,)).rowcount
            if gone:
                self.trail.add_with(books, by, "token", name, "revoked")
        if not gone:
            raise self._unknown(name)
        self.trail.added()

    def _unknown(self, name: str) -> InputError:
        return InputError("name", name, "the name of a token", among=[one["name"] for one in self.listed()])

    def listed(self) -> list[dict[str, Any]]:
        """Names, rights, when each was made, last used and ends (UTC), and how long an old secret works. No secret."""
        names = ("name", "role", "allotment", "made", "used", "expires", "datasets", "former_until")
        with self._open() as books:
            rows = books.execute(f"SELECT {', '.join(names)} FROM tokens ORDER BY made, name").fetchall()
        found = [dict(zip(names, row, strict=True)) for row in rows]
        now = _text(_now())
        for one in found:
            one["datasets"] = None if one["datasets"] is None else json.loads(one["datasets"])
            if one["former_until"] is not None and one["former_until"] <= now:
                one["former_until"] = None
        return found

    def __len__(self) -> int:
        with self._open() as books:
            return int(books.execute("SELECT COUNT(*) FROM tokens").fetchone()[0])


class _Row(NamedTuple):
    """What a request needs to know of a token."""

    id: str
    hash: bytes
    expires: str | None
    former: bytes | None
    former_until: str | None
    caller: Caller


class _Reader:
    """All tokens, by a connection that is kept: SQLite tells it when others have written."""

    def __init__(self, place: tuple[int, int, int], books: sqlite3.Connection) -> None:
        self.place, self._books = place, books
        self._written = -1
        self._rows: dict[str, _Row] = {}

    def rows(self) -> dict[str, _Row]:
        """As they are now."""
        (written,) = self._books.execute("PRAGMA data_version").fetchone()
        if written != self._written:
            columns = "id, hash, expires, former, former_until, name, role, allotment, datasets"
            listed = self._books.execute(f"SELECT {columns} FROM tokens").fetchall()
            self._rows, self._written = {row[0]: _row(*row) for row in listed}, written
        return self._rows


def _row(
    identity: str,
    hashed: bytes,
    expires: str | None,
    former: bytes | None,
    former_until: str | None,
    name: str,
    role: Role,
    allotment: str | None,
    datasets: str | None,
) -> _Row:
    known = None if datasets is None else frozenset(json.loads(datasets))
    return _Row(identity, hashed, expires, former, former_until, Caller(name, role, allotment, known))


def check_allotment(name: str, there: Iterable[str]) -> None:
    """`InputError` unless it is among the allotments that are there."""
    known = sorted(set(there))
    if not known:
        hint = "No token was made. Open a budget first: discreet ledger open."
        raise InputError("allotment", name, "left out while no budget is open on this ledger", hint)
    if name not in known:
        raise InputError("allotment", name, hint="No token was made.", among=known)


def check_datasets(names: Iterable[str], there: Iterable[str]) -> None:
    """`InputError` unless all of them are datasets that are there."""
    known = sorted(set(there))
    for name in names:
        if name not in known:
            raise InputError("dataset", name, hint="No token was made.", among=known)


def check_rights(role: str, datasets: Iterable[str] | None) -> None:
    """`InputError` unless there is such a role, and it can be one of some datasets only."""
    if role not in ROLES:
        raise InputError("role", role, among=ROLES)
    if datasets is None:
        return
    names = list(datasets)
    if role not in _OF_DATASETS:
        hint = f"What a {role} does is about the whole server."
        raise InputError("datasets", ", ".join(names), f"left out for a {role}", hint)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError("datasets", names, "names of datasets, at least one")


def rights_words(allotment: str | None, datasets: Iterable[str] | None) -> str:
    """What a token is limited to, for the trail; nothing where it is not."""
    spends = "" if allotment is None else f", for {allotment}"
    return spends if datasets is None else f"{spends}, of {', '.join(sorted(datasets))}"


def _now() -> datetime:
    return datetime.now(UTC)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _secret() -> str:
    return base64.urlsafe_b64encode(SystemBits().read(32).tobytes()).rstrip(b"=").decode()


def _taken(name: str) -> InputError:
    return InputError("name", name, "a name that has no token yet", "Revoke the old token first.")


def _hashed(secret: str) -> bytes:
    """A plain hash is enough: secrets have 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()
