"""The seam of `discreet.audit.seam`, for the laws of neighbours: two runs within the cost, or a broken law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.audit.seam import BrokenLawError, Step, Tape, captured, noise_loss, spent
from discreet.core.loss import Composed, Loss

__all__ = ["BrokenLawError", "Step", "Tape", "captured", "noise_loss", "spent", "within"]


def within(allotment: Any, cost: Loss, first: Sequence[Step], second: Sequence[Step]) -> None:
    """Refuse two runs of neighbours that are further apart than the cost."""
    seen = allotment.price(Composed([spent(*pair) for pair in zip(first, second, strict=True)]))
    charged = allotment.price(cost)
    if not seen.within(charged):
        raise BrokenLawError(f"charged {float(charged.amount):.6g}, and told apart by {float(seen.amount):.6g}")
