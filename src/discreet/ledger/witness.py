"""What is shown of a ledger is what its guard has seen: it follows before an answer is read, not only after it."""

from __future__ import annotations

from discreet.errors import GuardError, LedgerError
from discreet.ledger.anchor import Anchor, Mark, agrees
from discreet.ledger.guard import Guard, identity_of
from discreet.ledger.outcome import Outcome, outcome_in
from discreet.ledger.store import Store

__all__ = ["witness", "witnessed_outcome"]


def witnessed_outcome(store: Store, guard: Guard | None, release: str) -> Outcome | None:
    """What is known of a release, with what was drawn only if the guard has seen it; None if it was never charged.

    Guarantee: of all copies of a ledger under one guard, only the answers of one history are returned, unless a
    custodian acknowledges another: docs/proofs/ledger.md, "What is shown".
    """
    with store.read() as reader:
        outcome = outcome_in(reader, release)
        if guard is None or outcome is None or not outcome.concluded or guard.saw(reader, outcome.concluded):
            return outcome
    if not witness(store, guard, outcome.concluded):
        raise LedgerError(
            f"The guard of this ledger never saw what it holds of release {release!r}, because it follows another copy "
            "of it: it is not shown, for that copy may have answered too. Nothing was spent. Put the right file back, "
            "or let the custodian acknowledge this one: discreet ledger acknowledge."
        )
    return outcome


def witness(store: Store, guard: Guard | None, sequence: int | None = None) -> bool:
    """Have the guard follow up to a record (the last one if absent), as after a crash; whether it has seen it.

    A guard that is missing or garbled has nothing to say: a ledger without one cannot be trusted, and can only be read.
    """
    if guard is None:
        return True
    with store.read() as reader:
        anchors = guard.watch(identity_of(reader)).own
    # Before the ledger: what a mark says was committed by then, so a ledger without its record is another copy.
    marks = [(anchor, mark) for anchor in anchors if (mark := _last(anchor)) is not None]
    with store.read() as reader:
        end = reader.head()
        wanted = end.sequence if sequence is None else sequence
        apart = [anchor for anchor, mark in marks if not agrees(mark, reader)]
        common = [max((m.head.sequence for m in a.history() if agrees(m, reader)), default=0) for a in apart]
    if apart:
        return min(common) >= wanted
    behind = [anchor for anchor, mark in marks if mark.head.sequence < wanted]
    try:
        for anchor in behind:
            guard.lead(anchor, store)
    except OSError as error:
        raise LedgerError(
            f"The guard of this ledger is behind and cannot be written ({error.strerror}), so what it has not "
            "seen is not shown. Nothing was spent. Make room, then ask again."
        ) from None
    if len(marks) == len(anchors):
        guard.seen = end
    return True


def _last(anchor: Anchor) -> Mark | None:
    try:
        return anchor.last()
    except GuardError:
        return None
