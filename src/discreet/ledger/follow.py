"""The records of a ledger as they come, for a log elsewhere: charges, outcomes, budgets, caps, and who changed what.

No answer, no measurement and no question is among them: what was asked stays on the ledger, under its digest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.core.wire import Json
from discreet.ledger.chain import append
from discreet.ledger.guard import identity_of
from discreet.ledger.record import Record

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["event_of", "events_after", "follow", "identity_at", "record_changes"]

_ALL = "*"  # what stands for the dataset where a record is about a server
_FIELDS = ("sequence", "time", "kind", "dataset", "who", "why", "release", "allotment", "mechanism", "unit", "digest")
_TOLD = ("open", "close", "cap", "custody", "note")  # whose detail is about budgets and custody


def event_of(record: Record) -> dict[str, Json]:
    """A record as an event: plain values, its hash among them, without answers and questions."""
    values: dict[str, Json] = {name: value for name in _FIELDS if (value := getattr(record, name)) != ""}
    if record.kind == "charge":
        values |= {"amount": str(record.charge.amount), "delta": str(record.charge.delta)}
    if record.kind in _TOLD and record.detail is not None:
        values["detail"] = record.detail
    return {**values, "hash": record.hash}


def events_after(ledger: Ledger, after: int, limit: int | None = None) -> Iterator[dict[str, Json]]:
    """The events of all records with a number above `after`, in order."""
    return (event_of(record) for record in ledger.records(after=after, limit=limit))


def follow(
    ledger: Ledger,
    after: int,
    *,
    every: float = 1.0,
    once: bool = False,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[dict[str, Json]]:
    """Events from a position on, and then those that come: looked for every so many seconds, for ever unless `once`."""
    while True:
        for event in events_after(ledger, after):
            yield event
            after = int(str(event["sequence"]))
        if once:
            return
        wait(every)


def record_changes(ledger: Ledger, changes: Sequence[tuple[str, Mapping[str, Json]]]) -> None:
    """Put on record what people changed on a server, each with who did: all of it, or nothing."""
    with ledger._write() as writer:
        for who, change in changes:
            append(writer, kind="custody", dataset=_ALL, who=who, why=str(change.get("why", "")), detail=dict(change))


def identity_at(ledger: Ledger) -> str:
    """What tells this ledger from every other, wherever it is moved."""
    with ledger._store.read() as reader:
        return identity_of(reader) or ""
