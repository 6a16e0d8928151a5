"""One bit or a number nearby, as a coin decides: smaller errors than either over all of epsilon."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, exact_or_none, named, settle, within
from discreet.core.mechanism import Bits
from discreet.local.draws import flips
from discreet.local.duchi import Duchi
from discreet.local.mean import Mean
from discreet.local.piecewise import Piecewise
from discreet.local.protocol import Report

__all__ = ["Hybrid"]


@frozen(field_transformer=named)
class Hybrid(Mean):
    """`Piecewise` with probability `share`, else `Duchi`; the report says which.

    Guarantee
        ln(ratio)-differential privacy of every report: the coin does not look at the number.
        Proof: docs/proofs/local.md.
    """

    kind: ClassVar[str] = "hybrid"
    share: Fraction = field(default=AUTO, converter=exact_or_none, validator=within(least=0, most=1), kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.share is AUTO:
            settle(self, share=self._best_share())

    def _best_share(self) -> Fraction:
        """Variances are quadratics in the point, and mix: the worst point is the middle or an end."""
        mix = [(self._near.point_variance(point), self._bit.point_variance(point)) for point in (0, self.steps)]

        def worst(share: Fraction) -> Fraction:
            return max(share * near + (1 - share) * bit for near, bit in mix)

        candidates = {Fraction(0), Fraction(1)}
        bends = (mix[0][0] - mix[0][1]) - (mix[1][0] - mix[1][1])
        if bends:
            crossing = (mix[1][1] - mix[0][1]) / bends
            candidates.add(Fraction(min(256, max(0, math.floor(crossing * 256))), 256))
            candidates.add(Fraction(min(256, max(0, math.ceil(crossing * 256))), 256))
        return min(sorted(candidates), key=worst)

    @property
    def _near(self) -> Piecewise:
        return _parts(self.epsilon, self.lower, self.upper, self.steps, self.ratio)[0]

    @property
    def _bit(self) -> Duchi:
        return _parts(self.epsilon, self.lower, self.upper, self.steps, self.ratio)[1]

    @property
    def reports(self) -> int:
        return self._near.reports + 2

    @property
    def scales(self) -> tuple[Fraction, ...]:
        return (*self._near.scales, *self._bit.scales)

    def scores(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        near = self._near
        bit = reports >= near.reports
        return np.column_stack(
            [np.where(bit, 0, reports - near.end), np.where(bit, 2 * (reports - near.reports) - 1, 0)]
        )

    def randomize(self, points: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        near = self._near
        numbers = near.randomize(points, bits)
        signs = self._bit.randomize(points, bits) + near.reports
        return np.where(flips(self.share, len(points), bits), numbers, signs)

    def point_law(self, point: int) -> dict[Report, Fraction]:
        near = self._near
        out: dict[Report, Fraction] = {report: chance * self.share for report, chance in near.point_law(point).items()}
        for report, chance in self._bit.point_law(point).items():
            out[int(report) + near.reports] = chance * (1 - self.share)
        return out

    def point_variance(self, point: int) -> Fraction:
        return self.share * self._near.point_variance(point) + (1 - self.share) * self._bit.point_variance(point)


@lru_cache(maxsize=64)
def _parts(epsilon: Fraction, lower: Fraction, upper: Fraction, steps: int, ratio: Fraction) -> tuple[Piecewise, Duchi]:
    """Both mechanisms, made once: every report is scored by one of them."""
    return (
        Piecewise(epsilon, lower, upper, steps=steps, ratio=ratio),
        Duchi(epsilon, lower, upper, steps=steps, ratio=ratio),
    )
