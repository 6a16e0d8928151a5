"""Budgets over time, as pictures: the same for a custodian and, without what others asked, for everyone else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from discreet.accounting.words import readable
from discreet.apps.server.service import Service
from discreet.errors import InputError
from discreet.ledger.account import Standing
from discreet.ledger.budget import Budget
from discreet.ledger.record import Record
from discreet.ledger.window import newest
from discreet.show import Markup, Moment, burndown

__all__ = ["WINDOW", "all_burns", "budget_of", "burns_of"]

_STEPS = 120
"""How many steps of a budget are drawn."""
WINDOW = 5_000
"""How many records pages look at, from the newest back: they take as long however long a ledger is."""


def all_burns(service: Service, only: str = "") -> list[Markup]:
    """A picture for each allotment of every dataset, or of one: what was left of it, over time."""
    drawn: list[Markup] = []
    for ledger in service.ledgers:
        for dataset in ledger.datasets():
            if only in ("", dataset):
                drawn += burns_of(newest(ledger, dataset, limit=WINDOW), ledger.standing(dataset), named=True)
    return drawn


def burns_of(
    records: Sequence[Record],
    standing: Sequence[Standing],
    *,
    named: bool = False,
    told: Callable[[Record], bool] = lambda _: True,
) -> list[Markup]:
    """A picture for each allotment of a dataset; `named` says of which, `told` of whom a reader may know."""
    drawn, now = [], time.time()
    for one in standing:
        moments = _thinned(list(_moments(records, one, told)))
        name = f"{one.dataset}, {one.allotment.name}" if named else one.allotment.name
        title = f"{name}: {one.allotment.currency} left"
        drawn += [burndown(title, moments, now).figure(title)] if moments else []
    return drawn


def budget_of(record: Record) -> Budget | None:
    """The budget that a record opened or changed; None where it cannot be read."""
    try:
        return Budget.from_json(record.detail["budget"])  # type: ignore[index, call-overload]
    except (InputError, TypeError, KeyError):  # `verify` says so
        return None


def _thinned(moments: Sequence[Moment]) -> list[Moment]:
    """At most so many steps as can be told apart: where there are more, several together, ending where they end."""
    size = -(-len(moments) // _STEPS)
    if size <= 1:
        return list(moments)
    parts = [moments[start : start + size] for start in range(1, len(moments), size)]
    return [moments[0], *(replace(part[-1], words=f"{len(part)} records") for part in parts)]


def _moments(records: Sequence[Record], standing: Standing, told: Callable[[Record], bool]) -> Iterator[Moment]:
    """What an allotment had left after each record that changed it."""
    name, spent, cap = standing.allotment.name, Fraction(0), Fraction(0)
    if len(records) >= WINDOW:  # what was before is known by what has been spent in all
        own = [one for one in records if one.kind == "charge" and one.allotment == name]
        spent = standing.spent.amount - sum((one.charge.amount for one in own), Fraction(0))
        changed = any(one.kind == "open" for one in records)
        cap = Fraction(0) if changed else standing.allotment.cap.amount  # or it begins where the budget is stated
        if cap:
            yield Moment(
                _seconds(records[0]), float(max(cap - spent, Fraction(0))), float(cap), "what was left by then"
            )
    for record in records:
        who = record.who if told(record) else "someone"
        match record.kind:
            case "open":
                budget = budget_of(record)
                caps = {} if budget is None else {part.name: part.cap.amount for part in budget.allotments}
                if name not in caps:
                    continue
                words = f"{who}: {readable(caps[name], direction='down')} in all"
                cap = caps[name]
            case "charge" if record.allotment == name:
                spent += record.charge.amount
                why = f": {record.why}" if record.why and told(record) else ""
                words = f"{who}{why}; {readable(record.charge.amount)} spent"
            case "close":
                words, spent = f"{who}: closed", cap
            case _:
                continue
        if cap:
            yield Moment(_seconds(record), float(max(cap - spent, Fraction(0))), float(cap), words)


def _seconds(record: Record) -> float:
    return datetime.fromisoformat(record.time).replace(tzinfo=UTC).timestamp()
