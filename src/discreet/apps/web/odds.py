"""What a price means as odds: how far a release can move what someone believes about one person."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.convert import approx, pure
from discreet.accounting.posterior import posterior
from discreet.accounting.tradeoff import advantage
from discreet.accounting.words import percent, readable
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.errors import DiscreetError, LossError
from discreet.ledger.budget import Budget

__all__ = ["lifetime", "meaning"]

_HALF = Fraction(1, 2)


def meaning(loss: Loss) -> str:
    """What one release lets anyone learn about one unit, for someone at even odds before.

    Guarantee: with pure epsilon, whatever comes out, a belief of one half ends at or below the figure; else, someone
    who must guess at even odds is right at most that often. Proofs: docs/proofs/posterior.md, docs/proofs/tradeoff.md.
    """
    try:
        moved = posterior(_HALF, pure(loss).epsilon)
    except LossError:
        right = (1 + advantage(loss)) / 2
        return (
            "Someone who must guess a fact about one of those protected, at odds of 50:50, "
            f"is right at most {percent(min(right, Fraction(1)), 3, 'up')} of the time after seeing it."
        )
    return (
        "Someone at 50:50 about a fact of one of those protected moves to at most "
        f"{percent(moved.high, 3, 'up')} (or down to {percent(moved.low, 3, 'down')}), whatever comes out and whatever "
        "else they know."
    )


def lifetime(budget: Budget) -> str:
    """What everything ever released within a budget lets anyone learn about one unit."""
    if budget.epsilon is not None and not budget.delta:
        words, loss = f"epsilon = {readable(budget.epsilon)}", Pure(budget.epsilon)
        moved = posterior(_HALF, loss.epsilon)
        return (
            f"All answers together, ever, cost at most {words}: someone at 50:50 about one of those protected ends at "
            f"no more than {percent(moved.high, 3, 'up')}."
        )
    try:
        if budget.epsilon is not None:
            words = f"epsilon = {readable(budget.epsilon)} with delta = {readable(budget.delta)}"
            right = (1 + advantage(Approx(budget.epsilon, budget.delta))) / 2
        else:
            words = f"rho = {readable(budget.rho or Fraction(0))}"
            claim = approx(ZCDP(budget.rho or Fraction(0), budget.delta), Fraction(1, 10**6) + budget.delta)
            words += f" (epsilon = {readable(claim.epsilon)} at delta = {readable(claim.delta)})"
            right = (1 + advantage(claim)) / 2
    except DiscreetError:
        return ""
    return (
        f"All answers together, ever, cost at most {words}: someone who must guess at 50:50 is right no more than "
        f"{percent(min(right, Fraction(1)), 3, 'up')} of the time."
    )
