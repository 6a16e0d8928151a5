"""Privacy as a limit on learning: what a person's data adds to what a release lets anyone believe about them.

The comparison is with the same release made without this person's data. Whatever else is known, and however people are
thought to be tied to each other, the odds that a person is in the data differ from those by a factor of at most
e^epsilon, and the odds of any other fact by e^(2 epsilon). What the others' data tells about a person is not bounded:
who believes that all of a group are in or none learns which from any good count. Proofs: docs/proofs/posterior.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.limits import read_points
from discreet.accounting.words import percent
from discreet.core.exact import Number, as_written, exp_written, round_down, round_up
from discreet.errors import InputError

__all__ = ["Posterior", "after", "posterior", "posterior_curve"]

_HUGE = 1000


@dataclass(frozen=True, slots=True)
class Posterior:
    """Where a belief that would be `prior` without a person's data is with it: between `low` and `high`."""

    prior: Fraction
    low: Fraction
    high: Fraction

    def sentence(self) -> str:
        """What it means, in one line."""
        return (
            f"Someone who would think it {percent(self.prior)} likely without this person's data will think it "
            f"at most {percent(self.high, direction='up')} likely with it."
        )


def posterior(prior: Number, epsilon: Number) -> Posterior:
    """The range of beliefs after a release of pure `epsilon`, rounded outward.

    `prior` is what would be believed of the same release made without this person's data. That is the belief held
    before the release, for someone who knows all the others or sees no tie between them and this person; and for the
    answer to a survey whose replies are scrambled one by one, the belief held before this person's reply was seen.

    Guarantee: with what anyone knew and whatever comes out, P[this person is in the data | release] lies in [low, high]
    where units are added or removed. For any other fact about them give twice the epsilon; so, too, where neighbours
    are replaced and the comparison is with any fixed record in this person's place.

    >>> posterior(prior=0.02, epsilon="1.0986123").sentence()
    "Someone who would think it 2% likely without this person's data will think it at most 5.8% likely with it."
    >>> posterior(prior=0.5, epsilon="ln3").high
    Fraction(3, 4)
    """
    belief, budget = _probability(prior, "prior"), as_written(epsilon, "epsilon")
    if budget < 0:
        raise InputError("epsilon", epsilon, "zero or more")
    if belief in (0, 1):
        return Posterior(belief, belief, belief)  # certainty is not moved by evidence
    if budget > _HUGE:
        return Posterior(belief, Fraction(0), Fraction(1))
    factor = exp_written(epsilon, "epsilon")
    high = belief * factor / (belief * factor + 1 - belief)
    low = belief / (belief + (1 - belief) * factor)
    return Posterior(belief, round_down(low), min(Fraction(1), round_up(high)))


def after(prior: Number, if_true: Number, if_false: Number) -> Fraction:
    """The belief after one answer, by Bayes' rule, exactly: the answer has probability `if_true` when the fact is so
    and `if_false` when it is not.

    The coin survey: half the people answer truthfully, half at random, so a "yes" has probability 0.75 or 0.25.

    >>> from discreet.accounting.words import percent
    >>> percent(after(prior=0.02, if_true=0.75, if_false=0.25))
    '5.8%'
    """
    belief = _probability(prior, "prior")
    yes, no = _probability(if_true, "if_true"), _probability(if_false, "if_false")
    seen = belief * yes + (1 - belief) * no
    if seen == 0:
        raise InputError("if_true", if_true, "the probability of an answer that can happen")
    return belief * yes / seen


def posterior_curve(
    epsilon: Number, points: int = 101
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Arrays (prior, low, high) ready to plot: every prior from 0 to 1 and where it can end up."""
    count = read_points(points)
    bounds = [posterior(Fraction(i, count - 1), epsilon) for i in range(count)]
    priors, lows, highs = ([float(getattr(bound, name)) for bound in bounds] for name in ("prior", "low", "high"))
    return np.array(priors), np.array(lows), np.array(highs)


def _probability(value: Number, field: str) -> Fraction:
    number = as_written(value, field)
    if not 0 <= number <= 1:
        raise InputError(field, value, "between 0 and 1")
    return number
