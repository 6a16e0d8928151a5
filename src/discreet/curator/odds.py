"""What a price means as odds: what one person's data adds to what a release lets anyone believe about them."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.convert import approx, pure
from discreet.accounting.posterior import posterior
from discreet.accounting.tradeoff import advantage, detected
from discreet.accounting.words import percent, readable
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.core.unit import Metric, Neighbours, Protected
from discreet.errors import DiscreetError, LossError
from discreet.ledger.budget import Budget

__all__ = ["between", "guesses", "lifetime", "meaning"]

_HALF = Fraction(1, 2)
_RARE = Fraction(1, 10**6)  # the delta at which a budget in rho is said in epsilon
_WITHOUT = "Compared with the same release made without their data"
_REPLACED = "Compared with the same release made with another record in their place"
_FARTHER = "Values that are farther apart are easier to distinguish."
_OTHERS = "What the data of others tells about them is not hidden."


def between(unit: Protected) -> Neighbours | Metric:
    """What the two cases differ in that a release must not tell apart."""
    return unit if isinstance(unit, Metric) else unit.neighbours


def meaning(loss: Loss, neighbours: Neighbours | Metric = Neighbours.ADD_REMOVE) -> str:
    """What the data of one unit adds to what one release lets anyone learn about it, at even odds without.

    Guarantee: with pure epsilon, whatever comes out and whatever is known of the others, a belief that would be one
    half without this unit's data ends at or below the figure; else, someone at even odds whose guess would then be
    right half the time is right at most that often. Proofs: docs/proofs/posterior.md, docs/proofs/tradeoff.md.
    """
    if isinstance(neighbours, Metric):
        return f"{_told_apart(loss, neighbours, 'moves to at most')} {_FARTHER}"
    whole = neighbours is Neighbours.ADD_REMOVE
    try:
        epsilon = pure(loss).epsilon
    except LossError:
        return f"Someone {_guess(loss, whole, 'at most')} {_OTHERS}"
    single = posterior(_HALF, epsilon if whole else 2 * epsilon)
    change = f"moves to at most {_at_most(single.high)} (or down to {percent(single.low, 3, 'down')})"
    anything = "whatever comes out and whatever else they know"
    if whole:
        fact = _at_most(posterior(_HALF, 2 * epsilon).high)
        return (
            f"{_WITHOUT}, someone at 50:50 on whether one of those protected is in the table {change}; on any other "
            f"fact about them, to at most {fact}, {anything}. {_OTHERS}"
        )
    return f"{_REPLACED}, someone at 50:50 about a fact of one of those protected {change}, {anything}. {_OTHERS}"


def lifetime(budget: Budget, neighbours: Neighbours | Metric = Neighbours.ADD_REMOVE) -> str:
    """What the data of one unit adds to what everything ever released within a budget lets anyone learn about it."""
    if isinstance(neighbours, Metric):
        return _lifetime_of_values(budget, neighbours)
    whole = neighbours is Neighbours.ADD_REMOVE
    if budget.epsilon is not None and not budget.delta:
        words = f"epsilon = {readable(budget.epsilon)}"
        most = _at_most(posterior(_HALF, budget.epsilon).high)
        fact = _at_most(posterior(_HALF, 2 * budget.epsilon).high)
        belief = (
            f"{_WITHOUT}, someone at 50:50 on whether one of those protected is in the table ends at no more than "
            f"{most}, on any other fact about them at no more than {fact}."
            if whole
            else f"{_REPLACED}, someone at 50:50 about a fact of one of those protected ends at no more than {fact}."
        )
        return f"All answers together, ever, cost at most {words}. {belief}"
    try:
        if budget.epsilon is not None:
            words = f"epsilon = {readable(budget.epsilon)} with delta = {readable(budget.delta)}"
        else:
            words = f"rho = {readable(budget.rho or Fraction(0))}"
            claim = approx(ZCDP(budget.rho or Fraction(0), budget.delta), _RARE + budget.delta)
            words += f" (epsilon = {readable(claim.epsilon)} at delta = {readable(claim.delta)})"
        guess = _guess(_whole(budget), whole, "no more than")
    except DiscreetError:
        return ""
    return f"All answers together, ever, cost at most {words}: someone {guess}"


def guesses(
    loss: Loss, budget: Budget, neighbours: Neighbours | Metric = Neighbours.ADD_REMOVE
) -> tuple[tuple[str, str, str], ...]:
    """What may be guessed of one unit, and how often a guess at even odds is right: by one release, by all ever.

    The figures are those of `meaning` and `lifetime`, which say what they are compared with. Nothing where they
    cannot be said.
    """
    try:
        one, every = _advantages(loss), _advantages(_whole(budget))
    except DiscreetError:
        return ()
    if isinstance(neighbours, Metric):
        return ((f"Which of two values of {neighbours.value}, {neighbours.reach} apart", one[0], every[0]),)
    if neighbours is Neighbours.ADD_REMOVE:
        return (("Whether they are in the table", one[0], every[0]), ("Any other fact about them", one[1], every[1]))
    return (("A fact about them", one[1], every[1]),)


def _whole(budget: Budget) -> Loss:
    """All that a budget allows."""
    if budget.epsilon is None:
        claim = approx(ZCDP(budget.rho or Fraction(0), budget.delta), _RARE + budget.delta)
        return Approx(claim.epsilon, claim.delta)
    return Approx(budget.epsilon, budget.delta) if budget.delta else Pure(budget.epsilon)


def _advantages(loss: Loss) -> tuple[str, str]:
    """How often a guess at even odds is right: whether somebody is in the table, and about any other fact."""
    try:
        epsilon = pure(loss).epsilon
    except LossError:
        return _right(advantage(loss)), _at_most(detected(loss))
    once, twice = posterior(_HALF, epsilon).high, posterior(_HALF, 2 * epsilon).high
    return _at_most(once), _at_most(twice)


def _lifetime_of_values(budget: Budget, unit: Metric) -> str:
    """The same where any one value is hidden up to a distance."""
    loss: Loss
    if budget.epsilon is None:
        rho = budget.rho or Fraction(0)
        words, loss = f"rho = {readable(rho)}", ZCDP(rho, budget.delta)
    elif budget.delta:
        words = f"epsilon = {readable(budget.epsilon)} with delta = {readable(budget.delta)}"
        loss = Approx(budget.epsilon, budget.delta)
    else:
        words, loss = f"epsilon = {readable(budget.epsilon)}", Pure(budget.epsilon)
    try:
        return f"All answers together, ever, cost at most {words}. {_told_apart(loss, unit, 'ends at no more than')}"
    except DiscreetError:
        return ""


def _told_apart(loss: Loss, unit: Metric, end: str) -> str:
    """How well anyone can tell two values apart that are near: the ratio of their chances is e^epsilon at most."""
    near = f"between two values of {unit.value} that are at most {unit.reach} apart"
    try:
        found = posterior(_HALF, pure(loss).epsilon)
    except LossError:
        return f"Someone who must guess at 50:50 {near} is right at most {_right(advantage(loss))} of the time."
    most = _at_most(found.high)
    return f"Someone at 50:50 {near} {end} {most}, whatever comes out and whatever else they know."


def _guess(loss: Loss, whole: bool, bound: str) -> str:
    """How often a guess at even odds is right, that would be right half the time without the data."""
    fact = _at_most(detected(loss))
    half = "and would be right half the time had it been made"
    if whole:
        return (
            f"who must guess at 50:50 whether one of those protected is in the table, {half} without their data, is "
            f"right {bound} {_right(advantage(loss))} of the time; any other fact about them, {bound} {fact}."
        )
    return (
        f"who must guess at 50:50 about a fact of one of those protected, {half} with another record in their place, "
        f"is right {bound} {fact} of the time."
    )


def _right(advantage: Fraction) -> str:
    """How often the best guess is right, at even odds without the data."""
    return _at_most(min((1 + advantage) / 2, Fraction(1)))


def _at_most(probability: Fraction) -> str:
    """A bound as a percentage, never rounded down: three digits, and beyond 99% one digit of what is missing."""
    return percent(probability, 1 if 100 * probability >= 99 else 3, "up")
