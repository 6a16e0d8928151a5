"""What is known of a release: its charge, its measurement, and its answer, its failure, or neither yet.

A custodian's acknowledgement of a ledger from which records are missing ends whatever was open: the missing records may
be answers that were published. So a release that was charged before it and has no outcome is closed, and what was paid
before it covers no further step. Proof: docs/proofs/ledger.md, "What was open".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from discreet.core.version import DataVersion
from discreet.core.wire import Json
from discreet.errors import DiscreetError, InputError
from discreet.ledger.budget import Charge
from discreet.ledger.record import Record
from discreet.ledger.store import Reader, Row

__all__ = [
    "SEEN",
    "Charged",
    "Outcome",
    "acknowledges",
    "form_to",
    "known_in",
    "last_acknowledged",
    "open_releases",
    "outcome_in",
    "outcome_of",
]

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


@dataclass(frozen=True, slots=True)
class Charged:
    """A charge that is on the ledger."""

    release: str
    dataset: str
    allotment: str
    charge: Charge
    left: Charge
    already_paid: bool
    """Whether it was on the ledger before it was asked for this time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A charge and what came of it. `answer` is JSON text, `failure` a reason code.

    Neither, with a `measurement` (JSON text): it was drawn and is yet to be published. Without one: not run, or lost.
    """

    charged: Record
    answer: str | None
    failure: str | None
    notes: int
    noted: DataVersion | None = None
    """The version of the data that a later attempt read, if it was another one."""
    concluded: int = 0
    """The number of the record that holds the answer, or else the measurement; 0 if there is none."""
    measurement: str | None = None
    """What was drawn; None where nothing was, or where it was recorded by a version that recorded answers only."""
    kind: str = ""
    """The kind of job, and the version of the form its records are in; absent where an older version wrote them."""
    version: int = 0

    @property
    def request(self) -> str:
        """What was asked for and at which price, as text; empty where an older version wrote the charge."""
        found = self.charged.detail.get("request") if isinstance(self.charged.detail, dict) else None
        return found if isinstance(found, str) else ""

    @property
    def open(self) -> bool:
        """Whether it has neither an answer nor a failure."""
        return self.answer is None and self.failure is None

    @property
    def data(self) -> DataVersion | None:
        """The version of the data it was made from; None on records of the first version, which name none."""
        return self.noted or self.charged.data


def outcome_of(records: list[Record]) -> Outcome | None:
    """The outcome that the records about one release add up to; None if it was never charged."""
    kinds = {record.kind: record for record in reversed(records)}
    if "charge" not in kinds:
        return None
    measured, answer, failure = (kinds.get(name) for name in ("measurement", "answer", "failure"))
    drawn = measured.result if measured else None
    kind, version = _form(answer or measured)
    reason = failure.detail.get("reason") if failure and isinstance(failure.detail, dict) else None
    return Outcome(
        charged=kinds["charge"],
        answer=None if answer is None else drawn if answer.result is None else answer.result,
        failure=None if failure is None else str(reason),
        notes=sum(record.kind == "note" for record in records),
        noted=next((record.data for record in reversed(records) if record.kind == "note" and record.data), None),
        concluded=max((record.sequence for record in (measured, answer) if record is not None), default=0),
        measurement=drawn,
        kind=kind,
        version=version,
    )


def form_to(kind: str, version: int) -> Json:
    """What a measurement and an answer say of themselves, for their record."""
    return {"kind": kind, "version": version} if kind else None


def _form(record: Record | None) -> tuple[str, int]:
    found = record.detail if record is not None and isinstance(record.detail, dict) else {}
    kind, version = found.get("kind"), found.get("version")
    return (kind, version) if isinstance(kind, str) and isinstance(version, int) else ("", 0)


def known_in(reader: Reader, release: str) -> Outcome:
    """What the ledger says of a release; `InputError` if it was never charged."""
    outcome = outcome_in(reader, release)
    if outcome is None:
        raise InputError("release", release, "the id of a release that was paid for")
    return outcome


def outcome_in(reader: Reader, release: str) -> Outcome | None:
    """What the ledger says of a release; None if it was never charged.

    One without an outcome that was charged before records were lost has failed, unless its measurement is on record: of
    that nothing is drawn again. Acknowledging writes that down; 0.1 did not.
    """
    outcome = outcome_of(reader.of_release(release))
    if outcome is None or not outcome.open or outcome.measurement is not None:
        return outcome
    return replace(outcome, failure=SEEN) if last_acknowledged(reader) > outcome.charged.sequence else outcome
