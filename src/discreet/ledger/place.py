"""The store and the guard at a place, and how a new ledger begins."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from discreet.errors import InputError, LedgerError, kind_of
from discreet.ledger.address import missing_ledger, shown
from discreet.ledger.custody import append
from discreet.ledger.guard import Guard
from discreet.ledger.record import GENESIS
from discreet.ledger.secret import fresh_secret
from discreet.ledger.state import private_folder
from discreet.ledger.store import Store

__all__ = ["begin", "store_at"]


def store_at(place: str | Path, anchor: str | Path | None, *, create: bool, local: bool = True) -> tuple[Store, Guard]:
    """What keeps the records at a place and what watches them; `MissingLedgerError` if there are none to be kept."""
    if not isinstance(place, (str, os.PathLike)):
        raise InputError("ledger", kind_of(place), "a path or a postgresql:// address")
    named = str(anchor) if anchor is not None else os.environ.get("DISCREET_ANCHOR") or None
    anchors = () if named is None else (named,)
    if isinstance(place, str) and place.startswith(("postgresql://", "postgres://")):
        from discreet.ledger.postgres import PostgresStore

        return PostgresStore(place, create=create), Guard(anchors, place=place, local=local)
    if isinstance(place, str) and "://" in place:
        raise InputError("ledger", place.partition("://")[0] + "://...", "a path or a postgresql:// address")
    from discreet.ledger.sqlite import SqliteStore

    path = Path(place)
    if not path.exists():
        if not create:
            raise missing_ledger(path)
        if path.parent.name == ".discreet":
            private_folder(path.parent)
    return SqliteStore(path), Guard(anchors, place=path.absolute(), local=local)


def begin(store: Store, guard: Guard, place: str | Path, *, create: bool, anew: bool, who: str | None) -> None:
    """Write the first record of books that have none, if they are to be created; it tells them from all others."""
    with store.read() as reader:
        if reader.head() != GENESIS:
            return
    if not create:
        raise missing_ledger(place)
    with store.write() as writer:
        if writer.head() != GENESIS:  # someone else was faster
            return
        lost = guard.lost()
        if lost and not anew:
            raise LedgerError(
                f"A ledger with {lost} records was kept at {shown(place)} and is gone. Nothing was made. Put it back "
                "from a backup. Only if what it released no longer matters, or if it is kept under this path on "
                "another machine that shares the guard, begin anew: discreet ledger create --anew."
            )
        person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
        detail = {"created": fresh_secret().hex()}
        append(writer, kind="note", dataset="", who=person, why="created", detail=detail)
        guard.accept(writer)  # before the commit: no moment without a guard
