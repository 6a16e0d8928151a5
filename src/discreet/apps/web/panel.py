"""What the panel beside a form needs: a plan, the fields to send again, and the confirmation that spends."""

from __future__ import annotations

import uuid
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urlencode

from discreet.accounting.words import readable
from discreet.apps.web.form import Form
from discreet.curator.plan_view import PlanView
from discreet.errors import InputError, Phrase
from discreet.ledger.account import Standing

__all__ = ["Input", "affordable", "check_confirmation", "choose_allotment", "panel_values"]

_SMALL = Fraction(1, 10)


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


def affordable(inputs: Typed, chosen: Standing, share: Fraction = _SMALL) -> Typed:
    """The same at a price that leaves most of what is left: a tenth of it, unless said otherwise."""
    return inputs.with_price(chosen.allotment.currency, readable(share * chosen.left.amount, 2, "down"))


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
    if typed.replace(" ", "").removesuffix("%") != plan.amount.removesuffix("%"):
        raise InputError("confirmation", typed, f"the price as shown: {plan.amount}", "Nothing was spent.")
