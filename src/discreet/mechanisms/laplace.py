"""Integers with discrete Laplace noise: the workhorse of pure differential privacy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named
from discreet.core.exact import Number
from discreet.core.loss import LaplaceNoise, Loss, Pure, Repeated
from discreet.core.mechanism import Bits, Integers
from discreet.core.sensitivity import Sensitivity
from discreet.mechanisms.inputs import read_confidence, read_epsilon, read_outputs, read_values
from discreet.noise.laplace import laplace
from discreet.noise.parameters import read_scale
from discreet.noise.spread import laplace_half_width, laplace_lead, laplace_variance

__all__ = ["Laplace"]


@frozen(field_transformer=named)
class Laplace:
    """Add noise with P[x] proportional to e^(-|x|/scale) to every integer (also known as the geometric mechanism).

    Guarantee
        If a unit moves at most `outputs` of the integers, each by at most `each`, a release is epsilon-differentially
        private with epsilon = outputs * each / scale, exactly; with a `total`, epsilon = L1 / scale.
        Proof: docs/proofs/laplace.md.

    >>> noise = Laplace.for_epsilon(0.1)
    >>> noise.scale, noise.error(confidence=0.95)
    (Fraction(10, 1), 30)
    >>> noise.release([1200, 340, 0]).shape
    (3,)
    """

    scale: Fraction = field(converter=read_scale)

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity | int = 1) -> Laplace:
        """The least noise that costs `epsilon` for all outputs together: scale = L1 sensitivity / epsilon."""
        return cls(Sensitivity.of(sensitivity).l1 / read_epsilon(epsilon))

    def loss(self, sensitivity: Sensitivity | int = 1) -> Loss:
        """What one release costs: the law of the noise, once for each output that a unit can move."""
        moved = Sensitivity.of(sensitivity)
        if moved.shared:  # the worst of many ways to share the total is known in its norm alone
            return Pure(moved.l1 / self.scale)
        one = LaplaceNoise(self.scale, moved.each)
        return one if moved.outputs == 1 else Repeated(one, moved.outputs)

    def release(self, values: Integers, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """The noisy values."""
        exact = read_values(values)
        return exact + laplace(self.scale, len(exact), bits=bits)

    @property
    def variance(self) -> float:
        """Of the noise on one output: a little below 2 scale^2."""
        return laplace_variance(self.scale)

    def expected_l1(self, k: int = 1) -> float:
        """The expected sum of the absolute errors of `k` outputs: k / sinh(1/scale), a little below k * scale."""
        rate = 1 / float(self.scale)
        return read_outputs(k) / math.sinh(rate) if rate < 700 else 0.0

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """The half-width that `k` outputs stay within, all at once, with probability at least `confidence`."""
        return laplace_half_width(self.scale, float(read_confidence(confidence)), read_outputs(k))

    def lead(self, confidence: float = 0.95, k: int = 1) -> int:
        """How far the noise on one of `k` outputs falls behind the largest, at most, with this probability."""
        return laplace_lead(self.scale, float(read_confidence(confidence)), read_outputs(k))
