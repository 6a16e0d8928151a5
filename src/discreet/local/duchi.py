"""One bit about a number: likelier set the larger the number is."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.check import named
from discreet.core.mechanism import Bits
from discreet.local.draws import evenly
from discreet.local.mean import Mean
from discreet.local.protocol import Report

__all__ = ["Duchi"]


@frozen(field_transformer=named)
class Duchi(Mean):
    """Duchi, Jordan and Wainwright's mean: a coin whose odds run from 1 : ratio to ratio : 1 along the range.

    Best for small epsilon: one bit, and an error that does not depend on the numbers.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.

    >>> pay = Duchi(epsilon=1, lower=0, upper=200_000)
    >>> pay.privatize(54_321) in (0, 1)
    True
    """

    kind: ClassVar[str] = "duchi"

    @property
    def reports(self) -> int:
        return 2

    @property
    def scales(self) -> tuple[Fraction, ...]:
        return ((self.ratio + 1) / (self.ratio - 1),)

    def scores(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        return (2 * reports - 1)[:, None]

    def randomize(self, points: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        return plus(points, self.steps, self.ratio, bits).astype(np.int64)

    def point_law(self, point: int) -> dict[Report, Fraction]:
        chance = (1 + Fraction(point, self.steps) / self.scales[0]) / 2
        return {0: 1 - chance, 1: chance}

    def point_variance(self, point: int) -> Fraction:
        return self.scales[0] ** 2 - Fraction(point, self.steps) ** 2


def plus(points: NDArray[np.int64], steps: int, ratio: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """Heads with probability 1/2 + (point/steps) (ratio - 1)/(ratio + 1)/2, as a quotient of whole numbers."""
    top, bottom = ratio.numerator, ratio.denominator
    drawn = evenly(2 * steps * (top + bottom), len(points), bits).astype(np.int64)
    heads: NDArray[np.bool_] = drawn < steps * (top + bottom) + points * (top - bottom)
    return heads
