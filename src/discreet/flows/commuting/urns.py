"""OnTheMap's way: for every destination an urn of its workers' origins and a prior, and as many draws from it.

The urn also holds a cell for nobody, so that it always holds as many workers as are said to go there: one worker more
or less is then one who moves between nobody and an origin. Proof: docs/proofs/commute.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.flows.commuting.acceptance import accepted, may_refuse
from discreet.flows.commuting.dirichlet import draw, subset
from discreet.flows.commuting.land import Land
from discreet.flows.commuting.prior import UNIT, Prior, missed, prior_for
from discreet.noise.replay import uniforms

__all__ = ["Urns", "deal"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Urns:
    """Draws for all destinations, private for one worker.

    Guarantee
        For data that differ in one worker, present or absent, at any destination and from any origin, the draws cost
        `epsilon` if the prior is pure or accepted, and (epsilon, delta) if it is approximate. A probabilistic prior
        keeps (epsilon, delta)-probabilistic differential privacy for one who moves between origins of a destination,
        which later processing need not keep; what it costs is (epsilon, `missed`), which later processing does keep.
        `chance` is the delta; for an accepted prior it is how often a destination may be refused.
    """

    prior: Prior
    epsilon: Fraction
    chance: Fraction

    def units(self, size: int, cells: int) -> int:
        """The prior of each of the cells (nobody's too), in parts of 1/UNIT of a worker."""
        chance = may_refuse(self.chance, self.epsilon) if self.prior == "accepted" else self.chance
        return prior_for(self.prior, size, cells, self.epsilon, chance)

    def missed(self, size: int, cells: int) -> float:
        """The delta of (epsilon, delta)-differential privacy for a destination of this size."""
        return 0.0 if size == 0 else missed(size, cells, self.units(size, cells), self.epsilon)

    def draw(self, workers: Whole, size: int, bits: Bits) -> Whole | None:
        """`size` draws for one destination: nobody first, then every cell; None if they were refused."""
        units = self.units(size, len(workers) + 1)
        kept = subset(workers, min(int(workers.sum()), size), bits=bits)
        held = np.concatenate([[size - int(kept.sum())], kept]).astype(np.int64)
        drawn = draw(held * UNIT + units, size, UNIT, bits=bits)
        if self.prior == "accepted" and not accepted(drawn, held, units, self.epsilon, self.chance, bits):
            return None
        return drawn

    def flows(self, exact: Whole, sizes: Whole, land: Land, bits: Bits) -> tuple[Whole, list[int], list[Whole]]:
        """Draws for all destinations, dealt to origins; the destinations that were refused; and the draws themselves.

        Those are of every cell, nobody's first; none of a destination that has no workers or was refused.
        """
        out = np.zeros((land.origins, land.destinations), dtype=np.int64)
        refusals: list[int] = []
        draws = [np.zeros(0, np.int64)] * land.destinations
        for destination, size in enumerate(sizes.tolist()):
            cells = land.cells(destination)
            inside = cells >= 0
            shares = np.zeros(land.origins)
            shares[inside] = 1 / np.bincount(cells[inside])[cells[inside]]
            if size:
                workers = np.bincount(cells[inside], weights=exact[inside, destination]).astype(np.int64)
                drawn = self.draw(workers, size, bits)
                if drawn is None:
                    refusals.append(destination)
                else:
                    draws[destination] = drawn
                    if drawn[1:].any():  # what was drawn of nobody goes where the others went
                        shares[inside] *= drawn[1:][cells[inside]]
            out[:, destination] = deal(shares, size, land.distances[:, destination], bits)
        return out, refusals, draws


def deal(shares: Floats, count: int, order: Floats, bits: Bits) -> Whole:
    """`count` rows dealt in proportion to shares: each cell what is due to it, up or down to a whole number.

    Every cell's mean is exactly its due. Cells are passed by `order`, so that neighbours in it make up for each other.
    """
    places = np.argsort(order, kind="stable")
    total = float(shares.sum())
    edges = np.cumsum(shares[places]) * (count / total if total > 0 else 0.0)
    # Where the last cell with a share ends everything has ended, whatever sums have lost to rounding.
    edges[edges >= edges[-1]] = count
    shift = 1 - float(uniforms(bits, 1)[0])  # above 0: an empty cell gets nothing
    marks = np.floor(edges - shift).astype(np.int64) + 1
    out = np.zeros(len(shares), dtype=np.int64)
    out[places] = np.diff(np.clip(marks, 0, count), prepend=0)
    return out
