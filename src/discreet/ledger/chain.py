"""The chain of records, walked from the first: what was hidden from a search is missed here."""

from __future__ import annotations

from discreet.errors import LedgerError
from discreet.ledger.record import GENESIS, Head
from discreet.ledger.store import Reader, changed

__all__ = ["check_chain"]


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
