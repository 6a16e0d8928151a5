"""A plan as text, as an offer shows it."""

from __future__ import annotations

from typing import Any

from discreet.ledger.budget import Charge
from discreet.ledger.quote import Quote


def explain(plan: Any, left: Charge | None = None) -> str:
    """What a person reads before they spend, with so much left: everything unless said."""
    price = Quote(plan.allotment, plan.charge, plan.allotment.cap if left is None else left)
    return "\n".join(plan.explained().lines(price.lines()))
