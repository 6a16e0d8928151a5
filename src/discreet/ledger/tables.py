"""The tables of a ledger and every statement on them, in the SQL that SQLite and PostgreSQL share.

Unique indexes say once more what the ledger enforces: one charge, one measurement and one outcome for each release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import islice
from typing import Any

from discreet.core.wire import fraction
from discreet.errors import LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.record import GENESIS, Head, Kind, Record
from discreet.ledger.store import Binding, Entry, Epsilons, Execute, Row, changed, remember_binding

__all__ = ["FORMAT", "SCHEMA", "TABLES", "Execute", "Transaction", "check_format", "in_transaction"]

FORMAT = 2
"""That of ledgers made now. Format 1 is read and written as it is, until `discreet ledger upgrade`."""
_READABLE = (1, 2)

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
    # Since format 2.
    """CREATE TABLE IF NOT EXISTS discreet_epsilon (
        dataset TEXT NOT NULL, allotment TEXT NOT NULL, epsilon TEXT NOT NULL, PRIMARY KEY (dataset, allotment))""",
    """CREATE TABLE IF NOT EXISTS discreet_digest (
        dataset TEXT NOT NULL, digest TEXT NOT NULL, sequence INTEGER NOT NULL,
        PRIMARY KEY (dataset, digest, sequence))""",
    f"INSERT INTO discreet_head VALUES (1, {FORMAT}, 0, '{GENESIS.hash}') ON CONFLICT (one) DO NOTHING",
)

TABLES = tuple(f"discreet_{name}" for name in ("head", "record", "total", "epsilon", "digest"))
_COLUMNS = "sequence, dataset, kind, release, body, hash"
_CHUNK = 500
# Not as an index has it: by the index of datasets all records of one would be sorted for every page of them.
_OF_DATASET = "AND dataset || '' = ?"
_INDEX_DIGEST = "INSERT INTO discreet_digest VALUES (?, ?, ?) ON CONFLICT (dataset, digest, sequence) DO NOTHING"
_FEW = 100  # answers of the database that a transaction remembers

ExecuteMany = Callable[[str, Sequence[Sequence[Any]]], None]


def check_format(found: int) -> None:
    """Refuse a ledger written by a version with other tables."""
    if -found in _READABLE:
        raise LedgerError(
            "This is a backup of a ledger: nothing can be spent from it. Nothing was read or spent. Put it back with "
            "`discreet ledger restore`; `discreet ledger verify` and `discreet ledger total` read it as it is."
        )
    if found not in _READABLE:
        raise LedgerError(
            f"The ledger has format {found}; this version of discreet reads formats 1 to {FORMAT}. "
            "Nothing was read or spent. Install the version of discreet that wrote it."
        )


class Transaction:
    """The reader and writer of one transaction, over a function that executes SQL with `?` placeholders."""

    def __init__(self, execute: Execute, execute_many: ExecuteMany) -> None:
        self._execute = execute
        self._execute_many = execute_many
        # What was read, which stays as it is until this transaction writes: it sees one state. Records by row as well.
        self._known: dict[tuple[str, tuple[Any, ...]], list[tuple[Any, ...]]] = {}
        self._records: dict[Row, Record] = {}
        self._bound: tuple[Head, Binding] | None = None
        self._appended: list[tuple[Head, Record]] | None = []

    @property
    def appended(self) -> Sequence[tuple[Head, Record]] | None:
        """What was appended one by one; None where records came in another way as well."""
        return self._appended

    def format(self) -> int:
        """Which tables there are."""
        return abs(self._end()[2])  # a backup has that of its ledger, negative

    def _end(self) -> tuple[int, str, int]:
        ((sequence, last, found),) = self._select("SELECT sequence, hash, format FROM discreet_head WHERE one = 1")
        return sequence, last, found

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        if (statement, values) not in self._known:
            if len(self._known) >= _FEW:  # a walk over many records needs no long memory
                self._known.clear()
                self._records.clear()
            self._known[statement, values] = self._execute(statement, values)
        return self._known[statement, values]

    def _record(self, row: Row) -> Record:
        if row not in self._records:
            self._records[row] = row.record()
        return self._records[row]

    @property
    def execute(self) -> Execute:
        """What executes a statement in this transaction, for tables that are no part of the ledger."""
        return self._execute

    def head(self) -> Head:
        """The last record's number and hash."""
        return Head(*self._end()[:2])

    def last(self) -> Record:
        """The record that the head names; `LedgerError` if it is not there as it was written."""
        return self._record(self._last())

    def binding(self) -> Binding:
        """What that record binds; `LedgerError` as in `last`."""
        head = self.head()
        if self._bound is None or self._bound[0] != head:
            self._bound = (head, self._last().binding())
        return self._bound[1]

    def _last(self) -> Row:
        head = self.head()
        row = self.row(head.sequence)
        if row is None or row.hash != head.hash:
            raise changed(head.sequence)
        return row

    def row(self, sequence: int) -> Row | None:
        """A record as stored, by its number."""
        found = self._select(f"SELECT {_COLUMNS} FROM discreet_record WHERE sequence = ?", sequence)
        return Row(*found[0]) if found else None

    def rows(self, dataset: str | None = None, *, after: int = 0, limit: int | None = None) -> Iterator[Row]:
        """Records as stored, oldest first; of one dataset or of all; those after a number, at most so many."""
        where, extra = (_OF_DATASET, (dataset,)) if dataset is not None else ("", ())
        last, left = after or -1, limit
        while left is None or left > 0:  # in pages, so that a long ledger needs no long memory
            size = _CHUNK if left is None else min(_CHUNK, left)
            page = self._execute(
                f"SELECT {_COLUMNS} FROM discreet_record WHERE sequence > ? {where} ORDER BY sequence LIMIT {size}",
                (last, *extra),
            )
            yield from (Row(*columns) for columns in page)
            if len(page) < size:
                return
            last, left = page[-1][0], None if left is None else left - size

    def newest(self, dataset: str | None, limit: int, before: int | None = None) -> list[Row]:
        """The last records as stored, oldest first; of one dataset or of all; those below a number."""
        where, extra = (_OF_DATASET, (dataset,)) if dataset is not None else ("", ())
        found = self._execute(
            f"SELECT {_COLUMNS} FROM discreet_record WHERE sequence < ? {where} ORDER BY sequence DESC LIMIT ?",
            (2**62 if before is None else before, *extra, limit),
        )
        return [Row(*columns) for columns in reversed(list(found))]

    def of_release(self, release: str) -> list[Record]:
        """The records of a release, oldest first."""
        found = self._select(f"SELECT {_COLUMNS} FROM discreet_record WHERE release = ? ORDER BY sequence", release)
        return [self._chained(Row(*columns)) for columns in found]

    def charged_for(self, dataset: str, digest: str) -> list[str]:
        """Releases of a dataset whose charge names this digest, oldest first; in format 1 perhaps in its text only."""
        if self.format() > 1:
            found = self._execute(
                "SELECT r.release FROM discreet_digest d JOIN discreet_record r ON r.sequence = d.sequence "
                "WHERE d.dataset = ? AND d.digest = ? ORDER BY d.sequence",
                (dataset, digest),
            )
            return [release for (release,) in found]
        found = self._execute(
            "SELECT release FROM discreet_record WHERE dataset = ? AND kind = 'charge' AND body LIKE ? "
            "ORDER BY sequence",
            (dataset, f'%"digest":"{digest}"%'),
        )
        return [release for (release,) in found]

    def repeated(self, after: int = 0) -> list[tuple[int, str]]:
        """Charges for a release that was charged before."""
        found = self._execute(
            "SELECT r.sequence, r.release FROM discreet_record r WHERE r.kind = 'charge' AND r.sequence > ? AND EXISTS "
            "(SELECT 1 FROM discreet_record e WHERE e.release = r.release AND e.kind = 'charge' "
            f"AND e.sequence < r.sequence) ORDER BY r.sequence LIMIT {_CHUNK}",
            (after,),
        )
        return [(sequence, release) for sequence, release in found]

    def latest(self, dataset: str, kind: Kind) -> Record | None:
        """The last record of a kind about a dataset."""
        found = self._select(
            f"SELECT {_COLUMNS} FROM discreet_record WHERE dataset = ? AND kind = ? ORDER BY sequence DESC LIMIT 1",
            dataset,
            kind,
        )
        return self._chained(Row(*found[0])) if found else None

    def accounts(self) -> list[Entry]:
        """Where accounts were opened, changed or closed."""
        found = self._select(
            f"SELECT sequence, dataset, kind, hash FROM discreet_record WHERE {_OF_ACCOUNTS} ORDER BY sequence"
        )
        return [Entry(*columns) for columns in found]

    def _chained(self, row: Row) -> Record:
        """A record that has its hash, and that the next record or the head names by this hash."""
        record, head = self._record(row), self.head()
        follows = row.hash == head.hash
        if row.sequence != head.sequence:
            named = f'%"previous":"{row.hash}"%'
            where = "sequence = ? AND body LIKE ?"
            follows = bool(self._select(f"SELECT 1 FROM discreet_record WHERE {where}", row.sequence + 1, named))
        if not follows:
            raise changed(row.sequence)
        return record

    def total(self, dataset: str, allotment: str) -> Charge:
        """What was spent from an allotment so far."""
        found = self._select(
            "SELECT amount, delta FROM discreet_total WHERE dataset = ? AND allotment = ?", dataset, allotment
        )
        return _charge(*found[0]) if found else _charge("0", "0")

    def totals(self) -> dict[tuple[str, str], Charge]:
        """What was spent so far, by dataset and allotment."""
        found = self._select("SELECT dataset, allotment, amount, delta FROM discreet_total")
        return {(dataset, allotment): _charge(amount, delta) for dataset, allotment, amount, delta in found}

    def epsilons(self) -> Epsilons:
        """The plain sums of epsilons, by dataset and allotment."""
        if self.format() == 1:
            return {}
        found = self._select("SELECT dataset, allotment, epsilon FROM discreet_epsilon")
        return {(part, name): fraction(text, "epsilon") if text else None for part, name, text in found}

    def append(self, record: Record) -> None:
        """Write a record after the last one, and move the head to it."""
        body = record.body()
        last = Record.hash_of(body)
        indexed = record.kind == "charge" and self.format() > 1
        self._known.clear()
        self._execute(
            "INSERT INTO discreet_record VALUES (?, ?, ?, ?, ?, ?)",
            (record.sequence, record.dataset, record.kind, record.release, body, last),
        )
        if indexed:
            self._execute(_INDEX_DIGEST, (record.dataset, record.digest, record.sequence))
        self._execute("UPDATE discreet_head SET sequence = ?, hash = ? WHERE one = 1", (record.sequence, last))
        remember_binding(record, last)
        if self._appended is not None:
            self._appended.append((Head(record.sequence, last), record))

    def extend(self, rows: Iterable[Row]) -> None:
        """Write records after the last one as another store has them, in pages, and move the head to the last."""
        self._appended = None
        for page in _pages(rows):
            self._execute_many("INSERT INTO discreet_record VALUES (?, ?, ?, ?, ?, ?)", page)
            self._index_digests(page)
            self._known.clear()
            self._execute("UPDATE discreet_head SET sequence = ?, hash = ? WHERE one = 1", (page[-1][0], page[-1].hash))

    def upgrade(self) -> None:
        """The tables and indexes of the present format, with digests of all charges."""
        if self.format() == FORMAT:
            return
        for statement in SCHEMA[:-1]:
            self._execute(statement, ())
        self._execute("UPDATE discreet_head SET format = ? WHERE one = 1", (FORMAT,))
        self._known.clear()
        for page in _pages(self.rows()):
            self._index_digests(page)

    def _index_digests(self, rows: Sequence[Row]) -> None:
        if self.format() > 1:
            charges = [Record.from_body(row.body) for row in rows if row.kind == "charge"]
            self._execute_many(_INDEX_DIGEST, [(each.dataset, each.digest, each.sequence) for each in charges])

    def forget_sums(self) -> None:
        """Empty the tables of sums and digests, where there are rows of a ledger that is gone."""
        self._known.clear()
        for table in ("discreet_epsilon", "discreet_digest"):
            if self._execute(f"SELECT 1 FROM {table} LIMIT 1", ()):
                self._execute(f"DELETE FROM {table}", ())

    def set_epsilon(self, dataset: str, allotment: str, total: Fraction | None) -> None:
        """Write down a plain sum of epsilons."""
        self._known.clear()
        self._execute(
            "INSERT INTO discreet_epsilon VALUES (?, ?, ?) ON CONFLICT (dataset, allotment) "
            "DO UPDATE SET epsilon = excluded.epsilon",
            (dataset, allotment, "" if total is None else str(total)),
        )

    def set_total(self, dataset: str, allotment: str, spent: Charge) -> None:
        """Write down what was spent from an allotment so far."""
        self._known.clear()
        self._execute(
            "INSERT INTO discreet_total VALUES (?, ?, ?, ?) ON CONFLICT (dataset, allotment) "
            "DO UPDATE SET amount = excluded.amount, delta = excluded.delta",
            (dataset, allotment, str(spent.amount), str(spent.delta)),
        )


@contextmanager
def in_transaction(
    connection: Any, execute: Execute, execute_many: ExecuteMany, give_back: Callable[[Any], None], *begin: str
) -> Iterator[Transaction]:
    """One transaction: committed at its end, rolled back with its connection if it fails."""
    try:
        for statement in begin:
            connection.execute(statement)
        yield Transaction(execute, execute_many)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()  # rolls back
        raise
    give_back(connection)


def _charge(amount: str, delta: str) -> Charge:
    return Charge(fraction(amount, "total.amount"), fraction(delta, "total.delta"))


def _pages(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Records in lists of a handy length."""
    left = iter(rows)
    while page := list(islice(left, _CHUNK)):
        yield page
