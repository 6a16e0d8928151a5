"""Two looks at the groups of a level: a noisy total of each decides in which detail it is measured after that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.core.loss import Loss
from discreet.core.sensitivity import Sensitivity
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.spread import gaussian_above, laplace_above
from discreet.query.noisy_sums import Noise, NoisySums
from discreet.query.price import Price
from discreet.trees.quality import UNFIT

__all__ = ["FIRST", "LevelStages", "buy_level"]

Whole = NDArray[np.int64]

FIRST = Fraction(1, 10)
"""The share of the first look, unless another is asked for."""
_TOTAL = Fraction(1, 5)
"""The share of the total in what a group with detail gets after the first look."""


@dataclass(frozen=True, slots=True)
class LevelStages:
    """What is asked of the groups of one level: the first look, and after it a total alone, or a total and detail.

    Guarantee
        Whatever is chosen for each group, the first look and all that is measured after it cost at most `cost`: the
        choice is a function of noisy totals that are paid for, and a group that gets detail costs no more than what is
        charged for every group. Proof: docs/proofs/hierarchy.md.
    """

    level: int
    first: NoisySums
    alone: NoisySums
    total: NoisySums
    detail: NoisySums
    thresholds: tuple[int, ...]
    """From how many on, by the first look, a group gets each level of detail."""

    def chosen(self, first: Whole) -> Whole:
        """For every noisy total of the first look how far the detail goes: 0 for the total alone. Sees nothing else."""
        return np.searchsorted(np.array(self.thresholds), first, side="right").astype(np.int64)

    def cost(self, allotment: Allotment) -> Loss:
        """The first look, and the dearer of what may follow."""
        ways = [self.alone.loss, compose([self.total.loss, self.detail.loss])]
        return compose([self.first.loss, max(ways, key=lambda loss: allotment.price(loss).amount)])

    @property
    def measures(self) -> tuple[NoisySums, ...]:
        """Everything that may be measured."""
        return self.first, self.alone, self.total, self.detail

    def chances(self, size: int) -> list[float]:
        """The chance of each level of detail, the total alone first, for a group of a true size."""
        reached = [1.0, *(_at_least(self.first.noise, limit - size) for limit in self.thresholds), 0.0]
        return [here - beyond for here, beyond in pairwise(reached)]


def _at_least(noise: Noise, limit: int) -> float:
    match noise:
        case Laplace(scale):
            return sum(laplace_above(scale, limit - 1)) / 2
        case Gaussian(sigma):
            return sum(gaussian_above(sigma, limit - 1)) / 2


def buy_level(
    level: int,
    moved: Sensitivity,
    allotment: Allotment,
    price: Price,
    share: Fraction,
    first: Fraction,
    cells: Sequence[int],
    thresholds: Sequence[int] | None,
) -> LevelStages:
    """The noise that a share of the price buys for the groups of a level.

    Where no thresholds are given, a group gets the detail in which a cell of average size has a standard error of at
    most a third: beyond that a number is flagged as unfit for use. A group of nobody gets none, 19 times of 20.
    """

    def bought(part: Fraction) -> NoisySums:
        (noise,) = price.part(part).buys(allotment, [moved], [None])
        return NoisySums(part, noise, moved, merged=True)  # a claim on norms, which composes whatever was seen before

    rest = share * (1 - first)
    look, alone, total, detail = (bought(one) for one in (share * first, rest, rest * _TOTAL, rest * (1 - _TOTAL)))
    if thresholds is None:
        spread, stray = math.sqrt(detail.noise.variance), look.noise.error(0.9) + 1
        thresholds = [max(1, stray, math.ceil(many * spread / UNFIT)) for many in cells]
    return LevelStages(level, look, alone, total, detail, tuple(thresholds))
