"""The tables of a ledger and every statement on them, in the SQL that SQLite and PostgreSQL share.

Unique indexes say once more what the ledger enforces: one charge, one measurement and one outcome for each release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from discreet.core.wire import fraction
from discreet.errors import LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.record import GENESIS, Head, Kind, Record
from discreet.ledger.store import Entry, Row, changed

__all__ = ["FORMAT", "SCHEMA", "Execute", "Transaction", "check_format", "in_transaction"]

FORMAT = 1

_OF_ACCOUNTS = "kind IN ('open', 'close')"

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS discreet_head (
        one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL,
        sequence INTEGER NOT NULL, hash TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_record (
        sequence INTEGER PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, release TEXT NOT NULL,
        body TEXT NOT NULL, hash TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_total (
        dataset TEXT NOT NULL, allotment TEXT NOT NULL, amount TEXT NOT NULL, delta TEXT NOT NULL,
        PRIMARY KEY (dataset, allotment))""",
    "CREATE INDEX IF NOT EXISTS discreet_by_dataset ON discreet_record (dataset, kind, sequence)",
    "CREATE INDEX IF NOT EXISTS discreet_by_release ON discreet_record (release, sequence)",
    "CREATE UNIQUE INDEX IF NOT EXISTS discreet_one_charge ON discreet_record (release) WHERE kind = 'charge'",
    f"CREATE INDEX IF NOT EXISTS discreet_accounts ON discreet_record (sequence) WHERE {_OF_ACCOUNTS}",
    """CREATE UNIQUE INDEX IF NOT EXISTS discreet_one_outcome ON discreet_record (release)
        WHERE kind IN ('answer', 'failure')""",
    "CREATE UNIQUE INDEX IF NOT EXISTS discreet_one_draw ON discreet_record (release) WHERE kind = 'measurement'",
    f"INSERT INTO discreet_head VALUES (1, {FORMAT}, 0, '{GENESIS.hash}') ON CONFLICT (one) DO NOTHING",
)

_COLUMNS = "sequence, dataset, kind, release, body, hash"
_CHUNK = 500

Execute = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


def check_format(found: int) -> None:
    """Refuse a ledger written by a version with other tables."""
    if found != FORMAT:
        raise LedgerError(
            f"The ledger has format {found}; this version of discreet reads format {FORMAT}. "
            "Nothing was read or spent. Install the version of discreet that wrote it."
        )


class Transaction:
    """The reader and writer of one transaction, over a function that executes SQL with `?` placeholders."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def head(self) -> Head:
        """The last record's number and hash."""
        ((sequence, last),) = self._execute("SELECT sequence, hash FROM discreet_head WHERE one = 1", ())
        return Head(sequence, last)

    def last(self) -> Record:
        """The record that the head names; `LedgerError` if it is not there as it was written."""
        head = self.head()
        row = self.row(head.sequence)
        if row is None or row.hash != head.hash:
            raise changed(head.sequence)
        return row.record()

    def row(self, sequence: int) -> Row | None:
        """A record as stored, by its number."""
        found = self._execute(f"SELECT {_COLUMNS} FROM discreet_record WHERE sequence = ?", (sequence,))
        return Row(*found[0]) if found else None

    def rows(self, dataset: str | None = None) -> Iterator[Row]:
        """Records as stored, oldest first; of one dataset or of all."""
        where, extra = ("AND dataset = ?", (dataset,)) if dataset is not None else ("", ())
        last = -1
        while True:  # in pages, so that a long ledger needs no long memory
            page = self._execute(
                f"SELECT {_COLUMNS} FROM discreet_record WHERE sequence > ? {where} ORDER BY sequence LIMIT {_CHUNK}",
                (last, *extra),
            )
            yield from (Row(*columns) for columns in page)
            if len(page) < _CHUNK:
                return
            last = page[-1][0]

    def of_release(self, release: str) -> list[Record]:
        """The records of a release, oldest first."""
        found = self._execute(f"SELECT {_COLUMNS} FROM discreet_record WHERE release = ? ORDER BY sequence", (release,))
        return [self._chained(Row(*columns)) for columns in found]

    def latest(self, dataset: str, kind: Kind) -> Record | None:
        """The last record of a kind about a dataset."""
        found = self._execute(
            f"SELECT {_COLUMNS} FROM discreet_record WHERE dataset = ? AND kind = ? ORDER BY sequence DESC LIMIT 1",
            (dataset, kind),
        )
        return self._chained(Row(*found[0])) if found else None

    def accounts(self) -> list[Entry]:
        """Where accounts were opened, changed or closed."""
        found = self._execute(
            f"SELECT sequence, dataset, kind, hash FROM discreet_record WHERE {_OF_ACCOUNTS} ORDER BY sequence", ()
        )
        return [Entry(*columns) for columns in found]

    def _chained(self, row: Row) -> Record:
        """A record that has its hash, and that the next record or the head names by this hash."""
        record, head = row.record(), self.head()
        follows = row.hash == head.hash
        if row.sequence != head.sequence:
            named = f'%"previous":"{row.hash}"%'
            where = "sequence = ? AND body LIKE ?"
            follows = bool(self._execute(f"SELECT 1 FROM discreet_record WHERE {where}", (row.sequence + 1, named)))
        if not follows:
            raise changed(row.sequence)
        return record

    def total(self, dataset: str, allotment: str) -> Charge:
        """What was spent from an allotment so far."""
        found = self._execute(
            "SELECT amount, delta FROM discreet_total WHERE dataset = ? AND allotment = ?", (dataset, allotment)
        )
        return _charge(*found[0]) if found else _charge("0", "0")

    def totals(self) -> dict[tuple[str, str], Charge]:
        """What was spent so far, by dataset and allotment."""
        found = self._execute("SELECT dataset, allotment, amount, delta FROM discreet_total", ())
        return {(dataset, allotment): _charge(amount, delta) for dataset, allotment, amount, delta in found}

    def append(self, record: Record) -> None:
        """Write a record after the last one, and move the head to it."""
        body = record.body()
        last = Record.hash_of(body)
        self._execute(
            "INSERT INTO discreet_record VALUES (?, ?, ?, ?, ?, ?)",
            (record.sequence, record.dataset, record.kind, record.release, body, last),
        )
        self._execute("UPDATE discreet_head SET sequence = ?, hash = ? WHERE one = 1", (record.sequence, last))

    def set_total(self, dataset: str, allotment: str, spent: Charge) -> None:
        """Write down what was spent from an allotment so far."""
        self._execute(
            "INSERT INTO discreet_total VALUES (?, ?, ?, ?) ON CONFLICT (dataset, allotment) "
            "DO UPDATE SET amount = excluded.amount, delta = excluded.delta",
            (dataset, allotment, str(spent.amount), str(spent.delta)),
        )


@contextmanager
def in_transaction(
    connection: Any, execute: Execute, give_back: Callable[[Any], None], *begin: str
) -> Iterator[Transaction]:
    """One transaction: committed at its end, rolled back with its connection if it fails."""
    try:
        for statement in begin:
            connection.execute(statement)
        yield Transaction(execute)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()  # rolls back
        raise
    give_back(connection)


def _charge(amount: str, delta: str) -> Charge:
    return Charge(fraction(amount, "total.amount"), fraction(delta, "total.delta"))
