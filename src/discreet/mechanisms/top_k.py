"""Choose the k best candidates, in order, in one release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named
from discreet.core.loss import BoundedRange, Loss, Repeated
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.mechanisms.exponential import shortfall
from discreet.mechanisms.inputs import read_confidence, read_count, read_epsilon, read_flag, read_outputs, read_scores
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps, pick, pick_many

__all__ = ["TopK"]


@frozen(field_transformer=named)
class TopK:
    """Select `k` different indices: the exponential mechanism, again and again among those left.

    `epsilon` is the pure price of all k together; each round runs at epsilon / k. (The same law as adding Gumbel noise
    to every score once and sorting.) `monotone` is as in `Exponential`.

    Guarantee
        The composition of k selections of epsilon/k-bounded range each; hence epsilon-differential privacy, and
        epsilon^2/(8k)-zCDP. Proof: docs/proofs/top-k.md.

    >>> TopK(k=2, epsilon=1).release([0, 10**7, 3, 10**6])
    [1, 3]
    """

    k: int = field(converter=read_outputs)
    epsilon: Fraction = field(converter=read_epsilon)
    sensitivity: int = field(default=1, converter=read_count)
    monotone: bool = field(default=False, converter=read_flag)

    @property
    def rate(self) -> Fraction:
        """By how much the log-probability grows with each point of score, in each round."""
        return self.epsilon / self.k / (self.sensitivity if self.monotone else 2 * self.sensitivity)

    def loss(self) -> Loss:
        """What the k selections cost together."""
        return Repeated(BoundedRange(self.epsilon / self.k), self.k)

    def release(self, scores: Integers, *, bits: Bits | None = None) -> list[int]:
        """The indices selected, the first choice first."""
        exact = read_scores(scores)
        if self.k > len(exact):
            raise InputError("k", self.k, f"at most the number of scores, {len(exact)}")
        source = bits if bits is not None else SystemBits()
        left = np.arange(len(exact))
        chosen: list[int] = []
        for _ in range(self.k):
            # Gaps anew in each round: they are measured from the best of those left.
            place = pick(Gaps(exact[left], self.rate), source)
            chosen.append(int(left[place]))
            left = np.delete(left, place)
        return chosen

    def release_many(self, scores: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """What so many releases select, each at the full loss, as rows: to try the mechanism out, and fast."""
        exact, count = read_scores(scores), read_count(runs, "runs")
        if self.k > len(exact):
            raise InputError("k", self.k, f"at most the number of scores, {len(exact)}")
        source = bits if bits is not None else SystemBits()
        chosen = np.empty((count, 0), dtype=np.int64)
        for _ in range(self.k):
            # Runs that chose the same so far choose among the same that are left.
            before, group = np.unique(chosen, axis=0, return_inverse=True) if chosen.size else (chosen[:1], None)
            place = np.empty(count, dtype=np.int64)
            for each, gone in enumerate(before):
                left = np.delete(np.arange(len(exact)), gone)
                at = np.arange(count) if group is None else np.flatnonzero(group.ravel() == each)
                place[at] = left[pick_many(Gaps(exact[left], self.rate), len(at), source)]
            chosen = np.column_stack([chosen, place])
        return chosen

    def error(self, confidence: float = 0.95, k: int = 2) -> Fraction:
        """How far each choice may be below the best then left, in every round, with probability `confidence`.

        `k` is the number of scores, as for every selection.
        """
        miss = (1 - read_confidence(confidence)) / self.k
        return shortfall(self.rate, miss, read_outputs(k))
