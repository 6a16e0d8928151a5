"""The plan of a long job on a page: the same figures as for a question, before anything is spent."""

from __future__ import annotations

import math
from typing import Any

from discreet.accounting.words import readable
from discreet.apps.web.odds import lifetime, meaning
from discreet.apps.web.priced import Priced, percent_of
from discreet.apps.web.wish import Wish
from discreet.core.release import number, percent
from discreet.errors import DiscreetError
from discreet.hierarchy.offer import TreeOffer
from discreet.query.explain import price_text
from discreet.show import Error

__all__ = ["job_priced"]


def job_priced(wish: Wish, offer: Any) -> Priced:
    """An offer of a hierarchy or of synthetic rows in words and pictures. Nothing in it depends on the data."""
    plan = offer.plan
    part, charge = plan.allotment, plan.charge
    books = offer.curator.ledger
    left = books.remaining(plan.dataset, part.name)
    fits = charge.within(left)
    after = charge.left_of(left)
    text = offer.explain()
    lines = [line.strip() for line in text.splitlines()]
    return Priced(
        cost=price_text(part, charge),
        allotment=part.name,
        amount=readable(charge.amount),
        left=price_text(part, left, "down"),
        after=price_text(part, after, "down") if fits else "",
        fits=fits,
        now=(float(part.cap.amount), float(left.amount), float(after.amount) if fits else float(left.amount)),
        share=percent_of(charge, part.cap),
        errors=tuple(_levels(offer) if isinstance(offer, TreeOffer) else _scales(offer)),
        confidence=percent(plan.confidence),
        noise=plan.mechanism,
        rows=" ".join(line for line in lines if line.startswith(("Releases ", "Makes ", "Preserves"))),
        odds=_odds(offer),
        lifetime=lifetime(books.account(plan.dataset).budget, offer.curator.schema.unit.neighbours),
        notes=tuple(line.removeprefix("Note: ") for line in lines if line.startswith("Note: ")),
        digest=plan.digest,
        ways={
            part.currency: readable(charge.amount),
            "share": readable(charge.amount / part.cap.amount, 4),
            "within": _up(wish.error(offer)),
        },
        mechanism=plan.mechanism,
        explained=text,
    )


def _odds(offer: Any) -> str:
    try:
        return meaning(offer.plan.cost, offer.curator.schema.unit.neighbours)
    except DiscreetError:
        return ""


def _levels(offer: TreeOffer) -> list[Error]:
    """The error of one number of each level, and of its totals where regions have several numbers."""
    several = offer.plan.counted.cells > 1 and offer.plan.counted.sizes is None
    found = []
    for one in offer.expected:
        regions = "1 region" if one.regions == 1 else f"{one.regions:,} regions"
        if several:
            found.append((f"{one.level} ({regions}), one cell", one.cell))
            found.append((f"{one.level}, total of a region", one.total))
        else:
            found.append((f"{one.level} ({regions})", one.cell))
    widest = max(half for _, half in found)
    return [Error(label, f"\u00b1 {_shown(half)}", half, widest) for label, half in found]


def _scales(offer: Any) -> list[Error]:
    widest = max((scale.half_width for scale in offer.expected.values()), default=None)
    words = {"one-way": "a count of one column", "two-way": "a count of two columns together"}
    return [
        Error(f"{words[kind]}, for scale", f"\u00b1 {number(scale.half_width)}", scale.half_width, widest)
        for kind, scale in offer.expected.items()
    ]


def _shown(value: float) -> str:
    """A half-width as people read it, up.

    >>> _shown(14.3612), _shown(25310.2)
    ('14.37', '25,311')
    """
    return readable(value, 4) if value < 1000 else f"{math.ceil(value):,}"


def _up(value: float) -> str:
    """A half-width as it can be typed, up."""
    return readable(value, 4)
