"""The store and the guard at a place, and how a new ledger begins."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from discreet.errors import InputError, LedgerError, MissingLedgerError, kind_of
from discreet.ledger.address import missing_ledger, shown
from discreet.ledger.custody import append
from discreet.ledger.guard import Guard
from discreet.ledger.record import GENESIS
from discreet.ledger.secret import fresh_secret
from discreet.ledger.state import private_folder
from discreet.ledger.store import Store

__all__ = ["begin", "store_at"]


def store_at(
    place: str | Path, anchor: str | Path | None, *, create: bool, anew: bool = True, local: bool = True
) -> tuple[Store, Guard]:
    """What keeps the records at a place and what watches them; `MissingLedgerError` if there are none to be kept.

    Unless `anew`, nothing is made where there was a ledger before: a backup would not go in beside empty tables.
    """
    if not isinstance(place, (str, os.PathLike)):
        raise InputError("ledger", kind_of(place), "a path or a postgresql:// address")
    named = str(anchor) if anchor is not None else os.environ.get("DISCREET_ANCHOR") or None
    anchors = () if named is None else (named,)
    if isinstance(place, str) and place.startswith(("postgresql://", "postgres://")):
        from discreet.ledger.postgres import PostgresStore

        guard = Guard(anchors, place=place, local=local)
        if create and not anew:
            try:
                return PostgresStore(place, create=False), guard
            except MissingLedgerError:
                _check_lost(guard, place)
        return PostgresStore(place, create=create), guard
    if isinstance(place, str) and "://" in place:
        raise InputError("ledger", place.partition("://")[0] + "://...", "a path or a postgresql:// address")
    from discreet.ledger.sqlite import SqliteStore

    path = Path(place)
    guard = Guard(anchors, place=path.absolute(), local=local)
    if not path.exists():
        if not create:
            raise missing_ledger(path)
        if not anew:
            _check_lost(guard, place)
        if path.parent.name == ".discreet":
            private_folder(path.parent)
    return SqliteStore(path), guard


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
        if not anew:
            _check_lost(guard, place)
        person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
        detail = {"created": fresh_secret().hex()}
        append(writer, kind="note", dataset="", who=person, why="created", detail=detail)
        guard.accept(writer)  # before the commit: no moment without a guard


def _check_lost(guard: Guard, place: str | Path) -> None:
    """Refuse to begin where a ledger was kept before."""
    if lost := guard.lost():
        raise LedgerError(
            f"A ledger with {lost} records was kept at {shown(place)} and is gone. Nothing was made. Put it back "
            "from a backup. Only if what it released no longer matters, or if it is kept under this path on "
            "another machine that shares the guard, begin anew: discreet ledger create --anew."
        )
