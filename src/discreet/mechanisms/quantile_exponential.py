"""A few quantiles of a histogram by the exponential mechanism: no noise on the counts, only on the choice."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core.loss import BoundedRange, Loss, Repeated
from discreet.core.mechanism import Bits
from discreet.mechanisms.exponential import shortfall
from discreet.mechanisms.quantile_choice import ByChoice
from discreet.noise.choice import Gaps, pick, pick_law, pick_many

__all__ = ["QuantileExponential"]


@frozen
class QuantileExponential(ByChoice):
    """Choose a bin for each quantile, with probability falling exponentially with its rank error, exactly.

    A unit has at most `rows` rows in the histogram. `epsilon` is the price of all quantiles together. With a
    `confidence`, each quantile takes three choices instead of one: the second and third look below and above the bin
    chosen, for a segment as far from the rank as a choice usually misses, so that what they find encloses the
    quantile about as often as stated (measured, not proved). If `guaranteed`, as far as a choice may miss in the worst
    case: it holds at least as often, whatever the histogram. Neighbouring quantiles may come out in any order.

    Guarantee
        k choices of epsilon/k-bounded range each, k = 1 or 3 for each quantile; hence epsilon-differential privacy
        and epsilon^2/(8k)-zCDP, when a unit is added or removed. Proof: docs/proofs/quantile-exponential.md.

    >>> median = QuantileExponential(0.5, epsilon=1, bins=4).release([0, 10**6, 3 * 10**6, 0])
    >>> [answer.at for answer in median]
    [2]
    """

    usual: ClassVar[int] = 4

    def loss(self) -> Loss:
        """What all quantiles cost together."""
        return Repeated(BoundedRange(self.epsilon / self.choices), self.choices)

    def select(self, gaps: Gaps, bits: Bits) -> int:
        """One index, with probability proportional to e^(rate * score)."""
        return pick(gaps, bits)

    def select_many(self, gaps: Gaps, count: int, bits: Bits) -> NDArray[np.int64]:
        """So many indices, each selected by itself."""
        return pick_many(gaps, count, bits)

    def law(self, gaps: Gaps) -> NDArray[np.float64]:
        """How likely each is selected."""
        return pick_law(gaps)

    def shortfall(self, rate: Fraction, miss: Fraction, k: int) -> Fraction:
        """How far below the best of `k` scores the one selected may be."""
        return shortfall(rate, miss, k)
