"""Answers that were scrambled on purpose, one by one, and estimates made from them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, at_least, named, plain, settle
from discreet.core.exact import Number, log_up, round_up
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon_or_none,
    read_outputs,
    read_probability_inside,
    read_values,
)
from discreet.noise.bernoulli import Coin
from discreet.noise.bits import SystemBits
from discreet.noise.uniform import uniform

__all__ = ["RandomizedResponse"]

_SLACK = 1 + 1e-9  # above every float rounding in the bounds below


def _truth(value: Number | None) -> Fraction | None:
    return None if value is None else read_probability_inside(value, "truth")


@frozen(field_transformer=named)
class RandomizedResponse:
    """Report one's category truthfully with odds e^epsilon : categories - 1, any other evenly otherwise.

    Categories are numbered from 0. `truth` is the probability of a truthful report if it was given as a rational, as
    in a survey done with coins or dice; else it is e^epsilon / (e^epsilon + categories - 1).

    Guarantee
        epsilon-differential privacy of every single report, whoever collects them; neighbours have another answer.
        Proof: docs/proofs/randomized-response.md.

    >>> survey = RandomizedResponse.coin()      # two fair coins: the truth, or a random answer
    >>> survey.truth, float(survey.epsilon)     # ln 3
    (Fraction(3, 4), 1.09861228866811)
    """

    categories: int = field(default=2, converter=read_count, validator=at_least(2))
    epsilon: Fraction = field(default=AUTO, converter=read_epsilon_or_none)
    truth: Fraction | None = field(default=None, converter=_truth, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if (self.epsilon is AUTO) == (self.truth is None):
            raise InputError("epsilon", plain(self.epsilon), "given if truth is not, and left out if it is")
        if self.truth is not None:
            if self.truth * self.categories <= 1:
                raise InputError(
                    "truth", plain(self.truth), f"more than 1/{self.categories}, or the reports say nothing"
                )
            odds = self.truth * (self.categories - 1) / (1 - self.truth)
            settle(self, epsilon=round_up(log_up(odds)))

    @classmethod
    def coin(cls, q: Number = Fraction(1, 2), categories: int = 2) -> RandomizedResponse:
        """The survey with a coin: with probability `q` the truth, else any category at random.

        With two categories epsilon = ln((1+q)/(1-q)); with a fair coin, ln 3.
        """
        exact, count = read_probability_inside(q, "q"), read_count(categories, "categories", least=2)
        return cls(count, truth=exact + (1 - exact) / count)

    def loss(self) -> Loss:
        """What one unit's report costs."""
        return Pure(self.epsilon)

    def release(self, values: Integers, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """One scrambled report for each true category."""
        exact = read_values(values)
        if exact.size and (exact.min() < 0 or exact.max() >= self.categories):
            raise InputError("values", Phrase("a category out of range"), f"from 0 to {self.categories - 1}")
        source = bits if bits is not None else SystemBits()
        kept = self._coin.flips(len(exact), source)
        other = (exact + 1 + uniform(self.categories - 1, len(exact), bits=source)) % self.categories
        return np.where(kept, exact, other)

    @property
    def _coin(self) -> Coin:
        if self.truth is not None:
            return Coin((1 - self.truth) / self.truth)
        return Coin(Fraction(self.categories - 1), self.epsilon)

    @property
    def truthful(self) -> float:
        """The probability that a report is the truth."""
        if self.truth is not None:
            return float(self.truth)
        return 1 / (1 + (self.categories - 1) * math.exp(-float(self.epsilon)))

    def estimate(self, reports: Integers) -> NDArray[np.float64]:
        """How many units are in each category: unbiased, so it may be negative; the sum is right."""
        seen = read_values(reports, "reports")
        if seen.size and (seen.min() < 0 or seen.max() >= self.categories):
            raise InputError("reports", Phrase("a category out of range"), f"from 0 to {self.categories - 1}")
        counts = np.bincount(seen, minlength=self.categories)
        wrong, contrast = self._contrast()
        return np.asarray((counts - len(seen) * wrong) / contrast, dtype=np.float64)

    def variance(self, n: int) -> float:
        """Of one estimated count from `n` reports, at most, whatever the truth is."""
        wrong, contrast = self._contrast()
        return read_count(n, "n") * max(self.truthful * (1 - self.truthful), wrong * (1 - wrong)) / contrast**2

    def error(self, confidence: float = 0.95, k: int = 1, *, n: int) -> float:
        """The half-width that `k` estimated counts from `n` reports stay within, all at once (Hoeffding's bound)."""
        miss = float(1 - read_confidence(confidence)) / read_outputs(k)
        if miss == 0:
            raise InputError("confidence", confidence, "further below 1: floating point reads it as 1")
        return math.sqrt(read_count(n, "n") * math.log(2 / miss) / 2) / self._contrast()[1] * _SLACK

    def _contrast(self) -> tuple[float, float]:
        """The probability of each wrong category, and how much likelier the right one is."""
        if self.truth is not None:
            wrong = (1 - self.truth) / (self.categories - 1)
            return float(wrong), float(self.truth - wrong)
        odds = math.expm1(float(self.epsilon)) if self.epsilon < 700 else math.inf
        if math.isinf(odds):
            return 0.0, 1.0
        return 1 / (odds + self.categories), odds / (odds + self.categories)
