"""Where an allotment stands, as the API says it."""

from __future__ import annotations

from typing import Any

from discreet.ledger.account import Standing

__all__ = ["standing_to"]


def standing_to(one: Standing) -> dict[str, Any]:
    """Where an allotment stands, exact and readable."""
    part = one.allotment
    return {
        "allotment": part.name,
        "kind": part.kind,
        "currency": part.currency,
        "cap": float(part.cap.amount),
        "spent": float(one.spent.amount),
        "left": float(one.left.amount),
        "exact": {
            "cap": str(part.cap.amount),
            "spent": str(one.spent.amount),
            "left": str(one.left.amount),
            "delta_spent": str(one.spent.delta),
        },
        "delta": {"cap": float(part.cap.delta), "spent": float(one.spent.delta), "left": float(one.left.delta)},
        "declared": part.to_json(),
    }
