"""What a custodian's acknowledgement ends: whatever was open on books from which records are missing.

The missing records may be answers that were published. So a release that was charged before it and has no outcome is
closed, and what was paid before it covers no further step. Proof: docs/proofs/ledger.md, "What was open".
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.errors import DiscreetError
from discreet.ledger.record import Record
from discreet.ledger.store import Reader, Row

__all__ = ["SEEN", "acknowledges", "last_acknowledged", "open_releases"]

SEEN = "the ledger lost records since, and its answer may have been seen"


def acknowledges(record: Record) -> bool:
    """Whether a record is the word of a custodian that a ledger with a discrepancy is to be used."""
    return record.kind == "note" and isinstance(record.detail, dict) and "acknowledged" in record.detail


def last_acknowledged(reader: Reader) -> int:
    """The number of the last acknowledgement; 0 if there was none."""
    notes = (row.record() for row in reader.rows("") if row.kind == "note")  # of the ledger itself: few
    return max((record.sequence for record in notes if acknowledges(record)), default=0)


def open_releases(reader: Reader) -> Iterator[tuple[str, str]]:
    """Dataset and id of every release that was charged and for which something may still be drawn.

    One whose measurement is on record has been drawn for good; amounts written off are never drawn for.
    """
    charged: dict[str, Row] = {}
    for row in reader.rows():
        if row.kind == "charge":
            charged[row.release] = row
        elif row.kind in ("measurement", "answer", "failure"):
            charged.pop(row.release, None)
    for row in charged.values():
        if _priced(row):
            yield row.dataset, row.release


def _priced(row: Row) -> bool:
    try:
        return bool(Record.from_body(row.body).digest)
    except DiscreetError:  # edited: `verify` says so, and it is closed like any other
        return True
