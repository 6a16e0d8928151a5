"""Choose the candidate whose score, with noise, is the largest."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_outputs,
    read_scores,
    read_values,
)
from discreet.mechanisms.selection import Selection
from discreet.noise.laplace import laplace
from discreet.noise.parameters import read_scale

__all__ = ["NoisyMax"]

_SLACK = 1 + 1e-9  # the tail below is a dozen float operations, each within 2**-52


@frozen
class NoisyMax(Selection):
    """Add discrete Laplace noise to every score and report where the largest is: the index only, never the value.

    The scale is 2 * sensitivity / epsilon, without the 2 for `monotone` scores (see `Exponential`). Integer noise can
    tie; the lowest index wins, a rule that does not look at the data.

    Guarantee
        epsilon-differential privacy, ties included. Proof: docs/proofs/noisy-max.md.

    >>> NoisyMax(epsilon=1).release([0, 3, 10**6])
    2
    """

    def __attrs_post_init__(self) -> None:
        read_scale(self.scale, "scale")

    @property
    def scale(self) -> Fraction:
        """Of the noise on each score."""
        return 1 / self.rate

    def loss(self) -> Loss:
        """What one selection costs."""
        return Pure(self.epsilon)

    def release(self, scores: Integers, *, bits: Bits | None = None) -> int:
        """The index selected."""
        return int(self.release_many(scores, 1, bits=bits)[0])

    def release_many(self, scores: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """What so many releases select, each at the full loss: to try the mechanism out, far faster than one by one."""
        exact, count = read_values(read_scores(scores), "scores"), read_count(runs, "runs")
        noise = laplace(self.scale, count * len(exact), bits=bits).reshape(count, len(exact))
        return np.asarray(np.argmax(exact + noise, axis=1), dtype=np.int64)

    def error(self, confidence: float = 0.95, k: int = 2) -> Fraction:
        """How far below the best of `k` scores the one selected may be, with probability at least `confidence`.

        One at distance t is selected only if its noise exceeds that of the best by t; summed over the k - 1 others.
        """
        miss, others = float(1 - read_confidence(confidence)), read_outputs(k) - 1
        if miss == 0:
            raise InputError("confidence", confidence, "further below 1: floating point reads it as 1")
        below, above = -1, 0
        while others * self._lead(above + 1) > miss:
            below, above = above, 2 * above + 1
        while above - below > 1:
            middle = (above + below) // 2
            below, above = (middle, above) if others * self._lead(middle + 1) > miss else (below, middle)
        return Fraction(above)

    def _lead(self, t: int) -> float:
        """A bound from above on P[X - Y >= t], t >= 1, for two independent draws of the noise.

        P[X - Y = n] = p^2 r^n (n + (1+r^2)/(1-r^2)) with r = e^(-1/scale), p = (1-r)/(1+r); summed from t on.
        """
        rate = 1 / float(self.scale)
        r, rest = math.exp(-rate), -math.expm1(-rate)
        inside = t + (1 + r * r) / (rest * (1 + r)) + r / rest
        return math.exp(-rate * t) * rest / (1 + r) ** 2 * inside * _SLACK
