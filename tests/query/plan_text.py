"""A plan as text, as an offer shows it."""

from __future__ import annotations

from typing import Any

from discreet.ledger.budget import Charge
from discreet.ledger.quote import Quote


def explain(plan: Any, left: Charge | None = None) -> str:
    """What a person reads before they spend; with its price where something is left."""
    price = [] if left is None else Quote(plan.allotment, plan.charge, left).lines()
    return "\n".join(plan.explained().lines(price))
