"""A plan on a page: what it costs in every way of saying it, how far answers may be off, what it means as odds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

from discreet.accounting.convert import pure
from discreet.accounting.words import readable
from discreet.apps.web.odds import lifetime, meaning
from discreet.core.release import number, percent
from discreet.errors import DiscreetError, InputError, LossError
from discreet.ledger.budget import Charge
from discreet.query.curator import Offer
from discreet.query.explain import price_text
from discreet.query.plan import Expectation
from discreet.query.quantile_plan import RankExpectation
from discreet.show import Error

__all__ = ["Priced", "confirmed", "percent_of", "priced"]


@dataclass(frozen=True, slots=True)
class Priced:
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


def priced(offer: Offer) -> Priced:
    """An offer in words and pictures."""
    plan = offer.plan
    part, charge = plan.allotment, plan.charge
    left = offer.curator.ledger.remaining(plan.dataset, part.name)
    fits = charge.within(left)
    after = charge.left_of(left)
    text = offer.explain()
    lines = text.splitlines()
    expected = plan.expected()
    return Priced(
        cost=price_text(part, charge),
        allotment=part.name,
        amount=readable(charge.amount),
        left=price_text(part, left, "down"),
        after=price_text(part, after, "down") if fits else "",
        fits=fits,
        now=(float(part.cap.amount), float(left.amount), float(after.amount) if fits else float(left.amount)),
        share=percent_of(charge, part.cap),
        errors=tuple(one for each in expected for one in _whiskers(each)),
        confidence=percent(plan.confidence),
        noise=plan.mechanism,
        rows=next((line for line in lines if line.startswith("Releases ")), ""),
        odds=_odds(offer),
        lifetime=lifetime(offer.curator.ledger.account(plan.dataset).budget, offer.curator.schema.unit.neighbours),
        notes=tuple(line.strip().removeprefix("Note: ") for line in lines if line.strip().startswith("Note: ")),
        digest=plan.digest,
        ways=_ways(offer),
        mechanism=plan.mechanism,
        explained=text,
    )


def percent_of(charge: Charge, cap: Charge) -> str:
    """A charge as a share of the whole allotment."""
    return f"{readable(100 * charge.amount / cap.amount, 3)}%" if cap.amount else ""


def _odds(offer: Offer) -> str:
    try:
        return meaning(offer.plan.cost, offer.curator.schema.unit.neighbours)
    except DiscreetError:
        return ""


def _whiskers(expected: Expectation | RankExpectation) -> list[Error]:
    name = expected.output
    if isinstance(expected, RankExpectation):
        off = math.ceil(expected.half_width)
        return [Error(name, f"within {off:,} ranks of the one asked for", off)]
    unit = f" {expected.unit}".rstrip()
    if expected.choice:
        behind = math.ceil(expected.half_width or 0)
        return [Error(name, f"each at most {number(behind)} behind the best one left", behind)]
    if expected.half_width is not None:
        return [Error(name, f"± {_up(expected.half_width):,f}{unit}", expected.half_width)]
    known = [(rows, half) for rows, half in expected.by_rows if math.isfinite(half)]
    widest = max((half for _, half in known), default=None)
    return [
        Error(f"{name}, at {rows:,} rows in the group", f"about ± {_up(half):,f}{unit}", half, widest)
        for rows, half in known
    ]


def _ways(offer: Offer) -> dict[str, str]:
    """The same price, said in every way: so that setting one shows the others."""
    plan = offer.plan
    part, charge = plan.allotment, plan.charge
    found = {part.currency: readable(charge.amount), "share": readable(charge.amount / part.cap.amount, 4)}
    if part.currency == "rho":
        with suppress(LossError):  # Gaussian noise has no pure epsilon
            found["epsilon"] = readable(pure(plan.cost).epsilon)
    halves = [one.half_width for one in plan.expected() if isinstance(one, Expectation) and not one.choice]
    if halves and all(half is not None for half in halves) and len(set(halves)) == 1 and halves[0]:
        found["within"] = _plain(halves[0])
    return found


def _plain(value: float) -> str:
    """A half-width in at most four digits, rounded up, without marks between thousands."""
    return f"{_up(value):f}"


def _up(value: float) -> Decimal:
    return Context(prec=4, rounding=ROUND_CEILING).create_decimal(repr(float(value))).normalize()


def confirmed(typed: str, amount: str) -> None:
    """Whether someone typed the price they were shown; `InputError` if not."""
    if typed.strip() != amount:
        raise InputError("confirmation", typed, f"the price as shown: {amount}", "Nothing was spent.")
