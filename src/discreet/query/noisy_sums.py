"""Sums of disjoint cells, asked with noise: how far one unit moves them, and what that costs.

Every release of this room counts cells once, in the engine, and asks for sums of them at several aggregations: levels
of regions, origins, windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["Noise", "NoisySums", "moved_sums"]

Noise = Laplace | Gaussian


@dataclass(frozen=True, slots=True)
class NoisySums:
    """One aggregation: its share of the price, its noise, how far one unit moves it.

    If `merged`, several cells of a unit may be in one sum. Then only the norms of its move are known: `moved` has the
    right ones, but says nothing about how many sums move.
    """

    share: Fraction
    noise: Noise
    moved: Sensitivity
    merged: bool

    @property
    def loss(self) -> Loss:
        """What it costs: the law of the noise, or, where moves have merged, a claim that rests on norms alone."""
        if not self.merged:
            return self.noise.loss(self.moved)
        match self.noise:
            case Laplace(scale):
                return Pure(self.moved.l1 / scale)
            case Gaussian(sigma):
                return ZCDP(self.moved.l2_squared / (2 * sigma * sigma))


def moved_sums(unit: Unit, cells: int, outputs: int, most: int = 1) -> tuple[Sensitivity, bool]:
    """How far one unit can move `outputs` sums of disjoint cells, and whether several of its cells may be in one sum.

    A unit adds at most r rows to each of at most k cells, R <= k r in all, each 0 to `most`; R stands for what they
    come to from here on. Added or removed, sums change by a vector
    v >= 0 whose entries add up to at most R: L1 <= R and L2 <= R. Replaced, they change by v - v': L1 <= 2 R, and
    L2^2 <= |v|^2 + |v'|^2 <= 2 R^2, as v and v' have no negative entries; a single sum changes by at most R.
    Proof: docs/proofs/hierarchy.md.
    """
    touched = min(unit.most_groups, cells)
    each = min(touched * unit.most_rows, unit.most_total)
    several = 1 if unit.neighbours is Neighbours.ADD_REMOVE else min(2, outputs)
    return Sensitivity(each=each * most, outputs=several), touched > 1
