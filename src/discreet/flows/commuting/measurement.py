"""What was measured of commuters, with its law: noisy counts, or draws from urns. Intervals follow from it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.packing import unpack
from discreet.flows.commuting.intervals import Ends, cell_ends, sum_ends, urn_ends
from discreet.flows.commuting.prior import UNIT
from discreet.flows.commuting.urns import Urns
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.record import noise_from

__all__ = ["COUNTED", "Measured"]

Whole = NDArray[np.int64]
COUNTED = ("flows", "origins", "destinations")
_SMALL = 0.2  # the part of what an interval may miss that goes to the noise of sizes
_GRID = 4000

_SHARED = "Origins that share a cell of an urn have one number between them: for each the interval goes from zero up."
_LEFT_OUT = (
    "Where a destination has more workers than its public size, intervals are of those that are in its urn: as many as "
    "that size, drawn at random."
)


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy counts by name with their noise; or the urns, the draws of each, and which cell every origin is in."""

    confidence: float
    noisy: Mapping[str, tuple[Whole, Laplace | Gaussian]]
    urns: Urns | None = None
    draws: tuple[Whole, ...] = ()
    cells: Whole | None = None
    sizes: Laplace | Gaussian | None = None
    """The noise of the sizes of destinations; None where they are public."""

    @classmethod
    def read(cls, entry: Mapping[str, Any], drawn: Any) -> Measured | None:
        """From a record; None where it does not say enough."""
        law = entry.get("intervals")
        if law is None or drawn is None:
            return None
        if "noise" in law:
            noisy = {name: (unpack(drawn[name]), noise_from(one)) for name, one in law["noise"].items()}
            return cls(law["confidence"], noisy)
        if "draws" not in drawn:
            return None
        urns = Urns(law["urns"]["prior"], *(Fraction(law["urns"][name]) for name in ("epsilon", "chance")))
        draws = tuple(np.split(unpack(drawn["draws"]), np.cumsum(drawn["cells"])[:-1]))
        noise = None if law["sizes"] is None else noise_from(law["sizes"])
        return cls(law["confidence"], {}, urns, draws, unpack(law["cells"]), noise)

    @property
    def notes(self) -> tuple[str, ...]:
        """What intervals do not say."""
        if self.urns is None:
            return ()
        return (_SHARED, *(() if self.sizes is not None else (_LEFT_OUT,)))

    def ends(self, name: str, flows: Whole) -> Ends:
        """Intervals for the true flows, or for the true numbers from each origin or to each destination."""
        if self.urns is not None:
            return self._urn_ends(name, flows)
        noisy, noise = self.noisy["cells"]
        if name == "flows":
            return cell_ends(noisy, noise, flows, self.confidence)
        axis, direct = (1, "origins") if name == "origins" else (0, "ends")
        if direct not in self.noisy:  # public sizes, which are kept
            return flows.sum(axis=axis), flows.sum(axis=axis)
        sources = [(noisy.sum(axis=axis), noise, noisy.shape[axis]), (*self.noisy[direct], 1)]
        return sum_ends(sources, flows.sum(axis=axis), self.confidence)

    def area_ends(self, flows: Whole, chosen: Sequence[int]) -> tuple[Ends, Ends]:
        """Intervals for the true numbers from each origin to some destinations together, and for all of them."""
        places, many = list(chosen), len(chosen)
        part = flows[:, places]
        if self.urns is not None:  # of each cell, so rarely off that sums are right
            low, high = (one[:, places].sum(axis=1) for one in self._cell_ends(flows, 1 - (1 - self.confidence) / many))
            each = replace(self, confidence=1 - (1 - self.confidence) / many)
            least, most = each._size_ends(part.sum(axis=0))
            return (low, high), (least.sum(keepdims=True), most.sum(keepdims=True))
        noisy, noise = self.noisy["cells"]
        cells, whole = noisy[:, places], part.sum(keepdims=True).ravel()
        if many == 1:
            homes = cell_ends(cells[:, 0], noise, part[:, 0], self.confidence)
        else:
            homes = sum_ends([(cells.sum(axis=1), noise, many)], part.sum(axis=1), self.confidence)
        if "ends" not in self.noisy:  # public sizes, which are kept
            return homes, (whole, whole)
        sizes, law = self.noisy["ends"]
        sources = [(cells.sum(keepdims=True).ravel(), noise, cells.size), (sizes[places].sum(keepdims=True), law, many)]
        return homes, sum_ends(sources, whole, self.confidence)

    def _urn_ends(self, name: str, flows: Whole) -> Ends:
        """Of an origin the sums of the ends of its flows, which hold together if each of them misses far less."""
        if name == "destinations":
            return self._size_ends(flows.sum(axis=0))
        many = 1 if name == "flows" else flows.shape[1]
        low, high = self._cell_ends(flows, 1 - (1 - self.confidence) / many)
        return (low, high) if name == "flows" else (low.sum(axis=1), high.sum(axis=1))

    def _size_ends(self, sizes: Whole) -> Ends:
        """Public sizes are what they are; of measured ones the noise is known."""
        if self.sizes is None:
            return sizes, sizes
        half = self.sizes.error(self.confidence)
        return np.maximum(sizes - half, 0), sizes + half

    def _cell_ends(self, flows: Whole, confidence: float) -> Ends:
        urns, cells, miss = self.urns, self.cells, 1 - confidence
        if urns is None or cells is None:
            raise TypeError("there are no urns")
        beyond = 0
        if self.sizes is not None:  # more workers than the noisy size may have come: some are in no urn
            miss, beyond = miss * (1 - _SMALL), self.sizes.error(1 - miss * _SMALL)
        low, high = np.zeros_like(flows), np.zeros_like(flows)
        grid = max(8, _GRID // max(len(self.draws), 1))
        for place, drawn in enumerate(self.draws):
            size = int(flows[:, place].sum())
            if not len(drawn):  # nobody was drawn, or the draws were refused
                high[:, place] = size + beyond
                continue
            least, most = urn_ends(drawn, size, urns.units(size, len(drawn)) / UNIT, 1 - miss, grid)
            here = cells[:, place]
            alone = np.bincount(here[here >= 0], minlength=len(drawn) - 1) == 1
            inside = np.where(here >= 0, here, 0)
            low[:, place] = np.where((here >= 0) & alone[inside], least[1:][inside], 0)
            high[:, place] = np.where(here >= 0, most[1:][inside], size) + beyond
        return np.minimum(low, flows), np.maximum(high, flows)
