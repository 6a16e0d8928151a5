"""The chain of records, and the totals, sums of epsilons and accounts that every record is bound to.

Each record holds the hash of the one before and a hash of all of these, so that an edit is refused at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.core.wire import canonical
from discreet.errors import LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.pure_sum import PureSum
from discreet.ledger.record import GENESIS, Head, Record
from discreet.ledger.store import Entry, Epsilons, Reader, Writer, changed

__all__ = [
    "check_accounts",
    "check_bound",
    "check_chain",
    "check_totals",
    "epsilon_sums",
    "hash_of_accounts",
    "hash_of_epsilons",
    "hash_of_totals",
    "sums_of",
    "write",
]


def check_chain(reader: Reader) -> None:
    """`LedgerError` unless every record is there, as it was written, up to the head.

    Records are searched by columns that no hash covers, so an answer can be hidden by one edited column. Where finding
    nothing would let fresh noise out under an old charge, the whole chain is read: its length is the price, and it is
    seldom paid.
    """
    end = GENESIS
    for row in reader.rows():
        if row.previous() != end.hash or row.sequence != end.sequence + 1:
            raise changed(end.sequence + 1)
        end = Head(row.sequence, row.hash)
    if end != reader.head():
        raise LedgerError(
            f"The records of the ledger end at {end.sequence}, not where its head says. Nothing was spent. Restore the "
            "ledger from a backup, leave its guard as it is, and run `discreet ledger verify`."
        )


Totals = dict[tuple[str, str], Charge]

_DOMAIN = b"discreet ledger totals 1\n"
_ACCOUNTS = b"discreet ledger accounts 1\n"
_EPSILONS = b"discreet ledger epsilons 1\n"
_NOTHING = Charge(Fraction(0))


def hash_of_totals(totals: Totals) -> str:
    """SHA-256 over what was spent from each allotment; allotments without charges do not count."""
    spent = sorted([*key, str(c.amount), str(c.delta)] for key, c in totals.items() if c != _NOTHING)
    return hashlib.sha256(_DOMAIN + canonical([list(each) for each in spent]).encode()).hexdigest()


def hash_of_accounts(entries: Iterable[Entry]) -> str:
    """SHA-256 over the records that open, change or close accounts."""
    return hashlib.sha256(_ACCOUNTS + canonical([list(entry) for entry in entries]).encode()).hexdigest()


def hash_of_epsilons(sums: Epsilons) -> str:
    """SHA-256 over the plain sum of epsilons of each allotment that was charged."""
    listed = sorted([*key, "" if total is None else str(total)] for key, total in sums.items())
    return hashlib.sha256(_EPSILONS + canonical([list(each) for each in listed]).encode()).hexdigest()


def epsilon_sums(reader: Reader) -> Epsilons:
    """The plain sums of epsilons: as noted, if the last record binds them, else added up after a walk of the chain.

    Without either a hidden charge would pay.
    """
    if reader.head() == GENESIS:
        return {}
    if bound := reader.binding().epsilons:
        sums = reader.epsilons()
        if bound == hash_of_epsilons(sums):
            return sums
        raise LedgerError(
            "The sums of epsilons of the ledger are not those of its last record: they were changed outside discreet. "
            "Nothing was spent. Restore the ledger from a backup, leave its guard as it is, and run `discreet ledger "
            "verify`."
        )
    check_chain(reader)
    return sums_of(row.record() for row in reader.rows() if row.kind == "charge")


def sums_of(charges: Iterable[Record]) -> Epsilons:
    """The plain sums of epsilons that these charges add up to."""
    sums: dict[tuple[str, str], PureSum] = {}
    for record in charges:
        sums.setdefault((record.dataset, record.allotment), PureSum()).add(record)
    return {key: each.total for key, each in sums.items()}


def write(writer: Writer, record: Record) -> Record:
    """Append a record, with the total it leads to and a hash of all totals, sums and accounts. As it was written."""
    if writer.format() > 1:
        record = _with_epsilons(writer, record)
    if record.kind == "charge":
        spent = writer.total(record.dataset, record.allotment) + record.charge
        writer.set_total(record.dataset, record.allotment, spent)
    bound = replace(record, totals=hash_of_totals(writer.totals()), accounts=hash_of_accounts(writer.accounts()))
    writer.append(bound)
    return bound


def _with_epsilons(writer: Writer, record: Record) -> Record:
    """The record with a hash of the sums after it, which are noted."""
    if writer.head() == GENESIS:
        writer.forget_sums()
    before = writer.epsilons()
    sums = epsilon_sums(writer)
    if record.kind == "charge":
        key = (record.dataset, record.allotment)
        added = PureSum(sums.get(key, Fraction(0)))
        added.add(record)
        sums = sums | {key: added.total}
    for key, total in sums.items():
        if before.get(key, -1) != total:
            writer.set_epsilon(*key, total)
    return replace(record, epsilons=hash_of_epsilons(sums))


def append(writer: Writer, **values: Any) -> Record:
    """Append a record with these values, written now."""
    return write(writer, Record.after(writer.head(), **values))


def check_bound(reader: Reader, *, whole: bool = True) -> None:
    """`LedgerError` unless totals and accounts are those that the last record was written with.

    Where an older version wrote the last record every record is read instead, unless `whole` is false.
    """
    check_totals(reader, add_up=whole)
    check_accounts(reader, walk=whole)


def check_accounts(reader: Reader, *, walk: bool = True) -> None:
    """`LedgerError` unless the ledger opens and closes the accounts that it did when the last record was written.

    An account is looked up by columns that no hash covers: without this a hidden record gives a larger budget back.
    """
    head = reader.head()
    entries = reader.accounts()
    if head == GENESIS:
        sound = not entries
    elif bound := (last := reader.binding()).accounts:
        end = [entry for entry in entries if entry.sequence >= head.sequence]
        sequence, dataset, kind, _ = last.columns
        itself = [Entry(sequence, dataset, kind, head.hash)] if kind in ("open", "close") else []
        sound = end == itself and bound == hash_of_accounts(entries[: len(entries) - len(end)])
    else:
        if walk:
            check_chain(reader)
        return
    if not sound:
        raise LedgerError(
            "The budgets of the ledger are not those that its last record was written with: a record was changed or "
            "removed outside discreet. Nothing was spent. Restore the ledger from a backup, leave its guard as it is, "
            "and run `discreet ledger verify`."
        )


def check_totals(reader: Reader, *, add_up: bool = True) -> None:
    """`LedgerError` unless the totals are those that the last record was written with.

    Where 0.1 wrote the last record they are added up from all charges, unless `add_up` is false.
    """
    head = reader.head()
    if head == GENESIS:
        sound = not any(spent != _NOTHING for spent in reader.totals().values())
    elif bound := reader.binding().totals:
        sound = bound == hash_of_totals(reader.totals())
    else:  # before every write until there is a record that binds them
        sound = not add_up or hash_of_totals(_summed(reader)) == hash_of_totals(reader.totals())
    if not sound:
        raise LedgerError(
            "The totals of the ledger are not those of its last record: they were changed outside discreet. "
            "Nothing was spent. Restore the ledger from a backup, leave its .head file as it is, and run "
            "`discreet ledger verify`."
        )


def _summed(reader: Reader) -> Totals:
    totals: Totals = {}
    for row in reader.rows():
        if row.kind == "charge":
            record = row.record()
            key = (record.dataset, record.allotment)
            totals[key] = totals.get(key, _NOTHING) + record.charge
    return totals
