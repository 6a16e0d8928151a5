"""What comes of a paid release, on record: what was drawn, its answer or failure, and remarks. The first one stays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.core.wire import Json
from discreet.errors import InputError
from discreet.ledger.chain import append
from discreet.ledger.outcome import Outcome, form_to, known_in, outcome_of
from discreet.ledger.record import Record
from discreet.ledger.store import Writer

__all__ = ["conclude", "keep_measurement", "outcomes_of", "remark"]


def keep_measurement(writer: Writer, release: str, result: str, who: str, kind: str, version: int) -> Outcome:
    """What was drawn for a release that has no outcome yet; none follows another."""
    known = known_in(writer, release)
    if known.open and known.measurement is None:
        told = {"who": who, "result": result, "detail": form_to(kind, version)}
        append(writer, kind="measurement", dataset=known.charged.dataset, release=release, **told)
    return known_in(writer, release)


def conclude(writer: Writer, release: str, **values: Any) -> Outcome:
    """An answer or a failure; an answer without a result is what was measured."""
    outcome = known_in(writer, release)
    if values.get("result", "") is None and outcome.measurement is None:
        raise InputError("result", None, "given: nothing was measured that could be the answer")
    if outcome.open:
        append(writer, dataset=outcome.charged.dataset, release=release, **values)
    return known_in(writer, release)


def remark(writer: Writer, release: str, who: str, why: str, detail: Json) -> Outcome:
    """A note about a paid release, whatever came of it."""
    dataset = known_in(writer, release).charged.dataset
    append(writer, kind="note", dataset=dataset, release=release, who=who, why=why, detail=detail)
    return known_in(writer, release)


def outcomes_of(records: Iterable[Record]) -> tuple[Outcome, ...]:
    """Every release that was charged, in order, with what came of it."""
    by_release: dict[str, list[Record]] = {}
    for record in records:
        if record.release:
            by_release.setdefault(record.release, []).append(record)
    return tuple(found for each in by_release.values() if (found := outcome_of(each)) is not None)
