"""Why a ledger may not be the one last seen, and what using it nevertheless would charge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import GuardError, LedgerError
from discreet.ledger.anchor import Anchor, Mark, Totals, agrees
from discreet.ledger.budget import Charge
from discreet.ledger.guard import Guard, Watch, identity_of
from discreet.ledger.record import GENESIS
from discreet.ledger.store import Reader

__all__ = ["Discrepancy", "check_seen", "find_discrepancy"]

_ZERO = Charge(Fraction(0))


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """What the guard has against the ledger."""

    problem: str
    """In words."""
    mark: Mark | None
    """What was last seen; None if that cannot be told: then the custodian says what is to be written off."""
    lost: tuple[tuple[str, str, Charge], ...]
    """Dataset, allotment and amount of what is known to be spent and is not on this ledger."""
    moved: bool
    """Whether the ledger goes on in another ledger."""

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.moved:
            return (
                "Only where that move failed and the other ledger is empty may the custodian open this one again: "
                "discreet ledger acknowledge --reopen."
            )
        asked = "" if self.mark is not None else " --write-off ..."
        return f"Put the right file back, or let the custodian acknowledge it: discreet ledger acknowledge{asked}."


def find_discrepancy(reader: Reader, guard: Guard | None) -> Discrepancy | None:
    """How this ledger differs from what was last seen; None if it does not, or nobody watches it.

    Called inside a write transaction: then every mark is of a state that this ledger has been in.
    """
    if guard is None:
        return None
    watch = guard.watch(identity_of(reader))
    discrepancies: list[Discrepancy] = []
    others: list[Discrepancy] = []
    absent = []
    for anchor in (*watch.own, *watch.former):
        try:
            last = anchor.last()
            if last is None:
                absent.append(anchor)
            elif last.head.sequence > reader.head().sequence or not agrees(last, reader):
                (others if anchor in watch.former else discrepancies).append(_difference(reader, anchor, last))
        except GuardError:
            return Discrepancy(f"its guard {anchor.name!r} cannot be read", None, (), moved=False)
    if discrepancies or others:
        heads = [
            each.mark.head for each in discrepancies if each.mark is not None
        ]  # a named file may have followed both
        return _both(discrepancies, [each for each in others if each.mark is not None and each.mark.head not in heads])
    missing = _missing(reader, watch, absent)
    if missing is not None:
        count = reader.head().sequence
        problem = f"it has {count} records but its guard {missing!r} is missing: moved or copied alone"
        return Discrepancy(problem, None, (), moved=False)
    return None


def check_seen(reader: Reader, guard: Guard | None) -> None:
    """`LedgerError` unless this ledger is the one last seen."""
    if found := find_discrepancy(reader, guard):
        problem = f"This ledger is not the one last seen here: {found.problem}. Nothing was spent."
        raise LedgerError(f"{problem} {found.remedy}")


def _missing(reader: Reader, watch: Watch, absent: list[Anchor]) -> str | None:
    """The name of a guard that should have seen this ledger and has not; None if nobody is missing.

    Every named one should, and, where none is named, the one of this machine: the one beside the ledger is copied with
    it. Only a ledger that 0.1 wrote last, before there were others, may be vouched for by any one.
    """
    if reader.head() == GENESIS:
        return None
    asked = watch.named or ([] if watch.local is None else [watch.local])
    silent = [anchor.name for anchor in asked if anchor in absent]
    if not asked:
        return "of another key"
    if silent and _of_0_1(reader) and any(anchor not in absent for anchor in watch.own):
        return None
    return silent[0] if silent else None


def _of_0_1(reader: Reader) -> bool:
    """Whether 0.1 wrote the last record, which then binds no totals."""
    try:
        return not reader.binding().totals
    except LedgerError:
        return False


def _difference(reader: Reader, anchor: Anchor, last: Mark) -> Discrepancy:
    """What an anchor saw spent after the last record that it has in common with the ledger.

    A record that both have means that all before it are the same, for each holds the hash of the one before. What
    the ledger holds beyond it is another history: it is charged already, and what the anchor saw comes to it.
    """
    totals: Totals = {}
    common: Totals = {}
    moved = False
    for mark in anchor.history():
        totals = mark.after(totals)
        if agrees(mark, reader):
            common, moved = totals, False
        moved = moved or mark.moved
    lost = tuple(
        (*key, missing)
        for key, known in sorted(totals.items())
        if (missing := common.get(key, _ZERO).left_of(known)) != _ZERO
    )
    head, behind = reader.head(), last.head.sequence > reader.head().sequence
    if moved and behind:
        problem = (
            "it was moved to another ledger, where it goes on: use that one, for acknowledging this one would make two "
            "budgets of one"
        )
    elif behind:
        problem = (
            f"it ends at record {head.sequence}, but record {last.head.sequence} was already written: it was "
            "restored from an old copy, and what was spent since is missing"
        )
    else:
        problem = f"record {last.head.sequence} is not the one last seen: this is another ledger, or a changed one"
    return Discrepancy(problem, Mark(last.head, totals, whole=True), lost, moved=moved and behind)


def _both(discrepancies: list[Discrepancy], others: list[Discrepancy]) -> Discrepancy:
    """The first of several discrepancies, with all that is known to be lost: here and in another ledger."""
    first, *_ = (*discrepancies, *others)
    lost: dict[tuple[str, str], Charge] = {}
    for dataset, allotment, charge in (*_largest(discrepancies), *_largest(others)):
        lost[dataset, allotment] = lost.get((dataset, allotment), _ZERO) + charge
    listed = tuple((*key, charge) for key, charge in sorted(lost.items()))
    return Discrepancy(first.problem, first.mark, listed, moved=any(each.moved for each in (*discrepancies, *others)))


def _largest(discrepancies: list[Discrepancy]) -> list[tuple[str, str, Charge]]:
    """The largest loss that any guard of one ledger knows of: each has seen a part of the same history."""
    lost: dict[tuple[str, str], Charge] = {}
    for each in discrepancies:
        for dataset, allotment, charge in each.lost:
            most = lost.get((dataset, allotment), _ZERO)
            lost[dataset, allotment] = Charge(max(most.amount, charge.amount), max(most.delta, charge.delta))
    return [(*key, charge) for key, charge in lost.items()]
