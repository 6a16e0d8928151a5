"""What is left of an allotment by the plain sum of its epsilons."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.loss import Loss
from discreet.ledger.budget import Allotment
from discreet.ledger.chain import epsilon_sums
from discreet.ledger.pure_sum import counts_both, epsilon_of
from discreet.ledger.store import Reader

__all__ = ["covers", "pure_left"]


def pure_left(reader: Reader, dataset: str, part: Allotment) -> Fraction | None:
    """The epsilon that pure charges may still take by their plain sum; None where that sum does not count."""
    if not counts_both(part):
        return None
    spent = epsilon_sums(reader).get((dataset, part.name), Fraction(0))
    return None if spent is None else max(Fraction(0), (part.epsilon or Fraction(0)) - spent)


def covers(left: Fraction | None, loss: Loss) -> bool:
    """Whether so much left of the plain sum covers a loss."""
    epsilon = epsilon_of(loss)
    return left is not None and epsilon is not None and epsilon <= left
