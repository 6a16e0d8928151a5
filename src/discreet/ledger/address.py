"""The places of ledgers in words: what people are shown, and what they are told where there is none."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from discreet.errors import MissingLedgerError

__all__ = ["missing_ledger", "place_key", "shown"]


def shown(place: str | Path) -> str:
    """A place without the password that may be in it.

    >>> shown("postgresql://ann:secret@host/books?x=1")
    'postgresql://host/books'
    """
    kind, mark, rest = str(place).partition("://")
    return f"{kind}://{rest.rpartition('@')[2].partition('?')[0]}" if mark else str(place)


def place_key(place: str | Path) -> str:
    """What a place is remembered by: the file that a path leads to, or a database's address without the password.

    The user counts, for what a database shows may depend on it.
    """
    if isinstance(place, Path):
        return hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:32]
    parts = urlsplit(place)
    user, at, host = parts.netloc.rpartition("@")
    options = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("password", "passfile")]
    told = [user.partition(":")[0] + at + host, parts.path, *map("=".join, sorted(options))]
    return hashlib.sha256("\n".join(["database", *told]).encode()).hexdigest()[:32]


def missing_ledger(place: str | Path) -> MissingLedgerError:
    """The error where there is no ledger: it names the command that makes one, and what to do if there was one."""
    name = shown(place)
    return MissingLedgerError(
        f"There is no ledger at {name}. Nothing was read or spent. Make one, once: discreet ledger create --ledger "
        f"{name} (in Python: create=True). If there was one before, do not make another, which would begin its budgets "
        "anew: name the place it is at with --ledger or DISCREET_LEDGER, or put it back from a backup."
    )
