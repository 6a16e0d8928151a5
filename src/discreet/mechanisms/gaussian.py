"""Integers with discrete Gaussian noise: less noise than Laplace when one unit touches many answers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named
from discreet.core.exact import Number, sqrt_up
from discreet.core.loss import ZCDP, GaussianNoise, Loss, Repeated
from discreet.core.mechanism import Bits, Integers
from discreet.core.sensitivity import Sensitivity
from discreet.mechanisms.inputs import read_confidence, read_epsilon, read_outputs, read_values
from discreet.noise.gaussian import gaussian
from discreet.noise.parameters import read_scale
from discreet.noise.spread import gaussian_half_width, gaussian_lead, gaussian_variance

__all__ = ["Gaussian"]


@frozen(field_transformer=named)
class Gaussian:
    """Add noise with P[x] proportional to e^(-x^2/(2 sigma^2)) to every integer.

    The noise for a given (epsilon, delta) is found by `discreet.accounting`, which knows the exact curve of this law;
    here only zero-concentrated privacy, which has a formula, is calibrated.

    Guarantee
        If a unit moves at most `outputs` of the integers, each by at most `each`, a release is rho-zCDP with
        rho = outputs * each^2 / (2 sigma^2). Proof: docs/proofs/gaussian.md.

    >>> noise = Gaussian.for_rho("1/200")
    >>> noise.sigma, noise.error(confidence=0.95)
    (Fraction(10, 1), 20)
    >>> noise.release([1200, 340, 0]).shape
    (3,)
    """

    sigma: Fraction = field(converter=read_scale)

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Sensitivity | int = 1) -> Gaussian:
        """The least noise that costs `rho` for all outputs together, sigma rounded up."""
        return cls(sqrt_up(Sensitivity.of(sensitivity).l2_squared / (2 * read_epsilon(rho, "rho"))))

    def loss(self, sensitivity: Sensitivity | int = 1) -> Loss:
        """What one release costs: the law of the noise, once for each output that a unit can move."""
        moved = Sensitivity.of(sensitivity)
        if moved.shared:
            return ZCDP(moved.l2_squared / (2 * self.sigma * self.sigma))
        one = GaussianNoise(self.sigma, moved.each)
        return one if moved.outputs == 1 else Repeated(one, moved.outputs)

    def release(self, values: Integers, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """The noisy values."""
        exact = read_values(values)
        return exact + gaussian(self.sigma, len(exact), bits=bits)

    @property
    def variance(self) -> float:
        """Of the noise on one output: sigma^2, less when sigma is small."""
        return gaussian_variance(self.sigma)

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """The half-width that `k` outputs stay within, all at once, with probability at least `confidence`."""
        return gaussian_half_width(self.sigma, float(read_confidence(confidence)), read_outputs(k))

    def lead(self, confidence: float = 0.95, k: int = 1) -> int:
        """How far the noise on one of `k` outputs falls behind the largest, at most, with this probability."""
        return gaussian_lead(self.sigma, float(read_confidence(confidence)), read_outputs(k))
