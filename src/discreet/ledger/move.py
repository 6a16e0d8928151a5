"""From one ledger to another, so that at no moment both can be spent from.

Records are copied as they are: hashes, release ids and answers stay what they were, and a note on the move is the last.
Before the new books are committed, that note is put on the anchors of the old ones. Books that end before their anchor
are refused by every write, so the old ones can be read and no longer spent from, even if the power fails in between.
"""

from __future__ import annotations

from discreet.errors import InputError, LedgerError
from discreet.ledger.anchor import Mark
from discreet.ledger.guard import Guard
from discreet.ledger.record import GENESIS, Head, Record
from discreet.ledger.store import Writer
from discreet.ledger.totals import write
from discreet.ledger.verification import verify

__all__ = ["carry_over"]


def carry_over(old: Writer, guard: Guard | None, new: Writer, *, who: str, why: str) -> Head:
    """Copy the books of one transaction into the empty ones of another, and close the old ones. The new head."""
    if guard is None:
        hint = "Only books with a guard can be closed: open them with Ledger.open."
        raise InputError("ledger", "no guard", "a ledger that can be closed", hint)
    if new.head() != GENESIS:
        raise InputError("to", f"{new.head().sequence} records", "an empty ledger", "Nothing was changed.")
    checked = verify(old, guard)
    if not checked.ok:
        raise LedgerError("The ledger does not add up, and was left where it is: " + "; ".join(checked.problems))
    for row in old.rows():
        new.append(Record.from_body(row.body))
    for (dataset, allotment), spent in old.totals().items():
        new.set_total(dataset, allotment, spent)
    if new.head() != old.head():
        raise LedgerError("The copy is not what was copied; both ledgers were left as they were.")
    write(new, Record.after(new.head(), kind="note", dataset="", who=who, why=why, detail={"moved": old.head().hash}))
    guard.close(Mark(new.head(), moved=True), old)
    return new.head()
