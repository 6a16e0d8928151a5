"""What a ledger needs of the database that stores it. This file is the architecture of the stores.

A store gives three things: a consistent view to read, a transaction in which nobody else writes and which is durable
when it ends, and a lock per release that dies with its holder. It knows nothing about budgets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from discreet.errors import BusyError, LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.record import Head, Kind, Record

__all__ = ["Binding", "Entry", "Epsilons", "Execute", "Reader", "Row", "Store", "Writer", "changed", "remember_binding"]


Execute = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""What executes a statement with `?` for its values, and returns rows."""


class Binding(NamedTuple):
    """What a record binds, as text, and the columns that its body has."""

    totals: str
    accounts: str
    epsilons: str
    columns: tuple[int, str, str, str]


_BINDINGS: dict[str, Binding] = {}  # of the last few records that were read or written here, by hash
_FEW = 64


def remember_binding(record: Record, digest: str) -> Binding:
    """Have a record whose text has this hash told by it: that text is hashed when it is met, and not read."""
    if len(_BINDINGS) >= _FEW:
        _BINDINGS.clear()
    columns = (record.sequence, record.dataset, record.kind, record.release)
    found = _BINDINGS[digest] = Binding(record.totals, record.accounts, record.epsilons, columns)
    return found


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
        return Record.from_values(self._values())

    def previous(self) -> str:
        """The hash of the record before; `LedgerError` as in `record`. For walks, where no more is needed."""
        return str(self._values()["previous"])

    def binding(self) -> Binding:
        """What the record binds; `LedgerError` as in `record`. A text whose hash was read before is only hashed."""
        known = _BINDINGS.get(self.hash)
        if known is None:
            known = remember_binding(self.record(), self.hash)
        elif Record.hash_of(self.body) != self.hash or known.columns != self[:4]:
            raise changed(self.sequence)
        return known

    def _values(self) -> dict[str, Any]:
        try:
            values = json.loads(self.body)
            columns = tuple(values[name] for name in ("sequence", "dataset", "kind", "release"))
            if Record.hash_of(self.body) == self.hash and columns == self[:4] and "previous" in values:
                return dict(values)
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


Epsilons = dict[tuple[str, str], Fraction | None]
"""The plain sum of epsilons of each allotment, by dataset and allotment; None where a charge has no pure epsilon."""


class Reader(Protocol):
    """One consistent state of the ledger."""

    def format(self) -> int:
        """Which tables there are: 1 in ledgers of 0.1 and early ones of 0.2, 2 since."""
        ...

    def head(self) -> Head:
        """The end of the chain, as noted beside it."""
        ...

    def last(self) -> Record:
        """The record that the head names."""
        ...

    def binding(self) -> Binding:
        """What that record binds."""
        ...

    def row(self, sequence: int) -> Row | None:
        """The record with this number."""
        ...

    def rows(self, dataset: str | None = None, *, after: int = 0, limit: int | None = None) -> Iterator[Row]:
        """All records in order, or those of one dataset: those with a number above `after`, at most `limit`."""
        ...

    def newest(self, dataset: str | None, limit: int, before: int | None = None) -> list[Row]:
        """The last records in order, or those of one dataset: those numbered below `before`, at most `limit`."""
        ...

    def of_release(self, release: str) -> list[Record]:
        """Every record about a release, in order."""
        ...

    def charged_for(self, dataset: str, digest: str) -> list[str]:
        """Ids of releases whose charges may be for the plan of a digest, oldest first: none that are is left out."""
        ...

    def repeated(self, after: int = 0) -> list[tuple[int, str]]:
        """Numbers, above `after`, and ids of charges for releases that an earlier record charges: the first few."""
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

    def epsilons(self) -> Epsilons:
        """The plain sums as noted beside the chain; none in a ledger of format 1."""
        ...


class Writer(Reader, Protocol):
    """The ledger while nobody else can write it."""

    def append(self, record: Record) -> None:
        """Add the next record and move the head."""
        ...

    @property
    def appended(self) -> Sequence[tuple[Head, Record]] | None:
        """The records that this transaction appended, with their hashes; None where it added others in another way."""
        ...

    def set_total(self, dataset: str, allotment: str, spent: Charge) -> None:
        """Note what has been spent."""
        ...

    def set_epsilon(self, dataset: str, allotment: str, total: Fraction | None) -> None:
        """Note a plain sum of epsilons."""
        ...

    def forget_sums(self) -> None:
        """Remove plain sums and digests that a ledger before this one may have left."""
        ...

    def extend(self, rows: Iterable[Row]) -> None:
        """Add records as they are in another store, and move the head; totals and sums are the caller's."""
        ...

    def upgrade(self) -> None:
        """Make what tables of the present format lack, in this transaction. A ledger of that format stays as it is."""
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

    def beside(self, *, write: bool = True) -> AbstractContextManager[Execute]:
        """A transaction on tables that lie beside the ledger's in its database, such as the queue of a server's jobs.

        What it is given are statements in the SQL that the stores share, with `?` for values. Alone if it writes.
        """
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
