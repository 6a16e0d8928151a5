"""What a ledger needs of the database that stores it. This file is the architecture of the stores.

A store gives three things: a consistent view to read, a transaction in which nobody else writes and which is durable
when it ends, and a lock per release that dies with its holder. It knows nothing about budgets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from discreet.errors import BusyError, LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.record import Head, Kind, Record

__all__ = ["Entry", "Reader", "Row", "Store", "Writer", "changed"]


class Row(NamedTuple):
    """A record as it is kept: the body and its hash, and columns copied from the body to search by."""

    sequence: int
    dataset: str
    kind: str
    release: str
    body: str
    hash: str

    def record(self) -> Record:
        """The record; `LedgerError` if its text does not have its hash, or is not what the columns say."""
        self.previous()
        return Record.from_body(self.body)

    def previous(self) -> str:
        """The hash of the record before; `LedgerError` as in `record`. For walks, where no more is needed."""
        try:
            values = json.loads(self.body)
            columns = tuple(values[name] for name in ("sequence", "dataset", "kind", "release"))
            if Record.hash_of(self.body) == self.hash and columns == self[:4]:
                return str(values["previous"])
        except (ValueError, TypeError, KeyError):  # no text of ours
            pass
        raise changed(self.sequence)


def changed(sequence: int) -> LedgerError:
    """The error that a record is not what was written."""
    return LedgerError(
        f"Record {sequence} of the ledger was changed after it was written, so it is not used. Restore the ledger from "
        "a backup, leave its .head file as it is, and run `discreet ledger verify`."
    )


class Entry(NamedTuple):
    """Where an account was opened, changed or closed, by the columns of the record."""

    sequence: int
    dataset: str
    kind: str
    hash: str


class Reader(Protocol):
    """One consistent state of the ledger."""

    def head(self) -> Head:
        """The end of the chain, as noted beside it."""
        ...

    def last(self) -> Record:
        """The record that the head names."""
        ...

    def row(self, sequence: int) -> Row | None:
        """The record with this number."""
        ...

    def rows(self, dataset: str | None = None) -> Iterator[Row]:
        """All records in order, or those of one dataset."""
        ...

    def of_release(self, release: str) -> list[Record]:
        """Every record about a release, in order."""
        ...

    def latest(self, dataset: str, kind: Kind) -> Record | None:
        """The last record of a kind about a dataset."""
        ...

    def accounts(self) -> list[Entry]:
        """Every record that opens, changes or closes an account, in order."""
        ...

    def total(self, dataset: str, allotment: str) -> Charge:
        """What has been spent from an allotment."""
        ...

    def totals(self) -> dict[tuple[str, str], Charge]:
        """What has been spent, by dataset and allotment."""
        ...


class Writer(Reader, Protocol):
    """The ledger while nobody else can write it."""

    def append(self, record: Record) -> None:
        """Add the next record and move the head."""
        ...

    def set_total(self, dataset: str, allotment: str, spent: Charge) -> None:
        """Note what has been spent."""
        ...


class Store(Protocol):
    """Where a ledger is kept. Safe to use from many threads, processes and forks."""

    @property
    def path(self) -> Path | None:
        """The file, where the ledger is one."""
        ...

    def read(self) -> AbstractContextManager[Reader]:
        """A snapshot."""
        ...

    def write(self) -> AbstractContextManager[Writer]:
        """A transaction: alone while it lasts, durable when it ends, undone if it raises."""
        ...

    def running(self, release: str, *, wait: bool = True) -> AbstractContextManager[None]:
        """Held while a release runs; whoever asks for the same one waits. Freed when its holder dies.

        `BusyError` for whoever may not `wait`.
        """
        ...

    def close(self) -> None:
        """Let go of idle connections; the store can still be used."""
        ...


def being_run(release: str) -> BusyError:
    """For a release that somebody else runs, where nobody waits for it."""
    return BusyError(f"Release {release!r} is being run or published now. Try again after that. Nothing was spent.")
