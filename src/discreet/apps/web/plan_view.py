"""A plan on a page: what it costs in every way of saying it, how far answers may be off, what it means as odds."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urlencode

from discreet.accounting.convert import pure
from discreet.accounting.words import readable
from discreet.apps.web.form import Form
from discreet.apps.web.odds import between, lifetime, meaning
from discreet.core.explanation import Accuracy
from discreet.core.release import number, percent
from discreet.curator.offer import Offer
from discreet.errors import DiscreetError, InputError, LossError, Phrase
from discreet.ledger.account import Standing
from discreet.ledger.budget import Charge
from discreet.ledger.quote import price_text
from discreet.show import Error

__all__ = [
    "Input",
    "PlanView",
    "affordable",
    "check_confirmation",
    "choose_allotment",
    "panel_values",
    "percent_of",
    "view_plan",
]


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
    notes: tuple[str, ...]
    digest: str
    ways: Mapping[str, str]
    mechanism: str
    explained: str


def view_plan(offer: Offer[Any], within: float | None = None) -> PlanView:
    """An offer in words and whiskers; `within` is the error that a price may be named by, if not that of all."""
    plan, quote, explained = offer.plan, offer.quote, offer.explained
    part, charge, after = quote.allotment, quote.charge, quote.after
    budget = offer.desk.ledger.account(plan.dataset).budget
    halves = [
        one.half_width for one in explained.errors if one.half_width is not None and math.isfinite(one.half_width)
    ]
    return PlanView(
        cost=quote.cost,
        allotment=part.name,
        amount=readable(charge.amount),
        left=quote.remaining,
        after=price_text(part, after, "down") if quote.fits else "",
        fits=quote.fits,
        now=(float(part.cap.amount), float(quote.left.amount), float(after.amount)),
        share=percent_of(charge, part.cap),
        errors=tuple(one for each in explained.errors for one in _whiskers(each, max(halves, default=None))),
        confidence=percent(explained.confidence),
        noise=plan.mechanism,
        rows=" ".join(explained.shape),
        odds=_odds(plan),
        lifetime=lifetime(budget, between(plan.unit)),
        notes=explained.notes,
        digest=plan.digest,
        ways=_ways(offer) | ({} if within is None else {"within": _plain(within)}),
        mechanism=plan.mechanism,
        explained=offer.explain(),
    )


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
            return [Error(name, f"within {off:,} ranks of the one asked for", off)]
        case "choice":
            behind = math.ceil(half or 0)
            return [Error(name, f"each at most {number(behind)} behind the best one left", behind)]
        case "shortfall":
            behind = math.ceil(half or 0)
            return [Error(name, f"at most {number(behind)}{unit} behind the best", behind)]
        case _ if half is not None:
            return [Error(name, f"\u00b1 {_up(half):,f}{unit}", half, widest)]
    known = [(rows, half) for rows, half in expected.by_rows if math.isfinite(half)]
    widest = max((half for _, half in known), default=None)
    return [
        Error(f"{name}, at {rows:,} rows in the group", f"about \u00b1 {_up(half):,f}{unit}", half, widest)
        for rows, half in known
    ]


def _ways(offer: Offer[Any]) -> dict[str, str]:
    """The same price, said in every way: so that setting one shows the others."""
    part, charge = offer.quote.allotment, offer.quote.charge
    said = {part.currency: readable(charge.amount), "share": readable(charge.amount / part.cap.amount, 4)}
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


class Input(Protocol):
    """What someone filled in: a question, or a job."""

    def fields(self) -> list[tuple[str, str]]:
        """Names and texts of the form, from which the same is read again."""

    def with_price(self, way: str, amount: str) -> Self:
        """The same at another price."""


Typed = TypeVar("Typed", bound=Input)


def panel_values(
    inputs: Input,
    plan: PlanView | None,
    chosen: Standing | None,
    identity: str = "",
    why: str = "",
    unconfirmed: str = "",
) -> dict[str, Any]:
    """What the panel beside a form needs: the plan, the fields to send, an id, and what could be had instead."""
    short = plan is not None and not plan.fits and chosen is not None and chosen.left.amount > 0
    return {
        "plan": plan,
        "fields": inputs.fields(),
        "identity": identity or uuid.uuid4().hex,
        "why": why,
        "unconfirmed": unconfirmed,
        "instead": urlencode(affordable(inputs, chosen).fields()) if short and chosen is not None else "",
    }


def affordable(inputs: Typed, chosen: Standing) -> Typed:
    """The same at the price of what is left."""
    return inputs.with_price(chosen.allotment.currency, readable(chosen.left.amount, direction="down"))


def choose_allotment(standing: list[Standing], name: str) -> Standing | None:
    """The allotment that pays: the one that is named, or the first."""
    named = [one for one in standing if one.allotment.name == name]
    return next(iter(named or standing), None)


def check_confirmation(form: Form, plan: PlanView) -> None:
    """Whether someone saw this plan and typed its price; `InputError` if not."""
    if form.text("digest") != plan.digest:
        hint = "Look at the price again, then confirm."
        raise InputError("plan", Phrase("another one"), "the one that was shown", hint)
    typed = form.text("confirm")
    if typed.strip() != plan.amount:
        raise InputError("confirmation", typed, f"the price as shown: {plan.amount}", "Nothing was spent.")
