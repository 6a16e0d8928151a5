"""All records of one ledger into an empty one, as they are, with the totals and sums that belong to them."""

from __future__ import annotations

from discreet.errors import LedgerError
from discreet.ledger.chain import sums_of
from discreet.ledger.record import GENESIS
from discreet.ledger.store import Reader, Writer

__all__ = ["copy_records"]


def copy_records(source: Reader, target: Writer) -> None:
    """Copy a ledger, in its own transaction, into an empty one: hashes stay what they are."""
    target.extend(source.rows())
    for (dataset, allotment), spent in source.totals().items():
        target.set_total(dataset, allotment, spent)
    if target.format() > 1 and source.head() != GENESIS and source.last().epsilons:
        for key, total in sums_of(row.record() for row in source.rows() if row.kind == "charge").items():
            target.set_epsilon(*key, total)
    if target.head() != source.head():
        raise LedgerError("The copy is not what was copied; both ledgers were left as they were.")
