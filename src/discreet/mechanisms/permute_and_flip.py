"""Choose one of many candidates by score: never worse than the exponential mechanism, at the same epsilon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.exact import log_up, round_up
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits, Integers
from discreet.mechanisms.inputs import read_confidence, read_count, read_outputs, read_scores
from discreet.mechanisms.selection import Selection
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps, flip, flip_law, flip_many
from discreet.noise.uniform import uniform

__all__ = ["PermuteAndFlip"]


@frozen
class PermuteAndFlip(Selection):
    """Visit the candidates in random order; take one with probability e^(-rate * gap to the best), or go on.

    The same as flipping every coin at once and drawing evenly among the heads, which is how it is done here. The rate
    is epsilon / (2 * sensitivity), without the 2 for `monotone` scores (see `Exponential`).

    Guarantee
        epsilon-differential privacy. Not bounded range: composed many times, `Exponential` may cost less.
        Proof: docs/proofs/permute-and-flip.md.

    >>> PermuteAndFlip(epsilon=1).release([0, 3, 10**6])
    2
    """

    def loss(self) -> Loss:
        """What one selection costs."""
        return Pure(self.epsilon)

    def release(self, scores: Integers, *, bits: Bits | None = None) -> int:
        """The index selected."""
        source = bits if bits is not None else SystemBits()
        heads = np.flatnonzero(flip(Gaps(read_scores(scores), self.rate), source))
        return int(heads[uniform(len(heads), bits=source)])

    def release_many(self, scores: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """What so many releases select, each at the full loss: to try the mechanism out, far faster than one by one."""
        gaps = Gaps(read_scores(scores), self.rate)
        return flip_many(gaps, read_count(runs, "runs"), bits if bits is not None else SystemBits())

    def probabilities(self, scores: Integers) -> list[float]:
        """How likely each is selected, for scores that are known: to see what an epsilon does, before any data."""
        return [float(chance) for chance in flip_law(Gaps(read_scores(scores), self.rate))]

    def error(self, confidence: float = 0.95, k: int = 2) -> Fraction:
        """How far below the best of `k` scores the one selected may be, with probability at least `confidence`.

        The best is always among the heads, so a candidate at distance t has at most half its coin, e^(-rate t)/2.
        """
        return flip_shortfall(self.rate, 1 - read_confidence(confidence), read_outputs(k))


def flip_shortfall(rate: Fraction, miss: Fraction, k: int) -> Fraction:
    """A bound t with P[best - selected > t] <= miss for every list of k scores, rounded up."""
    odds = Fraction(k - 1, 2) / miss
    return round_up(log_up(odds) / rate) if odds > 1 else Fraction(0)
