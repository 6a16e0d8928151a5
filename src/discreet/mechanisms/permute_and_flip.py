"""Choose one of many candidates by score: never worse than the exponential mechanism, at the same epsilon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core.exact import log_up, round_up
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits, Integers
from discreet.mechanisms.inputs import read_confidence, read_outputs, read_scores
from discreet.mechanisms.selection import Selection
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps, flip
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

    def probabilities(self, scores: Integers) -> list[float]:
        """How likely each is selected, for scores that are known: to see what an epsilon does, before any data.

        A candidate with heads is drawn with 1/(1 + M), M the heads of others, whose mean is the integral of E[t^M].
        """
        heads = np.exp(-Gaps(read_scores(scores), self.rate).exponents)
        nodes, weights = np.polynomial.legendre.leggauss(len(heads) // 2 + 1)  # exact: a polynomial of degree k - 1
        others = 1 - heads + heads * ((nodes + 1) / 2)[:, None]
        rest = [np.delete(others, place, axis=1).prod(axis=1) for place in range(len(heads))]
        return [float(heads[place] * (weights / 2) @ each) for place, each in enumerate(rest)]

    def error(self, confidence: float = 0.95, k: int = 2) -> Fraction:
        """How far below the best of `k` scores the one selected may be, with probability at least `confidence`.

        The best is always among the heads, so a candidate at distance t has at most half its coin, e^(-rate t)/2.
        """
        return flip_shortfall(self.rate, 1 - read_confidence(confidence), read_outputs(k))


def flip_shortfall(rate: Fraction, miss: Fraction, k: int) -> Fraction:
    """A bound t with P[best - selected > t] <= miss for every list of k scores, rounded up."""
    odds = Fraction(k - 1, 2) / miss
    return round_up(log_up(odds) / rate) if odds > 1 else Fraction(0)
