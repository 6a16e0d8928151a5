"""Choose one of many candidates by score, better ones exponentially more likely."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.exact import log_up, round_up
from discreet.core.loss import BoundedRange, Loss
from discreet.core.mechanism import Bits, Integers
from discreet.mechanisms.inputs import read_confidence, read_count, read_outputs, read_scores
from discreet.mechanisms.selection import Selection
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps, pick, pick_law, pick_many

__all__ = ["Exponential", "shortfall"]


@frozen
class Exponential(Selection):
    """Select an index with probability proportional to e^(epsilon * score / (2 * sensitivity)), exactly.

    A unit moves every score by at most `sensitivity`. Scores are `monotone` if the scores of a dataset and of any
    neighbour never cross: all of one are at least those of the other (counts under add/remove are). The 2 then goes.

    Guarantee
        epsilon-bounded range, hence epsilon-differential privacy. Proof: docs/proofs/exponential.md.

    >>> Exponential(epsilon=1).release([0, 3, 10**6])
    2
    """

    def loss(self) -> Loss:
        """What one selection costs."""
        return BoundedRange(self.epsilon)

    def release(self, scores: Integers, *, bits: Bits | None = None) -> int:
        """The index selected."""
        return pick(Gaps(read_scores(scores), self.rate), bits if bits is not None else SystemBits())

    def release_many(self, scores: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """What so many releases select, each at the full loss: to try the mechanism out, far faster than one by one."""
        gaps = Gaps(read_scores(scores), self.rate)
        return pick_many(gaps, read_count(runs, "runs"), bits if bits is not None else SystemBits())

    def probabilities(self, scores: Integers) -> list[float]:
        """How likely each is selected, for scores that are known: to see what an epsilon does, before any data.

        >>> [round(chance, 3) for chance in Exponential(epsilon=1, sensitivity=41).probabilities([21, 39, 0])]
        [0.331, 0.412, 0.256]
        """
        return [float(chance) for chance in pick_law(Gaps(read_scores(scores), self.rate))]

    def error(self, confidence: float = 0.95, k: int = 2) -> Fraction:
        """How far below the best of `k` scores the one selected may be, with probability at least `confidence`.

        The worst case exactly (rounded up): one best score and k - 1 that far below. It is always less than the
        textbook's (ln k + ln 1/(1 - confidence)) / rate.
        """
        return shortfall(self.rate, 1 - read_confidence(confidence), read_outputs(k))


def shortfall(rate: Fraction, miss: Fraction, k: int) -> Fraction:
    """A bound t with P[best - selected > t] <= miss for every list of k scores; the smallest, rounded up."""
    # m candidates at distance t or more have together at most the odds m e^(-rate t) : 1.
    odds = (k - 1) * (1 - miss) / miss
    return round_up(log_up(odds) / rate) if odds > 1 else Fraction(0)
