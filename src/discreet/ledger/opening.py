"""The store and the guard at an address, and how a new ledger begins."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from discreet.errors import InputError, LedgerError, MissingLedgerError, kind_of
from discreet.ledger.chain import append
from discreet.ledger.guard import Guard
from discreet.ledger.location import missing_ledger, private_folder, public_address
from discreet.ledger.record import GENESIS
from discreet.ledger.secret import fresh_secret
from discreet.ledger.store import Store

__all__ = ["begin", "store_at"]


def store_at(
    address: str | Path, anchor: str | Path | None, *, create: bool, anew: bool = True, local: bool = True
) -> tuple[Store, Guard]:
    """What keeps the records at an address and what watches them; `MissingLedgerError` if there are none to be kept.

    Unless `anew`, nothing is made where there was a ledger before: a backup would not go in beside empty tables.
    """
    if not isinstance(address, (str, os.PathLike)):
        raise InputError("ledger", kind_of(address), "a path or a postgresql:// address")
    named = str(anchor) if anchor is not None else os.environ.get("DISCREET_ANCHOR") or None
    anchors = () if named is None else (named,)
    if isinstance(address, str) and address.startswith(("postgresql://", "postgres://")):
        from discreet.ledger.postgres import PostgresStore

        guard = Guard(anchors, address=address, local=local)
        if create and not anew:
            try:
                return PostgresStore(address, create=False), guard
            except MissingLedgerError:
                _check_lost(guard, address)
        return PostgresStore(address, create=create), guard
    if isinstance(address, str) and "://" in address:
        raise InputError("ledger", address.partition("://")[0] + "://...", "a path or a postgresql:// address")
    from discreet.ledger.sqlite import SqliteStore

    if str(address) == ":memory:":
        hint = "Nothing was made. In Python, Ledger.in_memory() is a ledger that lasts as long as its process."
        raise InputError("ledger", ":memory:", "a path or a postgresql:// address", hint)
    path = Path(address)
    guard = Guard(anchors, address=path.absolute(), local=local)
    if not path.exists():
        if not create:
            raise missing_ledger(path)
        if not anew:
            _check_lost(guard, address)
        if path.parent.name == ".discreet":
            private_folder(path.parent)
    elif not create and path.is_file() and not path.stat().st_size:  # which SQLite would take for a store, and fill
        raise missing_ledger(path)
    return SqliteStore(path), guard


def begin(store: Store, guard: Guard, address: str | Path, *, create: bool, anew: bool, who: str | None) -> None:
    """Write the first record of a ledger that has none, if it is to be created; it tells the ledger from all others."""
    with store.read() as reader:
        if reader.head() != GENESIS:
            return
    if not create:
        raise missing_ledger(address)
    with store.write() as writer:
        if writer.head() != GENESIS:  # someone else was faster
            return
        if not anew:
            _check_lost(guard, address)
        person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
        detail = {"created": fresh_secret().hex()}
        append(writer, kind="note", dataset="", who=person, why="created", detail=detail)
        guard.accept(writer)  # before the commit: no moment without a guard


def _check_lost(guard: Guard, address: str | Path) -> None:
    """Refuse to begin where a ledger was kept before."""
    if lost := guard.lost():
        raise LedgerError(
            f"A ledger with {lost} records was stored at {public_address(address)} and is gone. Nothing was made. Put "
            "it back from a backup. Only if what it released no longer matters, or if it is stored under this path on "
            "another machine that shares the guard, begin anew: discreet ledger create --anew."
        )
