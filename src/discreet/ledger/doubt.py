"""Why books may not be the ones last seen, and what taking them nevertheless would charge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.ledger.account import account_of
from discreet.ledger.anchor import Anchor, Mark
from discreet.ledger.budget import Charge
from discreet.ledger.store import Reader

__all__ = ["Doubt", "doubt_of"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """What the anchor has against the books."""

    problem: str
    """In words."""
    mark: Mark | None
    """What was last seen; None if that cannot be told."""
    lost: tuple[tuple[str, str, Charge], ...]
    """Dataset, allotment and amount of what is known to be spent and is not on these books."""
    moved: bool
    """Whether the books go on in another ledger."""

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.moved:
            return (
                "Only where that move failed and the other ledger is empty may the custodian open this one again: "
                "discreet ledger acknowledge --reopen."
            )
        return "Put the right file back, or let the custodian acknowledge it: discreet ledger acknowledge."


def doubt_of(reader: Reader, anchor: Anchor | None) -> Doubt | None:
    """The doubt about these books; None if they are the ones last seen, or nobody watches them.

    Called inside a write transaction, as `Anchor.problem` is.
    """
    problem = None if anchor is None else anchor.problem(reader)
    if anchor is None or problem is None:
        return None
    mark = anchor.last()
    if mark is None:
        return Doubt(problem, None, (), moved=False)
    behind = mark.head.sequence > reader.head().sequence
    lost = []
    for (dataset, allotment), known in sorted(mark.totals.items()):
        spent = reader.total(dataset, allotment)
        # A copy that is only old lacks the difference. Of a ledger that went another way nothing is known to be in
        # common, so all of it counts, as far as there is budget left.
        missing = spent.left_of(known) if behind else _fitting(reader, dataset, allotment, spent, known)
        if missing != Charge(Fraction(0)):
            lost.append((dataset, allotment, missing))
    return Doubt(problem, mark, tuple(lost), moved=mark.moved and behind)


def _fitting(reader: Reader, dataset: str, allotment: str, spent: Charge, known: Charge) -> Charge:
    try:
        left = spent.left_of(account_of(reader, dataset).budget.allotment(allotment).cap)
    except InputError:  # a dataset these books never had
        return known
    return Charge(min(left.amount, known.amount), min(left.delta, known.delta))
