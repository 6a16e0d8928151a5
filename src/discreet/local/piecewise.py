"""A number near one's own, usually: the piecewise mechanism, on whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, settle, whole_or_none
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.local.draws import evenly, flips
from discreet.local.mean import Mean
from discreet.local.protocol import Report

__all__ = ["Piecewise"]


@frozen(field_transformer=named)
class Piecewise(Mean):
    """Report a whole number: one within `reach` of one's lattice point is `ratio` times as likely as one further away.

    Numbers run from -(steps + reach) to steps + reach. Better than `Duchi` for large epsilon. `reach` is chosen for the
    smallest worst-case variance.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.
    """

    kind: ClassVar[str] = "piecewise"
    reach: int = field(default=AUTO, converter=whole_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.reach is AUTO:
            settle(self, reach=_best_reach(self.ratio, self.steps))
        if not 0 <= self.reach <= 2 * self.steps:
            raise InputError("reach", self.reach, f"a whole number from 0 to {2 * self.steps}")

    @property
    def end(self) -> int:
        """The largest number a report stands for."""
        return self.steps + self.reach

    @property
    def reports(self) -> int:
        return 2 * self.end + 1

    @property
    def _near(self) -> int:
        return 2 * self.reach + 1

    @property
    def _weight(self) -> Fraction:
        """The probability of a number out of reach."""
        return 1 / (self._near * self.ratio + self.reports - self._near)

    @property
    def scales(self) -> tuple[Fraction, ...]:
        return (1 / (self._weight * (self.ratio - 1) * self._near * self.steps),)

    def scores(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        return (reports - self.end)[:, None]

    def randomize(self, points: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        n, first = len(points), points + self.steps  # the lowest report within reach
        near = flips(self._near * self.ratio * self._weight, n, bits)
        inside = evenly(self._near, n, bits).astype(np.int64) + first
        outside = evenly(self.reports - self._near, n, bits).astype(np.int64)
        outside += np.where(outside >= first, self._near, 0)
        return np.where(near, inside, outside)

    def point_law(self, point: int) -> dict[Report, Fraction]:
        near = range(point - self.reach, point + self.reach + 1)
        return {
            report: self._weight * (self.ratio if report - self.end in near else 1) for report in range(self.reports)
        }

    def point_variance(self, point: int) -> Fraction:
        return _variance(self.ratio, self.steps, self.reach, point)


def _variance(ratio: Fraction, steps: int, reach: int, point: int) -> Fraction:
    near, end = 2 * reach + 1, steps + reach
    total = near * ratio + 2 * end + 1 - near
    scale = total / ((ratio - 1) * near * steps)
    everywhere = Fraction(end * (end + 1) * (2 * end + 1), 3)
    inside = near * point * point + Fraction(reach * (reach + 1) * near, 3)
    return scale**2 * (everywhere + (ratio - 1) * inside) / total - Fraction(point, steps) ** 2


@lru_cache(maxsize=64)
def _best_reach(ratio: Fraction, steps: int) -> int:
    """The reach with the least variance of the worst point, near the best one for real numbers."""

    def worst(reach: int) -> Fraction:
        return max(_variance(ratio, steps, reach, 0), _variance(ratio, steps, reach, steps))

    guess = steps / math.sqrt(float(ratio))
    tried = {min(2 * steps, max(0, round(guess * 2 ** (place / 16)))) for place in range(-24, 25)}
    return min(sorted(tried), key=worst)
