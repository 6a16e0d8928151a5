"""The chain in short, kept apart from the ledger, so that a ledger restored from an old copy is noticed.

An anchor is a log. Each line has the number and the hash of a record, and what the record charged; the first line may
stand for all records before it. Lines are added after a record is committed, never before: what they say was true of a
committed ledger. So a ledger that is ahead of its anchor crashed at a bad moment and is well; one that is behind,
or that has another hash at the same number, is not the ledger that was last seen. The log tells the last record that
both have in common, and what was spent after it: that can be written off without the records.

A log that grows is compacted: of old records only some keep a line, which then says what all since the line before
spent. Sums and the last line stay what they are; for a copy that ends between two lines, what is charged may be more
than was lost, never less.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from discreet.core.wire import Json, canonical, fraction
from discreet.errors import GuardError, LedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.lock import file_lock
from discreet.ledger.record import Head, Record
from discreet.ledger.store import Reader

__all__ = ["Anchor", "FileAnchor", "Mark", "Totals", "agrees", "compacted", "marks_after"]

RECENT = 1024
"""How many records at the end of a log keep a line each."""
_EVERY = 4 * RECENT  # records after which a log is compacted
_LINE = 1 << 11  # bytes that hold the last line of most logs
_TAIL = 1 << 16  # and of nearly every one

Totals = dict[tuple[str, str], Charge]


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of an anchor: the ledger as it was after one record."""

    head: Head
    spent: Totals = field(default_factory=dict)
    """By dataset and allotment: what was spent since the mark before, or, if `whole`, all that was spent so far."""
    moved: bool = False
    """Whether the ledger goes on in another ledger from here."""
    whole: bool = False

    @classmethod
    def of(cls, reader: Reader) -> Mark:
        """The mark of the ledger as it is, with all that was spent."""
        return cls(reader.head(), reader.totals(), whole=True)

    @classmethod
    def behind(cls, head: Head, record: Record) -> Mark:
        """The mark after one record."""
        return cls(head, {(record.dataset, record.allotment): record.charge} if record.kind == "charge" else {})

    def to_text(self) -> str:
        """One line of JSON."""
        spent: list[Json] = [
            [*key, str(charge.amount), str(charge.delta)] for key, charge in sorted(self.spent.items())
        ]
        line: dict[str, Json] = {"sequence": self.head.sequence, "hash": self.head.hash}
        line |= {"format": 1, "spent": spent} if self.whole else {"charge": spent} if spent else {}
        return canonical(line | {"moved": True} if self.moved else line) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Mark:
        """Read back what `to_text` wrote."""
        values = json.loads(text)
        whole = "spent" in values
        spent = (
            {
                (dataset, allotment): Charge(fraction(amount, "amount"), fraction(delta, "delta"))
                for dataset, allotment, amount, delta in values["spent" if whole else "charge"]
            }
            if whole or "charge" in values
            else {}
        )
        return cls(Head(int(values["sequence"]), str(values["hash"])), spent, values.get("moved") is True, whole)

    def after(self, totals: Totals) -> Totals:
        """What was spent so far, given what was spent before this mark."""
        if self.whole:
            return dict(self.spent)
        zero = Charge(Fraction(0))
        return totals | {key: totals.get(key, zero) + charge for key, charge in self.spent.items()}


def marks_after(reader: Reader, last: Mark | None) -> list[Mark]:
    """The marks that follow `last` up to the end of the ledger; one for the whole if there is none.

    `LedgerError` if the ledger does not have the record of `last`: then the log is of another copy, which was faster.
    """
    if last is None:
        return [Mark.of(reader)]
    if not agrees(last, reader):
        raise LedgerError(
            f"The change is on this ledger, but its guard has seen another record {last.head.sequence} meanwhile: a "
            "copy of this ledger is in use, or it was moved. What was charged here stays charged, and nothing was "
            "released for it. Run `discreet ledger verify`, and let only one copy be used."
        )
    marks = []
    for sequence in range(last.head.sequence + 1, reader.head().sequence + 1):
        row = reader.row(sequence)
        if row is None:
            raise LedgerError(f"Record {sequence} of the ledger is missing. Run `discreet ledger verify`.")
        marks.append(Mark.behind(Head(sequence, row.hash), Record.from_body(row.body)))
    return marks


