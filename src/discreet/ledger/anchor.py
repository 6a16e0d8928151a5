"""The end of the chain, kept in a second file, so that a ledger restored from an old copy is noticed.

The file is replaced after every change of the books, never before: what it says was true of a committed ledger. So a
ledger that is ahead of its anchor crashed at a bad moment and is well; one that is behind, or that has another hash
at the same place, is not the ledger that was last seen here. The anchor also keeps the totals: what a lost
record had spent can be written off without the record.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from discreet.core.wire import Json, canonical, fraction
from discreet.errors import LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.lock import held
from discreet.ledger.record import GENESIS, Head
from discreet.ledger.store import Reader

__all__ = ["Anchor", "Mark"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What the anchor last saw."""

    head: Head
    totals: dict[tuple[str, str], Charge] = field(default_factory=dict)
    moved: bool = False
    """Whether the books go on in another ledger; these are closed."""

    @classmethod
    def of(cls, reader: Reader) -> Mark:
        """The mark of the books as they are."""
        return cls(reader.head(), reader.totals())

    def to_text(self) -> str:
        """One line of JSON."""
        spent: list[Json] = [
            [*place, str(charge.amount), str(charge.delta)] for place, charge in sorted(self.totals.items())
        ]
        told: dict[str, Json] = {"format": 1, "sequence": self.head.sequence, "hash": self.head.hash, "spent": spent}
        return canonical(told | {"moved": True} if self.moved else told) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Mark:
        """Read back what `to_text` wrote."""
        values = json.loads(text)
        totals = {
            (dataset, allotment): Charge(fraction(amount, "amount"), fraction(delta, "delta"))
            for dataset, allotment, amount, delta in values["spent"]
        }
        return cls(Head(int(values["sequence"]), str(values["hash"])), totals, values.get("moved") is True)


class Anchor:
    """The file `path` beside a ledger. `expected`: a ledger with records and no anchor is refused, not adopted."""

    def __init__(self, path: Path, *, expected: bool) -> None:
        self.path = path
        self.expected = expected
        self._lock_path = path.with_name(path.name + ".lock")

    def read(self) -> Mark | None:
        """What was last seen; None if nothing ever was."""
        try:
            return Mark.from_text(self.path.read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OSError):
            raise LedgerError(
                f"The guard {self.path.name!r} of the ledger cannot be read. Restore it, or let the custodian look "
                "into it and acknowledge the ledger as it is: discreet ledger acknowledge."
            ) from None

    def last(self) -> Mark | None:
        """What was last seen, if that can be told."""
        try:
            return self.read()
        except LedgerError:
            return None

    def problem(self, reader: Reader) -> str | None:
        """Why these are not the books last seen, in words; None if they are.

        Called inside a write transaction: then every mark is of a state these books have been in.
        """
        head = reader.head()
        try:
            mark = self.read()
        except LedgerError:
            return f"its guard {self.path.name!r} cannot be read"
        if mark is None:
            if head == GENESIS or not self.expected:
                return None
            return f"it has {head.sequence} records but its guard {self.path.name!r} is missing: moved or copied alone"
        if mark.moved and mark.head.sequence > head.sequence:
            return (
                f"it was moved to another ledger, where record {mark.head.sequence} was written: use that one, for "
                "acknowledging this one would make two budgets of one"
            )
        if mark.head.sequence > head.sequence:
            return (
                f"it ends at record {head.sequence}, but record {mark.head.sequence} was already written: it was "
                "restored from an old copy, and what was spent since is missing"
            )
        if mark.head != GENESIS:
            row = reader.row(mark.head.sequence)
            if row is None or row.hash != mark.head.hash:
                return f"record {mark.head.sequence} is not the one last seen: this is another ledger, or a changed one"
        return None

    def move(self, look: Callable[[], Mark], *, to: int) -> None:
        """See to it that the mark is at record `to` or later.

        `look` is called under the lock and gives the books as they are then, so whoever comes first writes the newest
        mark and the others find nothing left to do.
        """
        with held(self._lock_path):
            old = self.read()
            if old is None or old.head.sequence < to:
                self._replace(look())

    def force(self, mark: Mark) -> None:
        """Set the mark, whatever it was."""
        with held(self._lock_path):
            self._replace(mark)

    def _replace(self, mark: Mark) -> None:
        """Write the mark so that a crash leaves the old file or the new one, never half of either."""
        draft = self.path.with_name(self.path.name + ".new")  # one writer at a time: see `move`
        with draft.open("w", encoding="ascii") as file:
            file.write(mark.to_text())
            file.flush()
            os.fsync(file.fileno())
        new = not self.path.exists()
        draft.replace(self.path)
        if not new:  # should the machine lose power now, the older mark comes back, which is as good
            return
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
