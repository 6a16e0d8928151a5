"""Dinur and Nissim's attack: secret bits from many counts that are each nearly right."""

from __future__ import annotations

from discreet.apps.demo.lecture import Beside, Lecture
from discreet.risk.reconstruction import ERRORS, reconstruct

__all__ = ["show"]

_EPSILON = 1.0


def show() -> Lecture:
    """Rebuild the bits of 300 people from sloppy counts, and from the same counts under a budget."""
    found = reconstruct(300, errors=ERRORS, epsilon=_EPSILON)
    best, private = found.sloppy[0], found.private or found.sloppy[-1]
    numbers = (
        Beside(f"bits from {found.questions:,} counts off by {best.error:.1f}", "near 100%", f"{best.right:.1%}"),
        Beside(f"the same counts under epsilon = {_EPSILON:g} for all", "about 50%", f"{private.right:.1%}"),
    )
    return Lecture("Database reconstruction", numbers, found.conclusion(), found.picture(), "course/anonymising.md")
