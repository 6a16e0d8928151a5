"""What a price means as odds: how far a release can move what someone believes about one person."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.convert import approx, pure
from discreet.accounting.posterior import posterior
from discreet.accounting.tradeoff import advantage
from discreet.accounting.words import percent, readable
from discreet.core.loss import ZCDP, Approx, Loss
from discreet.core.unit import Neighbours
from discreet.errors import DiscreetError, LossError
from discreet.ledger.budget import Budget

__all__ = ["lifetime", "meaning"]

_HALF = Fraction(1, 2)


def meaning(loss: Loss, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> str:
    """What one release lets anyone learn about one unit, for someone at even odds before.

    Guarantee: with pure epsilon, whatever comes out, a belief of one half ends at or below the figure; else, someone
    who must guess at even odds is right at most that often. Where neighbours have one unit more or less, the first
    figure is about whether someone is in the table; two tables in which they differ in another fact are two such steps
    apart, and the second figure counts both. Proofs: docs/proofs/posterior.md, docs/proofs/tradeoff.md.
    """
    whole = neighbours is Neighbours.ADD_REMOVE
    try:
        epsilon = pure(loss).epsilon
    except LossError:
        best = advantage(loss)
        told = f"is right at most {_right(best)} of the time after seeing it"
        if whole:
            return (
                "Someone who must guess, at odds of 50:50, whether one of those protected is in the table "
                f"{told}; with any other fact about them, at most {_right(2 * best)} of the time."
            )
        return f"Someone who must guess a fact about one of those protected, at odds of 50:50, {told}."
    moved, anything = posterior(_HALF, epsilon), "whatever comes out and whatever else they know"
    told = f"moves to at most {percent(moved.high, 3, 'up')} (or down to {percent(moved.low, 3, 'down')})"
    if whole:
        fact = percent(posterior(_HALF, 2 * epsilon).high, 3, "up")
        return (
            f"Someone at 50:50 on whether one of those protected is in the table {told}; on any other fact about them, "
            f"to at most {fact}, {anything}."
        )
    return f"Someone at 50:50 about a fact of one of those protected {told}, {anything}."


def lifetime(budget: Budget, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> str:
    """What everything ever released within a budget lets anyone learn about one unit."""
    whole = neighbours is Neighbours.ADD_REMOVE
    if budget.epsilon is not None and not budget.delta:
        words = f"epsilon = {readable(budget.epsilon)}"
        most = percent(posterior(_HALF, budget.epsilon).high, 3, "up")
        fact = percent(posterior(_HALF, 2 * budget.epsilon).high, 3, "up")
        told = (
            f"someone at 50:50 on whether one of those protected is in the table ends at no more than {most}, on any "
            f"other fact about them at no more than {fact}."
            if whole
            else f"someone at 50:50 about a fact of one of those protected ends at no more than {most}."
        )
        return f"All answers together, ever, cost at most {words}: {told}"
    try:
        if budget.epsilon is not None:
            words = f"epsilon = {readable(budget.epsilon)} with delta = {readable(budget.delta)}"
            best = advantage(Approx(budget.epsilon, budget.delta))
        else:
            words = f"rho = {readable(budget.rho or Fraction(0))}"
            claim = approx(ZCDP(budget.rho or Fraction(0), budget.delta), Fraction(1, 10**6) + budget.delta)
            words += f" (epsilon = {readable(claim.epsilon)} at delta = {readable(claim.delta)})"
            best = advantage(claim)
    except DiscreetError:
        return ""
    told = (
        f"whether one of those protected is in the table is right no more than {_right(best)} of the time, any other "
        f"fact about them no more than {_right(2 * best)}."
        if whole
        else f"a fact of one of those protected is right no more than {_right(best)} of the time."
    )
    return f"All answers together, ever, cost at most {words}: someone who must guess at 50:50 {told}"


def _right(advantage: Fraction) -> str:
    """How often the best guess is right, at even odds; advantages of two steps add up, as distances do."""
    return percent(min((1 + advantage) / 2, Fraction(1)), 3, "up")
