"""A price named by the accuracy it buys: for every kind of job whose plan states its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Protocol, TypeVar

from discreet.accounting.words import readable
from discreet.core.explanation import Explanation
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment, Charge
from discreet.query.price import Price, plan_at

__all__ = ["amount_within", "plan_within"]


class _Stated(Protocol):
    @property
    def charge(self) -> Charge: ...

    def explained(self) -> Explanation: ...


P = TypeVar("P", bound=_Stated)
_DEAREST = 1_000_000
_TRIES = 60


def plan_within(price: Price, allotment: Allotment, planned: Callable[[Price], P], *, currency: str | None = None) -> P:
    """The plan that `planned` makes at a price, which may be an accuracy: then every error it states is at most that.

    The price is the least one, in three digits. `currency` is what it is counted in, that of the allotment unless said.
    """
    if price.way != "within":
        return plan_at(price, allotment, planned)
    way = allotment.currency if currency is None else currency

    def at(amount: Fraction) -> P:
        return plan_at(replace(price, way=way, amount=amount), allotment, planned)

    return at(amount_within(lambda amount: _error(at(amount)), float(price.amount), allotment))


def _error(plan: _Stated) -> float:
    """The largest error that a plan states."""
    halves = [one.half_width for one in plan.explained().errors if one.half_width is not None]
    if not halves:
        raise InputError(
            "within",
            Phrase("an accuracy"),
            "left out: nobody knows the error of this beforehand",
            "Give epsilon, rho or share.",
        )
    return max(halves)


def amount_within(error: Callable[[Fraction], float], within: float, part: Allotment) -> Fraction:
    """The least price, in three digits, whose error is at most `within`.

    `error` falls as the price rises. Too small a price for any noise is an error without end.
    """
    if not 0 < within < float("inf"):
        raise InputError("within", within, "more than zero")
    tried = part.cap.amount / 10
    error(tried)  # what is wrong with the question shows here
    low, high = Fraction(0), Fraction(0)
    for _ in range(_TRIES):
        tried = Fraction(readable(tried, 3))
        if tried > _DEAREST:
            break
        try:
            off = error(tried)
        except InputError:
            off = float("inf")
        if off <= within:
            high = tried
        else:
            low = tried
        if high and low:
            after = Fraction(readable(low * Fraction(10001, 10000), 3))  # the next price in three digits
            if after >= high:
                return high
            middle = Fraction(readable((float(low) * float(high)) ** 0.5, 3, "down"))
            tried = max(middle, after)
        else:
            ratio = min(max(off / within, 1e-3), 1e3)
            tried *= Fraction(ratio * (1.01 if low else 0.99)).limit_denominator(10**9)
    raise InputError("within", within, "an error that some price buys", "Nothing was spent.")
