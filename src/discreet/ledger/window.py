"""The end of a ledger, which is what pages show of it: as quick however many records there are."""

from __future__ import annotations

from discreet.ledger.ledger import Ledger
from discreet.ledger.record import Record
from discreet.ledger.witness import witness

__all__ = ["newest"]


def newest(ledger: Ledger, dataset: str | None = None, *, limit: int, before: int | None = None) -> list[Record]:
    """The last records in order, or those of one dataset: those numbered below `before`, at most `limit`."""
    witness(ledger._store, ledger._guard)
    with ledger._store.read() as reader:
        return [row.record() for row in reader.newest(dataset, limit, before)]
