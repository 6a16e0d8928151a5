"""From one ledger to another, so that at no moment both can be spent from, and nothing of the old one is left behind.

Records are copied as they are: hashes, release ids and answers stay what they were, and a note on the move is the last.
The secret and what streams remember of people are copied before. Then the note is put on the anchors of the old ledger,
which are behind it from then on and refused by every write; then the new ones are committed; then the old secret and
memories are removed. The note lies in a file until the end, so that a move that was stopped anywhere goes on.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from discreet.core.wire import canonical
from discreet.errors import InputError, LedgerError, Phrase
from discreet.ledger.anchor import Mark
from discreet.ledger.chain import sums_of, write
from discreet.ledger.guard import Guard, identity_of
from discreet.ledger.location import private_folder, public_address, settle, workspace
from discreet.ledger.record import GENESIS, Head, Record
from discreet.ledger.secret import database_key, secret_at
from discreet.ledger.store import Store, Writer
from discreet.ledger.stream_state import copy_states
from discreet.ledger.transfer import copy_records
from discreet.ledger.verification import verify

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["Begun", "closed_by", "move_ledger", "read_begun", "save_begun"]

_LEFT = "The ledger does not verify, and was left where it is: "


class Begun(NamedTuple):
    """A move that was not finished: where to, and the last record of the new ledger."""

    to: str
    note: Record


def move_ledger(old: Ledger, new: Ledger, address: str | Path, *, who: str, why: str) -> None:
    """Carry all of a ledger over to an empty one at an address, or finish a move that was begun."""
    to = (
        f"{public_address(address)} ({database_key(str(address))})"
        if "://" in str(address)
        else str(Path(address).resolve())
    )
    if (guard := old._guard) is None:
        hint = "Only a ledger with a guard can be closed: open it with Ledger.open."
        raise InputError("ledger", Phrase("no guard"), "a ledger that can be closed", hint)
    with old._store.read() as reader:
        identity = identity_of(reader) or "new"
    draft = workspace(old._store.path, identity, "moving") / "note.json"
    begun = read_begun(draft)
    done = _carried_over(old._store, new._store) if begun is None else begun.to == to and _has(new._store, begun.note)
    if not done:
        if new.head() != GENESIS:  # before both are held: this ledger itself would wait for itself
            raise InputError("to", Phrase(f"{new.head().sequence} records"), "an empty ledger", "Nothing was changed.")
        if old._secret is not None and new._secret is not None and old._secret.exists():
            secret_at(new._secret, secret_at(old._secret))  # or no stored release could be compared with the data
        with old._store.write() as transaction, new._write() as writer:
            note = begun.note if begun is not None and closed_by(begun.note, guard, transaction) else None
            if note is not None and begun is not None and begun.to != to:
                raise LedgerError(
                    f"This ledger is being moved to {begun.to}: finish that move first. Nothing was changed. Only if "
                    "the other ledger is lost may the custodian open it again: discreet ledger acknowledge --reopen."
                )
            checked = verify(transaction, None if note is not None else guard)
            if not checked.ok:
                raise LedgerError(_LEFT + "; ".join(checked.problems))
            copy_states(*_memories(old, new, identity))
            _carry_over(transaction, guard, writer, note, draft, to, who=who, why=why)
    elif new._guard is not None:
        new._guard.follow(new._store)
    _tidy(old, new, identity, draft)


def _carry_over(
    old: Writer, guard: Guard, new: Writer, begun: Record | None, draft: Path, to: str, *, who: str, why: str
) -> None:
    """Copy the records of one transaction into the empty ledger of another, and close the old one."""
    copy_records(old, new)
    if begun is None:
        detail = {"moved": old.head().hash}
        note = write(new, Record.after(new.head(), kind="note", dataset="", who=who, why=why, detail=detail))
        save_begun(draft, Begun(to, note))
    else:
        new.append(begun)  # as it was written for the copy that was undone: what it binds is there again
        for key, total in sums_of(row.record() for row in new.rows() if row.kind == "charge").items():
            new.set_epsilon(*key, total)
    guard.close(Mark(new.head(), moved=True), old)


def closed_by(note: Record, guard: Guard, old: Writer) -> bool:
    """Whether this ledger, all of it, was closed for a move that ends with this note."""
    if old.head() != Head(note.sequence - 1, note.previous):
        return False
    marks = [anchor.last() for anchor in guard.watch(identity_of(old)).own]
    return any(mark is not None and mark.moved and mark.head == note.head for mark in marks)


def _has(store: Store, note: Record) -> bool:
    with store.read() as reader:
        row = reader.row(note.sequence)
    return row is not None and row.hash == note.hash


def _carried_over(old: Store, new: Store) -> bool:
    """Whether the new ledger goes on where the old one was left: the move ended, though nobody may have heard of it."""
    with old.read() as reader:
        head = reader.head()
    with new.read() as reader:
        row = reader.row(head.sequence + 1)
    note = None if row is None or row.kind != "note" else row.record()
    return note is not None and note.previous == head.hash and note.detail == {"moved": head.hash}


def _tidy(old: Ledger, new: Ledger, identity: str, draft: Path) -> None:
    """Remove what was copied, and last the note, which says that there is something to be finished."""
    here, there = _memories(old, new, identity)
    if here != there:
        shutil.rmtree(here, ignore_errors=True)
    if old._secret is not None and old._secret != new._secret:
        old._secret.unlink(missing_ok=True)
    shutil.rmtree(draft.parent, ignore_errors=True)


def _memories(old: Ledger, new: Ledger, identity: str) -> tuple[Path, Path]:
    """Where the streams of either ledger remember people; of two databases it is one folder."""
    return workspace(old._store.path, identity, "private"), workspace(new._store.path, identity, "private")


def save_begun(draft: Path, begun: Begun) -> None:
    """Note durably what was begun."""
    beside = private_folder(draft.parent) / "note.new"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(canonical({"to": begun.to, "note": begun.note.body()}))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(draft)
    settle(draft.parent)


def read_begun(draft: Path) -> Begun | None:
    """What was begun and not finished; None if nothing was."""
    if not draft.exists():
        return None
    entry = json.loads(draft.read_text(encoding="utf-8"))
    return Begun(entry["to"], Record.from_body(entry["note"]))
