"""Two ledgers into one: the records of one are written at the end of the other, and it is closed.

They are written anew, for each record names the one before it; who, when, what and at which price stay as they were. At
no moment can the merged ledger be spent from as well: as in a move, its guard is closed before the other one is
committed, and a merge that was stopped goes on. Proof: docs/proofs/ledger.md, "Merging".
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.wire import Json
from discreet.errors import InputError, LedgerError, Phrase
from discreet.ledger.account import account_of, opened_datasets, same_name
from discreet.ledger.anchor import Mark
from discreet.ledger.chain import append, epsilon_sums, write
from discreet.ledger.guard import identity_of
from discreet.ledger.location import workspace
from discreet.ledger.move import Begun, closed_by, read_begun, save_begun
from discreet.ledger.outcome import open_releases
from discreet.ledger.pure_sum import PureSum
from discreet.ledger.record import Record
from discreet.ledger.store import Reader, Writer
from discreet.ledger.verification import verify

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["MERGED", "Merged", "check_merge", "merge_ledgers"]

MERGED = "the ledger it was charged on was merged into another one"
_HINT = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did, or would do."""

    records: int
    datasets: tuple[str, ...]
    shared: tuple[str, ...]
    """Datasets that both ledgers had: their charges are added up under the budget of the one that goes on."""
    closed: tuple[str, ...]
    """Releases without an outcome, which end."""


def merge_ledgers(into: Ledger, other: Ledger, *, who: str, why: str) -> Merged:
    """Write all records of a ledger at the end of another, and close it.

    Guarantee: what was released under either ledger stays within the budgets of the one that goes on; at no moment,
    whatever fails, can both be spent from for the merged datasets. Stopped half-way, the same merge again finishes it.
    """
    if (guard := other._guard) is None or into._guard is None:
        hint = "Only a ledger with a guard can be closed: open it with Ledger.open."
        raise InputError("ledger", Phrase("no guard"), "a ledger that can be closed", hint)
    with into._store.read() as reader, other._store.read() as source:
        goes, ends = identity_of(reader), identity_of(source)
        found = check_merge(reader, source) if not _has_merged(reader, ends) else None
    draft = workspace(other._store.path, str(ends), "merging") / "note.json"
    begun = read_begun(draft)
    if found is not None:
        with ExitStack() as held:
            old, new = _hold(held, into, other, goes, ends)
            note = begun.note if begun is not None and closed_by(begun.note, guard, old) else None
            if note is not None and begun is not None and begun.to != goes:
                raise LedgerError("This ledger is being merged into another one: finish that first. " + _HINT)
            for checked in (verify(old, None if note is not None else guard), verify(new, into._guard)):
                if not checked.ok:
                    raise LedgerError("A ledger does not verify, and none was changed: " + "; ".join(checked.problems))
            found = check_merge(new, old)
            if note is None:
                told: dict[str, Json] = {"merged into": goes}
                note = Record.after(old.head(), kind="note", dataset="", who=who, why=why, detail=told)
                save_begun(draft, Begun(str(goes), note))
            _carry_over(old, new, str(ends), found, who=who, why=why)
            guard.close(Mark(note.head, moved=True), old)
    else:
        into._guard.follow(into._store)
        found = Merged(0, (), (), ())
    shutil.rmtree(workspace(other._store.path, str(ends), "private"), ignore_errors=True)  # its streams have ended
    shutil.rmtree(draft.parent, ignore_errors=True)
    return found


def _hold(held: ExitStack, into: Ledger, other: Ledger, goes: str | None, ends: str | None) -> tuple[Writer, Writer]:
    """Both for writing, in an order that does not depend on who is merged into whom; the one that ends first."""
    if str(ends) < str(goes):
        old = held.enter_context(other._store.write())
        return old, held.enter_context(into._write())
    new = held.enter_context(into._write())
    return held.enter_context(other._store.write()), new


