"""Dinur and Nissim's attack: secret bits from many counts that are each nearly right."""

from __future__ import annotations

from discreet.apps.demo.lecture import Beside, Lecture
from discreet.risk import reconstruct
from discreet.risk.reconstruction import picture

__all__ = ["show"]

_ERRORS = (0.1, 0.25, 0.5, 1.0, 4.0)  # times the root of the number of people
_EPSILON = 1.0


def show() -> Lecture:
    """Rebuild the bits of 300 people from sloppy counts, and from the same counts under a budget."""
    guesses = reconstruct(300, errors=_ERRORS, epsilon=_EPSILON)
    best, private = guesses[0], guesses[-1]
    numbers = (
        Beside(f"bits from {best.questions:,} counts off by {best.error:.1f}", "near 100%", f"{best.right:.1%}"),
        Beside(f"the same counts under epsilon = {_EPSILON:g} for all", "about 50%", f"{private.right:.1%}"),
    )
    words = "Each count was nearly right; together they tell everybody's secret. A budget is for all of them together."
    return Lecture("Database reconstruction", numbers, words, picture(guesses, _EPSILON), "course/anonymising.md")
