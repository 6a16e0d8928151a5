"""A plan on a page or in a notebook: its price in every way of saying it, errors to expect, what it means as odds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from discreet.accounting.calibrate import epsilon_for_rho
from discreet.accounting.convert import pure
from discreet.accounting.words import readable
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.release import number, percent
from discreet.curator.odds import between, guesses, lifetime, meaning
from discreet.curator.offer import Offer
from discreet.curator.repeat import Repeat
from discreet.errors import DiscreetError, LossError
from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.quote import Quote, price_text
from discreet.show import Error, Markup, Table
from discreet.show import errors as draw_errors

__all__ = ["PlanView", "expected", "odds_table", "percent_of", "view_plan"]

_SIZED = "The error of a mean is about so much if its group has at least so many rows."
_COMPARED = 20  # an error that is so many times smaller than the widest would be a dot on its axis


@dataclass(frozen=True, slots=True)
class PlanView:
    """What a person should know before they spend. Nothing in it depends on the data."""

    cost: str
    allotment: str
    amount: str
    """The price as it must be typed to confirm it."""
    left: str
    after: str
    fits: bool
    now: tuple[float, float, float]
    """Cap, left and left after, for the bar."""
    share: str
    errors: tuple[Error, ...]
    confidence: str
    noise: str
    rows: str
    odds: str
    lifetime: str
    guesses: tuple[tuple[str, str, str], ...]
    """What may be guessed of one unit, and how often a guess is right: by this release, by all ever."""
    notes: tuple[str, ...]
    digest: str
    ways: Mapping[str, str]
    mechanism: str
    explained: str
    paid: str
    """The price as people compare it: epsilon, also where rho is counted."""
    answered: Repeat | None
    """A stored answer to the same question at the same price."""


def view_plan(offer: Offer[Any], within: float | None = None) -> PlanView:
    """An offer in words and whiskers; `within` is the error that a price may be named by, if not that of all."""
    plan, quote, explained = offer.plan, offer.quote, offer.explained
    part, charge, after = quote.allotment, quote.charge, quote.after
    budget = offer.desk.ledger.account(plan.dataset).budget
    stated = [*explained.errors, *_errors_of_parts(explained)]
    halves = [one.half_width for one in stated if one.half_width is not None and math.isfinite(one.half_width)]
    return PlanView(
        cost=quote.cost,
        allotment=part.name,
        amount=readable(charge.amount) if part.currency == "epsilon" else percent_of(charge, part.cap),
        left=_left(part, quote.left),
        after=_left(part, after) if quote.fits else "",
        fits=quote.fits,
        now=(float(part.cap.amount), float(quote.left.amount), float(after.amount)),
        share=percent_of(charge, part.cap),
        errors=tuple(one for each in stated for one in _whiskers(each, max(halves, default=None))),
        confidence=percent(explained.confidence),
        noise=plan.mechanism,
        rows=" ".join([*explained.shape, *([_SIZED] if any(one.by_rows for one in explained.errors) else [])]),
        odds=_odds(plan),
        lifetime=lifetime(budget, between(plan.unit)),
        guesses=guesses(plan.cost, budget, between(plan.unit)),
        notes=explained.notes,
        digest=plan.digest,
        ways=_ways(offer) | ({} if within is None else {"within": _plain(within)}),
        mechanism=plan.mechanism,
        explained=offer.explain(),
        paid=_paid(quote),
        answered=offer.answered,
    )


def _left(part: Allotment, charge: Charge) -> str:
    """What is left, in the words of the allotment; where rho is counted, as a percentage."""
    if part.currency == "epsilon" or not part.cap.amount:
        return price_text(part, charge, "down")
    return f"{readable(100 * charge.amount / part.cap.amount, 3, 'down')}%"


def _paid(quote: Quote) -> str:
    """The price in epsilon; where rho is counted, that of a pure release which costs as much."""
    if quote.allotment.currency == "epsilon" or not quote.charge.amount:
        return quote.cost
    return f"as much as epsilon = {readable(epsilon_for_rho(quote.charge.amount), 3, 'near')}"


def _errors_of_parts(explained: Explanation) -> list[Accuracy]:
    """What is priced together, each output under the name of its part."""
    named = [(name, each) for name, part in explained.parts for each in (*part.errors, *_errors_of_parts(part))]
    return [replace(each, output=f"{name}: {each.output}") for name, each in named]


def percent_of(charge: Charge, cap: Charge) -> str:
    """A charge as a share of the whole allotment."""
    return f"{readable(100 * charge.amount / cap.amount, 3)}%" if cap.amount else ""


def _odds(plan: Any) -> str:
    try:
        return meaning(plan.cost, between(plan.unit))
    except DiscreetError:
        return ""


def _whiskers(expected: Accuracy, widest: float | None) -> list[Error]:
    name, half, unit = expected.output, expected.half_width, f" {expected.unit}".rstrip()
    match expected.of:
        case "rank":
            off = math.ceil(half or 0)
            return [Error(name, f"\u00b1 {off:,} ranks", off)]
        case "choice":
            behind = math.ceil(half or 0)
            return [Error(name, f"each at most {number(behind)} behind the best one left", behind, below=True)]
        case "shortfall":
            behind = math.ceil(half or 0)
            return [Error(name, f"at most {number(behind)}{unit} behind the best", behind, below=True)]
        case _ if half is not None:
            shared = widest if widest is not None and half * _COMPARED >= widest else None
            return [Error(name, f"\u00b1 {_up(half):,f}{unit}", half, shared)]
    known = [(rows, half) for rows, half in expected.by_rows if math.isfinite(half)]
    widest = max((half for _, half in known), default=None)
    return [
        Error(f"{name}, at least {rows:,} rows", f"about \u00b1 {_up(half):,f}{unit}", half, widest)
        for rows, half in known
    ]


def _ways(offer: Offer[Any]) -> dict[str, str]:
    """The same price, said in every way: so that setting one shows the others."""
    part, charge = offer.quote.allotment, offer.quote.charge
    said = {part.currency: readable(charge.amount), "share": readable(charge.amount / part.cap.amount, 4)}
    said["percent"] = readable(100 * charge.amount / part.cap.amount, 4)
    if part.currency == "rho":
        with suppress(LossError):  # Gaussian noise has no pure epsilon
            said["epsilon"] = readable(pure(offer.plan.cost).epsilon)
    halves = [one.half_width for one in offer.expected if one.of == "value"]
    if halves and all(half is not None for half in halves) and len(set(halves)) == 1 and halves[0]:
        said["within"] = _plain(halves[0])
    return said


def _plain(value: float) -> str:
    """A half-width in at most four digits, rounded up, without marks between thousands."""
    return f"{_up(value):f}"


def _up(value: float) -> Decimal:
    return Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(float(value))).normalize()


def odds_table(plan: PlanView) -> Table | str:
    """How often a guess about one unit is right, at most: without its data, with this release, with all ever."""
    if not plan.guesses:
        return ""
    even = "Without their data" if len(plan.guesses) > 1 else "At even odds"
    head = ("A guess about one of those protected", even, "With this answer", "With all, ever")
    rows = [(about, "50%", f"\u2264\u00a0{one}", f"\u2264\u00a0{every}") for about, one, every in plan.guesses]
    return Table.of(head, rows, "How often a guess at even odds is right")


def expected(data: Sequence[Error], confidence: str) -> Markup | str:
    """The errors of a plan, before anything is spent."""
    if not data:
        return ""
    title = f"Errors to expect, with {confidence} confidence"
    return draw_errors(title, data, format=number, middle="whatever the answer is").figure(table=False)
