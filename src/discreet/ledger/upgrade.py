"""A ledger of an earlier format brought to the present one: in one transaction, after a backup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.ledger.backup import back_up
from discreet.ledger.chain import append
from discreet.ledger.tables import FORMAT
from discreet.ledger.verification import verify

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["format_of", "upgrade_ledger"]


def format_of(ledger: Ledger) -> int:
    """The format that a ledger is stored in."""
    with ledger._store.read() as reader:
        return reader.format()


def upgrade_ledger(ledger: Ledger, backup: str | Path, *, who: str, why: str = "upgraded") -> int | None:
    """Bring a ledger to the present format; the one it had, or None where there was nothing to do.

    The ledger is verified and backed up first. Records stay what they are: tables and indexes are added, and a note
    that binds totals, accounts and sums, so that no later write has to walk the chain for them.
    """
    if (old := format_of(ledger)) == FORMAT:
        return None
    with ledger._store.read() as reader:
        checked = verify(reader, ledger._guard)
    if not checked.ok:
        raise LedgerError("The ledger does not verify, and was left as it is: " + "; ".join(checked.problems))
    back_up(ledger, backup)
    with ledger._write() as writer:
        if writer.format() != FORMAT:
            writer.upgrade()
            append(writer, kind="note", dataset="", who=who, why=why, detail={"upgraded": [old, FORMAT]})
    return old
