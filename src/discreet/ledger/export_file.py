"""An exported ledger, read again: to be verified and added up where the ledger itself is not at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.core.wire import canonical
from discreet.errors import DiscreetError, InputError, LedgerError, Phrase
from discreet.ledger.budget import Charge
from discreet.ledger.record import GENESIS, Head, Kind, Record
from discreet.ledger.snapshot import Snapshot
from discreet.ledger.store import Binding, Entry, Epsilons, Row
from discreet.ledger.verification import verify

__all__ = ["ExportedLedger", "is_export", "read_export"]

_HINT = "Write one with: discreet ledger export --format json > ledger.json."
_FORMAT = 1


class _Rows:
    """Records in memory, as a store has them."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._totals: dict[tuple[str, str], Charge] = {}
        for record in (row.record() for row in rows if row.kind == "charge"):
            key = (record.dataset, record.allotment)
            self._totals[key] = self._totals.get(key, Charge(Fraction(0))) + record.charge

    def format(self) -> int:
        return 1

    def epsilons(self) -> Epsilons:
        return {}

    def repeated(self, after: int = 0) -> list[tuple[int, str]]:
        first: dict[str, int] = {}
        charges = [(row.sequence, row.release) for row in self._rows if row.kind == "charge"]
        return [(each, name) for each, name in charges if first.setdefault(name, each) != each and each > after]

    def head(self) -> Head:
        return Head(self._rows[-1].sequence, self._rows[-1].hash) if self._rows else GENESIS

    def last(self) -> Record:
        return self._rows[-1].record()

    def binding(self) -> Binding:
        return self._rows[-1].binding()

    def row(self, sequence: int) -> Row | None:
        return self._rows[sequence - 1] if 0 < sequence <= len(self._rows) else None

    def rows(self, dataset: str | None = None, *, after: int = 0, limit: int | None = None) -> Iterator[Row]:
        later = islice(self._rows, after, None)
        return islice((row for row in later if dataset is None or row.dataset == dataset), limit)

    def newest(self, dataset: str | None, limit: int, before: int | None = None) -> list[Row]:
        found = [row for row in self.rows(dataset) if before is None or row.sequence < before]
        return found[-limit:]

    def of_release(self, release: str) -> list[Record]:
        return [row.record() for row in self._rows if row.release == release]

    def charged_for(self, dataset: str, digest: str) -> list[str]:
        charges = (row.record() for row in self._rows if (row.dataset, row.kind) == (dataset, "charge"))
        return [record.release for record in charges if record.digest == digest]

    def latest(self, dataset: str, kind: Kind) -> Record | None:
        fitting = (row for row in reversed(self._rows) if (row.dataset, row.kind) == (dataset, kind))
        row = next(fitting, None)
        return None if row is None else row.record()

    def accounts(self) -> list[Entry]:
        return [Entry(*row[:3], row.hash) for row in self._rows if row.kind in ("open", "close")]

    def total(self, dataset: str, allotment: str) -> Charge:
        return self._totals.get((dataset, allotment), Charge(Fraction(0)))

    def totals(self) -> dict[tuple[str, str], Charge]:
        return dict(self._totals)


class ExportedLedger(Snapshot):
    """The records of a ledger as they were when it was exported: whole, and verified from the first to the last.

    What was charged later is not in it, and records taken off its end are not noticed: nothing tells where a chain
    should have ended but the ledger that it is of.
    """

    def __init__(self, rows: list[Row]) -> None:
        super().__init__(_Rows(rows))


def is_export(path: str | Path) -> bool:
    """Whether there is a file here that begins as a JSON export does, and no ledger."""
    try:
        with Path(path).open("rb") as file:
            return file.read(64).lstrip().startswith(b"{")
    except (OSError, ValueError):
        return False


def read_export(path: str | Path) -> ExportedLedger:
    """A ledger exported as JSON, whole. `LedgerError` where a record was changed, is missing or breaks a rule."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError("ledger", str(path), "a ledger exported as JSON", _HINT) from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT or not isinstance(found.get("records"), list):
        raise InputError("ledger", str(path), "a ledger exported as JSON", _HINT)
    rows = [_row(value, place) for place, value in enumerate(found["records"], 1)]
    if not rows or rows[0].sequence != 1:
        given = Phrase("an export without the first record")
        raise InputError("ledger", given, "exported whole: of one dataset alone it cannot be verified", _HINT)
    return _verified(rows)


def _row(value: Any, place: int) -> Row:
    try:
        body = canonical({name: part for name, part in value.items() if name != "hash"}, "record")
        return Row(value["sequence"], value["dataset"], value["kind"], value["release"], body, str(value["hash"]))
    except (DiscreetError, TypeError, KeyError, AttributeError):
        raise LedgerError(f"Record {place} of the exported ledger cannot be read.") from None


def _verified(rows: list[Row]) -> ExportedLedger:
    """Of a chain that holds: the same checks as of a ledger, but for its guard, which is not exported."""
    exported = ExportedLedger(rows)
    if problems := verify(exported.reader, None).problems:
        raise LedgerError(f"The exported ledger does not hold: {problems[0]}. Export it again from the ledger.")
    return exported
