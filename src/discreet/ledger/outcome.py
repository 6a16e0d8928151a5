"""What is known of a release: its charge, and its answer, its failure, or neither yet."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.core.version import DataVersion
from discreet.ledger.acknowledgement import SEEN, last_acknowledged
from discreet.ledger.budget import Charge
from discreet.ledger.record import Record
from discreet.ledger.store import Reader

__all__ = ["Charged", "Outcome", "outcome_in", "outcome_of"]


@dataclass(frozen=True, slots=True)
class Charged:
    """A charge that is on the books."""

    release: str
    dataset: str
    allotment: str
    charge: Charge
    left: Charge
    already_paid: bool
    """Whether it was on the books before it was asked for this time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A charge and what came of it. `answer` is JSON text, `failure` a reason code; neither: not run, or lost."""

    charged: Record
    answer: str | None
    failure: str | None
    notes: int
    noted: DataVersion | None = None
    """The version of the data that a later attempt read, if it was another one."""
    concluded: int = 0
    """The number of the record that holds the answer; 0 if there is none."""

    @property
    def data(self) -> DataVersion | None:
        """The version of the data it was made from; None on records of the first version, which name none."""
        return self.noted or self.charged.data


def outcome_of(records: list[Record]) -> Outcome | None:
    """The outcome that the records about one release add up to; None if it was never charged."""
    kinds = {record.kind: record for record in reversed(records)}
    if "charge" not in kinds:
        return None
    answer, failure = kinds.get("answer"), kinds.get("failure")
    reason = failure.detail.get("reason") if failure and isinstance(failure.detail, dict) else None
    return Outcome(
        charged=kinds["charge"],
        answer=answer.result if answer else None,
        failure=None if failure is None else str(reason),
        notes=sum(record.kind == "note" for record in records),
        noted=next((record.data for record in reversed(records) if record.kind == "note" and record.data), None),
        concluded=answer.sequence if answer else 0,
    )


def outcome_in(reader: Reader, release: str) -> Outcome | None:
    """What the books say of a release; None if it was never charged.

    One without an outcome that was charged before records were lost has failed. Acknowledging writes that down; 0.1 did
    not.
    """
    outcome = outcome_of(reader.of_release(release))
    if outcome is None or outcome.answer is not None or outcome.failure is not None:
        return outcome
    return replace(outcome, failure=SEEN) if last_acknowledged(reader) > outcome.charged.sequence else outcome
