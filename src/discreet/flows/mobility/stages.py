"""Which counts of flows get how much of the price: fixed shares, or shares that follow from a noisy first look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.core.loss import Loss
from discreet.core.unit import Unit
from discreet.flows.mobility.layout import CELLS, DESTINATIONS, ORIGINS, PILOT, WINDOWS, ZONES, Layout
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.blend import half_width
from discreet.query.measure import Rows, sensitivity
from discreet.query.noisy_sums import NoisySums, moved_sums
from discreet.query.price import Price

__all__ = ["TOTAL", "FlowMeasure", "Stages", "buy_measures", "buy_stages", "centre", "reaches"]

Whole = NDArray[np.int64]

TOTAL = "total"
FIRST = Fraction(1, 50)
"""The share of the first look."""


@dataclass(frozen=True, slots=True)
class FlowMeasure(NoisySums):
    """One aggregation of flows, by name."""

    name: str

    @property
    def claim(self) -> Loss:
        """What it costs, as a bound that composes whatever was seen before: pure epsilon, or rho."""
        return FlowMeasure(self.share, self.noise, self.moved, True, self.name).loss


@dataclass(frozen=True, slots=True)
class Stages:
    """Windows are counted with a small share first; whether there are many rows a cell decides who gets the rest.

    Guarantee
        Whichever way is taken, everything measured together costs at most `cost`: the way is a function of noisy
        numbers that are paid for, and pure epsilon and rho add up under such choices.
        Proof: docs/proofs/constraints.md.
    """

    pilot: FlowMeasure
    sparse: tuple[FlowMeasure, ...]
    dense: tuple[FlowMeasure, ...]
    limit: int
    """So many rows in all are still few: from one more on, a cell holds more than its noise, on average."""

    def after(self, pilot: Whole) -> tuple[FlowMeasure, ...]:
        """What is measured after the first look, which is all that this follows from."""
        return self.dense if int(pilot.sum()) > self.limit else self.sparse

    def cost(self, allotment: Allotment) -> Loss:
        """The first look and the dearer of the two ways after it."""
        ways = [compose([one.claim for one in (self.pilot, *way)]) for way in (self.sparse, self.dense)]
        return max(ways, key=lambda loss: allotment.price(loss).amount)

    @property
    def measures(self) -> tuple[FlowMeasure, ...]:
        """Everything that may be measured."""
        return self.pilot, *self.sparse, *self.dense


def buy_measures(
    unit: Unit, allotment: Allotment, price: Price, layout: Layout, shares: Mapping[str, Fraction]
) -> tuple[FlowMeasure, ...]:
    """The noise that shares of a price buy for the aggregations of those names."""
    windows, origins, destinations = layout.shape
    cells = windows * origins * destinations
    sizes = {
        ORIGINS: windows * origins,
        DESTINATIONS: windows * destinations,
        ZONES: windows * math.prod(layout.zones),
        WINDOWS: windows,
        PILOT: windows,
    }
    measures = []
    for name, share in shares.items():
        moved, merged = (
            (sensitivity(Rows(), unit, cells), False) if name == CELLS else moved_sums(unit, cells, sizes[name])
        )
        (noise,) = price.part(share).buys(allotment, [moved], [None])
        measures.append(FlowMeasure(share, noise, moved, merged, name))
    return tuple(measures)


def buy_stages(
    unit: Unit, allotment: Allotment, price: Price, layout: Layout, shares: Mapping[str, Fraction]
) -> Stages:
    """The first look, and what the rest buys after it: these shares, or cells alone.

    A cell alone is worth more than shares as soon as it holds more rows than the scale of its noise, on average: beyond
    that, sums tell less about cells than they cost (docs/benchmarks/mobility.md).
    """
    rest = 1 - FIRST
    (pilot,) = buy_measures(unit, allotment, price, layout, {PILOT: FIRST})
    dense = buy_measures(unit, allotment, price, layout, {CELLS: rest})
    sparse = buy_measures(unit, allotment, price, layout, {name: share * rest for name, share in shares.items()})
    match dense[0].noise:
        case Laplace(scale=scale):
            limit = int(math.prod(layout.shape) * scale)
        case Gaussian(sigma=sigma):
            limit = int(math.prod(layout.shape) * float(sigma) / math.sqrt(2))
    return Stages(pilot, sparse, dense, limit)


def reaches(layout: Layout, measures: Sequence[FlowMeasure], confidence: float) -> dict[str, tuple[str, Whole]]:
    """For every table what its intervals are around, and how far they reach either side: a number, or one a pair.

    A table is around its own measurement, and one that has none around sums of cells. The first look is never used: it
    has decided what is measured, so where it is far off depends on what was found.
    """
    noises = {measure.name: measure.noise for measure in measures}
    windows, origins, destinations = layout.shape
    found = {name: (name, np.array(noise.error(confidence))) for name, noise in noises.items() if name != PILOT}

    def added(name: str, counts: Any) -> tuple[str, Whole]:
        wide = {many: _reach(noises[name], many, confidence) for many in np.unique(counts).tolist()}
        return name, np.array([wide[many] for many in np.ravel(counts).tolist()]).reshape(np.shape(counts))

    if ORIGINS in noises:
        return {**found, TOTAL: added(WINDOWS, windows)}
    return {
        **found,
        ORIGINS: added(CELLS, destinations),
        DESTINATIONS: added(CELLS, origins),
        ZONES: added(CELLS, layout.parts),
        WINDOWS: added(CELLS, origins * destinations),
        TOTAL: added(CELLS, windows * origins * destinations),
    }


def centre(layout: Layout, noisy: Mapping[str, Whole], table: str, source: str) -> Whole:
    """What was measured of a table, of the source that `reaches` names."""
    if table == TOTAL:
        return np.array([noisy[source].sum()])
    return noisy[source] if source == table else layout.sums(noisy[source])[table]


def _reach(noise: Laplace | Gaussian, many: int, confidence: float) -> int:
    """The half-width of a sum of so many noises."""
    if many <= 1:
        return noise.error(confidence) if many else 0
    return math.ceil(half_width(noise, np.ones(1), np.array([float(many)]), 1 - confidence))
