"""From noisy counts of flows at several aggregations to whole flows that agree with one another.

Least squares over everything at once, kept non-negative, would push sparse cells and with them all totals up. So the
large sums are settled first and what is below is made to agree with them: window totals, then origins, destinations and
zone pairs, then cells. Each step is the weighted projection of `projection`; cells start from what
empirical Bayes makes of them (`gravity`). All of it sees noisy numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned
from discreet.flows.mobility.gravity import posterior
from discreet.flows.mobility.projection import nearest
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["CELLS", "DESTINATIONS", "ORIGINS", "WINDOWS", "ZONES", "Layout", "reconcile", "whole_table"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Noise = Laplace | Gaussian

CELLS, ORIGINS, DESTINATIONS, ZONES, WINDOWS = "cells", "origins", "destinations", "zones", "windows"


def whole_table(real: Floats, rows: Whole, columns: Whole) -> Whole:
    """A table of whole numbers >= 0 near `real` (>= 0) with exactly these row and column sums, whose totals agree.

    Rows are apportioned; then units move along rows, from columns with too many to columns with too few. A column
    with too many has a cell above zero and the move keeps every row, so this ends with all sums right: each move
    lessens the excess by one.
    """
    found = apportioned(real, rows)
    excess = found.sum(axis=0) - columns
    over = found - real
    for column in np.flatnonzero(excess > 0):
        while excess[column] > 0:
            row = int(np.argmax(np.where(found[:, column] > 0, over[:, column], -np.inf)))
            short = int(np.argmin(np.where(excess < 0, over[row], np.inf)))
            for place, unit in ((column, -1), (short, 1)):
                found[row, place] += unit
                over[row, place] += unit
                excess[place] += unit
    return found


@dataclass(frozen=True, slots=True)
class Layout:
    """Windows, origins and destinations, and the zone of each origin and destination (all zone 0 without zones)."""

    windows: int
    origin_zones: tuple[int, ...]
    destination_zones: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Windows, origins, destinations."""
        return self.windows, len(self.origin_zones), len(self.destination_zones)

    @property
    def zones(self) -> tuple[int, int]:
        """How many zones there are for origins and for destinations: the same list."""
        many = max(*self.origin_zones, *self.destination_zones) + 1
        return many, many

    @property
    def parts(self) -> Whole:
        """How many cells each pair of zones has; none where a zone has no origins, or no destinations."""
        found: Whole = np.multiply.outer(
            self.members(self.origin_zones).sum(axis=0), self.members(self.destination_zones).sum(axis=0)
        )
        return found

    def members(self, zones: tuple[int, ...]) -> Whole:
        """One for every place and the zone it is in, else zero."""
        found: Whole = (np.array(zones)[:, None] == np.arange(self.zones[0])).astype(np.int64)
        return found

    def sums(self, flows: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """What is measured, of an array of windows, origins and destinations: the aggregations by name."""
        pairs = self.members(self.origin_zones).T @ flows @ self.members(self.destination_zones)
        return {
            CELLS: flows,
            ORIGINS: flows.sum(axis=2),
            DESTINATIONS: flows.sum(axis=1),
            ZONES: pairs.astype(flows.dtype, copy=False),
            WINDOWS: flows.sum(axis=(1, 2)),
        }


def reconcile(layout: Layout, noisy: Mapping[str, Whole], noises: Mapping[str, Noise]) -> Whole:
    """Whole flows >= 0, near to what was measured. Cells are needed; other aggregations are used where given.

    A function of noisy numbers alone: it costs nothing (docs/proofs/constraints.md).
    """
    measured = _combined(layout, noisy, noises)
    totals = np.maximum(np.round(measured[WINDOWS][0]), 0).astype(np.int64)
    out = np.zeros(layout.shape, dtype=np.int64)
    margins = [_margins(layout, measured, window, int(total)) for window, total in enumerate(totals)]
    sizes = np.stack([_gravity(layout, *found) for found in margins])
    centre, spread = posterior(noisy[CELLS].ravel(), sizes.ravel(), noises[CELLS])
    incidence = _incidence(layout)
    for window, (origins, destinations, pairs) in enumerate(margins):
        part = slice(window * sizes[0].size, (window + 1) * sizes[0].size)
        sums = np.concatenate([origins, destinations, pairs.ravel()]).astype(np.float64)
        real = nearest(centre[part], spread[part], incidence, sums[: incidence.shape[0]])
        out[window] = _whole(layout, real.reshape(layout.shape[1:]), origins, destinations, pairs)
    return out


def _combined(
    layout: Layout, noisy: Mapping[str, Whole], noises: Mapping[str, Noise]
) -> dict[str, tuple[Floats, Floats]]:
    """For every aggregation the best mean of what was measured of it, directly and by adding up, and its variance.

    Independent unbiased measurements of the same sums, weighted by precision: nothing is biased by it.
    """
    windows, origins, destinations = layout.shape
    added = layout.sums(noisy[CELLS].astype(np.float64))
    many: dict[str, Any] = {
        CELLS: 1,
        ORIGINS: destinations,
        DESTINATIONS: origins,
        ZONES: layout.parts,
        WINDOWS: origins * destinations,
    }
    sources: dict[str, list[tuple[Any, Any]]] = {
        name: [(added[name], many[name] * noises[CELLS].variance)] for name in added
    }
    for name in (ORIGINS, DESTINATIONS, ZONES, WINDOWS):
        if name in noisy:
            direct = noisy[name].astype(np.float64)
            sources[name].append((direct, noises[name].variance))
            if name != WINDOWS:  # and its own total is one more measurement of the window
                rest = direct.reshape(windows, -1)
                sources[WINDOWS].append((rest.sum(axis=1), rest.shape[1] * noises[name].variance))
    found = {}
    for name, seen in sources.items():
        # Noise so small that its variance is zero is as good as none.
        seen = [(value, np.maximum(variance, 1e-12)) for value, variance in seen]
        precision = sum(1 / variance for _, variance in seen)
        found[name] = (sum(value / variance for value, variance in seen) / precision, np.asarray(1 / precision))
    return found


def _margins(
    layout: Layout, measured: Mapping[str, tuple[Floats, Floats]], window: int, total: int
) -> tuple[Whole, Whole, Whole]:
    """Whole origins, destinations and zone pairs of a window that agree with its total and with each other."""
    from scipy import sparse

    _, origins, destinations = layout.shape
    over, under = layout.zones
    place_o, place_d = np.array(layout.origin_zones), np.array(layout.destination_zones)
    pair_o, pair_d = np.divmod(np.arange(over * under), under)
    first, second = origins, origins + destinations
    # Zone by zone: its origins less its pairs, its destinations less its pairs; last, all pairs.
    rows = np.concatenate([place_o, over + place_d, pair_o, over + pair_d, np.full(over * under, over + under)])
    pairs = second + np.arange(over * under)
    columns = np.concatenate([np.arange(first), np.arange(first, second), pairs, pairs, pairs])
    signs = np.concatenate([np.ones(second), -np.ones(2 * over * under), np.ones(over * under)])
    sums = sparse.csr_array((signs, (rows, columns)), (over + under + 1, second + over * under))
    values = np.append(np.zeros(over + under), float(total))
    kinds = [(measured[name][0][window].ravel(), measured[name][1]) for name in (ORIGINS, DESTINATIONS, ZONES)]
    sizes = ((origins,), (destinations,), (over, under))
    spread = np.concatenate(
        [np.broadcast_to(variance, size).ravel() for (_, variance), size in zip(kinds, sizes, strict=True)]
    )
    real = nearest(np.concatenate([centre for centre, _ in kinds]), spread / spread.mean(), sums, values)
    # A pair without cells gets nothing; the others can always take what there is.
    parts = layout.parts.ravel()
    possible = np.where(parts > 0, real[second:] + 1e-9 * parts, 0.0)
    whole = apportioned(possible[None], np.array([total]))[0].reshape(over, under)
    return (
        _within_zones(real[:first], place_o, whole.sum(axis=1)),
        _within_zones(real[first:second], place_d, whole.sum(axis=0)),
        whole,
    )


def _within_zones(real: Floats, zones: NDArray[np.intp], totals: Whole) -> Whole:
    out = np.zeros(len(real), dtype=np.int64)
    for zone, total in enumerate(totals):
        inside = zones == zone
        out[inside] = apportioned(real[None, inside], np.array([total]))[0]
    return out


def _gravity(layout: Layout, origins: Whole, destinations: Whole, pairs: Whole) -> Floats:
    """How large each cell would be if, between two zones, origins and destinations met at random."""
    zone_o, zone_d = np.array(layout.origin_zones), np.array(layout.destination_zones)
    share_o = origins / np.maximum(pairs.sum(axis=1), 1)[zone_o]
    share_d = destinations / np.maximum(pairs.sum(axis=0), 1)[zone_d]
    found: Floats = pairs[np.ix_(zone_o, zone_d)] * share_o[:, None] * share_d
    return found


def _incidence(layout: Layout) -> Any:
    """Which cells each origin, destination and zone pair adds up; without zones the pairs say nothing new."""
    from scipy import sparse

    _, origins, destinations = layout.shape
    over, under = layout.zones
    cell = np.arange(origins * destinations)
    row, column = np.divmod(cell, destinations)
    pair = np.array(layout.origin_zones)[row] * under + np.array(layout.destination_zones)[column]
    places: Sequence[Any] = [row, origins + column, origins + destinations + pair]
    if over * under == 1:
        places = places[:2]
    size = origins + destinations + (over * under if len(places) == 3 else 0)
    entries = (np.ones(len(places) * len(cell)), (np.concatenate(places), np.tile(cell, len(places))))
    return sparse.csr_array(entries, (size, len(cell)))


def _whole(layout: Layout, real: Floats, origins: Whole, destinations: Whole, pairs: Whole) -> Whole:
    """Whole cells with exactly these sums: first how much of each origin goes to each zone, then cells zone by zone."""
    over, under = layout.zones
    zone_o, zone_d = np.array(layout.origin_zones), np.array(layout.destination_zones)
    to_zones = real @ layout.members(layout.destination_zones)
    parts = np.zeros((len(origins), under), dtype=np.int64)
    for zone in range(over):
        inside = zone_o == zone
        parts[inside] = whole_table(to_zones[inside], origins[inside], pairs[zone])
    out = np.zeros(real.shape, dtype=np.int64)
    for zone in range(under):
        inside = zone_d == zone
        out[:, inside] = whole_table(real[:, inside], parts[:, zone], destinations[inside])
    return out