def compacted(marks: Sequence[Mark]) -> list[Mark]:
    """The same log in fewer lines: all of the latest records, of older ones every second, fourth, eighth, and so on.

    Guarantee: every mark of the result is one of those given, with the totals it had there: docs/proofs/ledger.md.
    """
    end = marks[-1].head.sequence if marks else 0
    out: list[Mark] = []
    waiting: Totals = {}  # what the marks left out since the last one spent
    for mark in marks:
        if mark.whole:
            out.append(mark)
            waiting = {}
            continue
        waiting = mark.after(waiting)
        step = 1 << ((end - mark.head.sequence) // RECENT).bit_length()
        if mark.moved or (mark.head.sequence % step == 0):
            out.append(replace(mark, spent=waiting))
            waiting = {}
    return out


class Anchor(ABC):
    """A log of marks, wherever it is kept. `name` is what people are told."""

    name: str

    @abstractmethod
    def _alone(self) -> AbstractContextManager[None]:
        """Held while lines are written: nobody else writes meanwhile."""

    @abstractmethod
    def _last_line(self) -> str | None:
        """The last whole line; None if there is no log."""

    @abstractmethod
    def _lines(self) -> list[str]:
        """Every whole line."""

    @abstractmethod
    def _append(self, lines: Sequence[str]) -> None:
        """Add lines, durably."""

    @abstractmethod
    def _replace(self, lines: Sequence[str]) -> None:
        """Write the log anew: a crash leaves the old one or the new one, never half of either."""

    def last(self) -> Mark | None:
        """What was last seen; None if nothing ever was; `LedgerError` if that cannot be told."""
        with self._readable():
            line = self._last_line()
            return None if line is None else Mark.from_text(line)

    def history(self) -> list[Mark]:
        """Everything that was seen, oldest first."""
        with self._readable():
            return [Mark.from_text(line) for line in self._lines()]

    def follow(self, look: Callable[[Mark | None], list[Mark]], known: Callable[[], list[Mark]] = list) -> None:
        """See to it that the log reaches the end of the ledger.

        `look` gives the marks that follow the last one, and refuses a last one that the ledger does not have. It is
        called under the lock, so whoever comes first writes for all, and the others find nothing left to do; of two
        copies that went apart at the same moment only one is followed. A log that is new begins with what is `known`.
        """
        with self._alone():
            last = self.last()
            begun = [] if last is not None else known()
            marks = [*begun, *look(begun[-1] if begun else last)]
            lines = [mark.to_text() for mark in marks]
            if last is None:
                self._replace(lines)
            elif lines:
                self._append(lines)
                if last.head.sequence // _EVERY != marks[-1].head.sequence // _EVERY:
                    self._compact()

    def _compact(self) -> None:
        """Write the log in fewer lines: as before or as after, whenever it is stopped."""
        self._replace([mark.to_text() for mark in compacted(self.history())])

    def add(self, mark: Mark) -> None:
        """Put one mark at the end, whatever is there."""
        with self._alone():
            if self.last() is None:
                self._replace([mark.to_text()])
            else:
                self._append([mark.to_text()])

    def rewrite(self, reader: Reader) -> None:
        """Make it the log of this ledger: what it has in common with it stays, what else it file_lock goes."""
        with self._alone():
            try:
                known = self.history()
            except GuardError:
                known = []
            common = [mark for mark in known if agrees(mark, reader)]
            marks = [*common, *marks_after(reader, common[-1] if common else None)]
            self._replace([mark.to_text() for mark in marks])

    def entries(self) -> list[str]:
        """The lines of a log that holds words instead of marks."""
        with self._readable():
            return [line.strip() for line in self._lines()]

    def enter(self, word: str) -> None:
        """Add a word, unless it is there."""
        with self._alone():
            known = self.entries()
            if word not in known:
                self._replace([f"{entry}\n" for entry in (*known, word)])

    def _readable(self) -> AbstractContextManager[None]:
        return _Readable(self.name)


class _Readable(AbstractContextManager[None]):
    """What goes wrong in reading a log, as the one error that says so."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, OSError):
            raise LedgerError(f"The guard {self._name!r} of the ledger cannot be opened. Nothing was spent.") from None
        if kind is not None and issubclass(kind, (ValueError, KeyError, TypeError)):
            raise GuardError(
                f"The guard {self._name!r} of the ledger cannot be read. Restore it, or let the custodian look "
                "into it and acknowledge the ledger as it is: discreet ledger acknowledge."
            ) from None


def agrees(mark: Mark, reader: Reader) -> bool:
    """Whether the ledger has the record of this mark. Hashes are chained, so it has all before it as well."""
    if mark.head.sequence == 0:
        return True
    row = reader.row(mark.head.sequence)
    return row is not None and row.hash == mark.head.hash


class FileAnchor(Anchor):
    """The log in a file, for its owner alone. The file may lie on storage that several machines share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._lock_path = path.with_name(path.name + ".lock")

    def _alone(self) -> AbstractContextManager[None]:
        return file_lock(self._lock_path)

    def _last_line(self) -> str | None:
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                for length in (_LINE, _TAIL):
                    file.seek(max(0, size - length))
                    tail = file.read()
                    end = tail.rfind(b"\n")
                    begin = tail.rfind(b"\n", 0, max(0, end)) + 1
                    if end >= 0 and (begin or len(tail) == size):
                        return tail[begin:end].decode("ascii")
        except FileNotFoundError:
            return None
        return self._lines()[-1]  # a line longer than the tail

    def _lines(self) -> list[str]:
        try:
            return [line.decode("ascii") for line in _whole(self.path.read_bytes())]
        except FileNotFoundError:
            return []

    def _append(self, lines: Sequence[str]) -> None:
        with self.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _LINE))
            tail = file.read()
            if b"\n" not in tail:
                file.seek(max(0, size - _TAIL))
                tail = file.read()
            torn = len(tail) - (tail.rfind(b"\n") + 1)  # what a crash in mid-line left
            file.seek(size - torn)
            file.truncate()
            file.write("".join(lines).encode("ascii"))
            file.flush()
            os.fsync(file.fileno())

    def _replace(self, lines: Sequence[str]) -> None:
        draft = self.path.with_name(self.path.name + ".new")  # one writer at a time: see `_alone`
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _whole(data: bytes) -> Iterator[bytes]:
    """The lines that end. A file without any is none of ours."""
    end = data.rfind(b"\n") + 1
    if not end:
        raise ValueError("no whole line")
    yield from data[:end].splitlines()
