"""The cost of feeding loads as the highest of some planes: a cost that can be measured under a budget.

The cost of an optimal power flow is convex in the loads, so planes that touch it stay below it, and the highest of
enough planes is close to it. The planes are made from noisy or public numbers. Then the private loads meet nothing but
their whole coefficients: how far one load can move the result is known exactly, and no solver is part of the proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.laplace import laplace
from discreet.power.grid import Reals
from discreet.power.repair import Repair, Steps

__all__ = ["PARTS", "Planes", "planes_near"]

PARTS = 10_000
"""A price is a whole number of this many parts of the highest price."""

_SCALES = tuple(0.3 + 0.1 * count for count in range(13))
_FRESH = 16  # planes at loads with noise drawn anew: the private loads are about as far from the noisy ones as these


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    """Planes over loads in whole steps, with whole slopes and heights; `money` is what one unit of height is worth.

    Guarantee: if one load moves by `shift` steps, `height` moves by at most `shift * steepest`, exactly.

    >>> planes = Planes(np.array([[2, 0], [3, -1]]), (0, 5), money=0.5)
    >>> planes.height(np.array([10, 4])), planes.steepest
    (31, 3)
    """

    slopes: NDArray[np.int64]
    heights: tuple[int, ...]
    money: float

    @property
    def steepest(self) -> int:
        """The largest slope of any plane, 1 at least."""
        # As Python's numbers: the least of 64 bits has no absolute value among them.
        return max(1, int(self.slopes.max(initial=0)), -int(self.slopes.min(initial=0)))

    def height(self, steps: Steps) -> int:
        """The highest plane at these loads."""
        drawn = [int(step) for step in steps]
        return max(
            int(base + sum(slope * step for slope, step in zip(row, drawn, strict=True)))
            for row, base in zip(self.slopes.tolist(), self.heights, strict=True)
        )


def planes_near(repair: Repair, noisy: Steps, scale: Fraction, price: float, bits: Bits) -> Planes:
    """Planes that touch the cost near noisy loads (of noise `scale`), none steeper than `price` for each MW.

    Where a grid is congested its prices have no bound; so the cost here is that of feeding loads with a penalty of
    `price` for each MW not fed, which is never more than the cost itself.
    """
    part = price / PARTS  # money for one MW
    money = part * repair.step
    slopes, heights = [], []
    for loads in _loads_near(repair, noisy, scale, bits):
        flow = repair.network.flow(loads, lost=price)
        if flow is None or not (math.isfinite(flow.cost) and np.isfinite(flow.prices).all()):
            continue
        slope = np.clip(np.rint(flow.prices / part), -PARTS, PARTS).astype(np.int64)
        slopes.append(slope)
        heights.append(round((flow.cost - float(slope @ loads) * part) / money))
    if not slopes:  # a solver that never succeeds leaves what is public
        slopes, heights = [np.zeros(repair.grid.loads, dtype=np.int64)], [round(repair.anchor_flow.cost / money)]
    return Planes(np.array(slopes), tuple(heights), money)


def _loads_near(repair: Repair, noisy: Steps, scale: Fraction, bits: Bits) -> Iterator[Reals]:
    """Loads where planes are put: the nearest feasible ones, more and less of them, all alike, and with fresh noise."""
    nearest = repair.closest(repair.megawatts(noisy))
    middle = nearest if nearest is not None else repair.megawatts(repair.anchor)
    even: Reals = np.full(len(middle), float(middle.mean()))
    tried: list[Reals] = [shape * share for share in _SCALES for shape in (middle, even)]
    tried += [repair.megawatts(noisy + laplace(scale, len(noisy), bits=bits)) for _ in range(_FRESH)]
    yield middle
    for loads in tried:
        found = repair.closest(loads)
        if found is not None:
            yield found
