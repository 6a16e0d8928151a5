"""A few quantiles of a histogram by permute-and-flip: never worse than by the exponential mechanism, for an epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.loss import Loss, Pure, Repeated
from discreet.core.mechanism import Bits
from discreet.mechanisms.permute_and_flip import flip_shortfall
from discreet.mechanisms.quantile_choice import ByChoice
from discreet.noise.choice import Gaps, flip, flip_law, flip_many
from discreet.noise.uniform import uniform

__all__ = ["QuantileFlip"]


@frozen
class QuantileFlip(ByChoice):
    """Choose a bin for each quantile: flip a coin for each that shows heads less often the larger its rank error.

    Of the heads one is drawn, evenly. What is said of `QuantileExponential` about `rows`, `epsilon`, `confidence` and
    `guaranteed` holds here too.

    Guarantee
        k choices of epsilon/k each, k = 1 or 3 for each quantile; hence epsilon-differential privacy, when a unit is
        added or removed. Not bounded range: where zCDP is counted, `QuantileExponential` costs a quarter.
        Proof: docs/proofs/quantile-flip.md.

    >>> median = QuantileFlip(0.5, epsilon=1, bins=4).release([0, 10**6, 3 * 10**6, 0])
    >>> [answer.at for answer in median]
    [2]
    """

    usual: ClassVar[int] = 5

    def loss(self) -> Loss:
        """What all quantiles cost together."""
        return Repeated(Pure(self.epsilon / self.choices), self.choices)

    def select(self, gaps: Gaps, bits: Bits) -> int:
        """One of the heads."""
        heads = np.flatnonzero(flip(gaps, bits))
        return int(heads[uniform(len(heads), bits=bits)])

    def select_many(self, gaps: Gaps, count: int, bits: Bits) -> NDArray[np.int64]:
        """So many indices, each selected by itself."""
        return flip_many(gaps, count, bits)

    def law(self, gaps: Gaps) -> NDArray[np.float64]:
        """How likely each is selected."""
        return flip_law(gaps)

    def shortfall(self, rate: Fraction, miss: Fraction, k: int) -> Fraction:
        """How far below the best of `k` scores the one selected may be."""
        return flip_shortfall(rate, miss, k)