def check_merge(into: Reader, other: Reader) -> Merged:
    """What merging would do; `InputError` in words where it would not be sound."""
    if identity_of(into) == identity_of(other):
        raise InputError("ledger", Phrase("a copy of this one"), "another ledger", _HINT)
    known, names = opened_datasets(into), opened_datasets(other)
    for name in names:
        if alike := [each for each in known if each != name and same_name(each, name)]:
            raise InputError("dataset", name, f"spelt as on the other ledger: {alike[0]!r}", _HINT)
    shared = tuple(name for name in names if name in known)
    for name in shared:
        _check_shared(into, other, name)
    for row in other.rows():
        if row.kind == "charge" and into.of_release(row.release):
            allowed = "on one of the ledgers only: an id stands for one charge and one answer"
            raise InputError("release", row.release, allowed, _HINT)
    ended = tuple(release for _, release in open_releases(other))
    return Merged(other.head().sequence, names, shared, ended)


def _check_shared(into: Reader, other: Reader, name: str) -> None:
    """A dataset of both: one unit, both open, and all that either charged within the caps of the one that goes on."""
    here, there = account_of(into, name), account_of(other, name)
    if here.closed or there.closed:
        raise InputError("dataset", name, "open on both ledgers: one that was closed takes no charges", _HINT)
    if here.unit != there.unit or not here.comparable:
        allowed = f"of the unit that the other ledger protects: {there.unit}"
        raise InputError("unit", Phrase(here.unit), allowed, f"Losses of different units do not add up. {_HINT}")
    parts = {part.name: part for part in here.budget.allotments}
    kinds = {part.name: part.kind for part in there.budget.allotments}
    sums, theirs = epsilon_sums(into), epsilon_sums(other)
    for (dataset, allotment), spent in sorted(other.totals().items()):
        if dataset != name or not (spent.amount or spent.delta):
            continue
        part = parts.get(allotment)
        if part is None or kinds.get(allotment) != part.kind:
            allowed = f"an allotment of {name!r} on both ledgers that counts the same way"
            raise InputError("allotment", allotment, allowed, _HINT)
        both = into.total(name, allotment) + spent
        mine, yours = (each.get((name, allotment), Fraction(0)) for each in (sums, theirs))
        plain = PureSum(None if mine is None or yours is None else mine + yours)
        if not both.within(part.cap) and not plain.within(part):
            hint = (
                "Raise the budget of the ledger that goes on first, if that is what is promised: discreet ledger raise."
            )
            allowed = f"at most the cap of {allotment!r} of {name!r}, {float(part.cap.amount):.6g} {part.currency}"
            raise InputError("spent", Phrase(f"{float(both.amount):.6g} on both together"), allowed, f"{hint} {_HINT}")


def _carry_over(old: Reader, new: Writer, identity: str, plan: Merged, *, who: str, why: str) -> None:
    """Write the records of one ledger after those of another, and end what is open."""
    told: dict[str, Json] = {"ledger": identity, "records": plan.records, "head": old.head().hash}
    append(new, kind="note", dataset="", who=who, why=why, detail={"merged": told})
    for row in old.rows():
        record = row.record()
        head = new.head()
        write(new, replace(_anew(record, identity, plan.shared), sequence=head.sequence + 1, previous=head.hash))
    ended = set(plan.closed)
    for dataset, release in tuple(open_releases(new)):
        if release in ended:
            append(new, kind="failure", dataset=dataset, release=release, who=who, detail={"reason": MERGED})


def _anew(record: Record, identity: str, shared: tuple[str, ...]) -> Record:
    """A record as the other ledger holds it. What it acknowledged and opened there says nothing of what is here."""
    if record.kind == "charge":
        detail = record.detail if isinstance(record.detail, dict) else {}
        return replace(record, detail={**detail, "merged": identity})
    if record.kind in _THERE and record.dataset in shared:
        return replace(record, kind="note", detail={_THERE[record.kind]: record.detail})
    if record.kind == "note" and isinstance(record.detail, dict):
        return replace(record, detail={_RENAMED.get(key, key): value for key, value in record.detail.items()})
    return record


_THERE = {"open": "budget there", "cap": "caps there"}  # the ledger that goes on has its own
_RENAMED = {"acknowledged": "acknowledged there", "merged": "merged there", "anchor": "anchor there"}


def _has_merged(reader: Reader, identity: str | None) -> bool:
    """Whether the records of a ledger are on this one already."""
    notes = (row.record() for row in reader.rows("") if row.kind == "note")
    merged = (each.detail.get("merged") for each in notes if isinstance(each.detail, dict))
    return any(isinstance(each, dict) and each.get("ledger") == identity for each in merged)
