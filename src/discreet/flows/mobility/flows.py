"""From noisy counts of flows at several aggregations to whole flows that agree with one another.

Least squares over everything at once, kept non-negative, would push sparse cells and with them all totals up. So the
large sums are settled first and what is below is made to agree with them: window totals, then origins, destinations and
zone pairs, then cells. Each step is the weighted projection of `projection`; cells start from what
empirical Bayes makes of them (`gravity`). All of it sees noisy numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned
from discreet.flows.mobility.gravity import posterior
from discreet.flows.mobility.layout import CELLS, ORIGINS, Layout
from discreet.flows.mobility.margins import combined, gravity, shrunken, whole_margins
from discreet.flows.mobility.projection import nearest
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["reconcile", "whole_table"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Noise = Laplace | Gaussian


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


def reconcile(layout: Layout, noisy: Mapping[str, Whole], noises: Mapping[str, Noise]) -> Whole:
    """Whole flows >= 0, near to what was measured. Cells are needed; other aggregations are used where given.

    Where origins were measured, sums are settled from all measurements, and cells are made to agree with them. Where
    cells got the whole price, what they say together settles the sums (`margins.shrunken`), and a cell starts from its
    posterior median: most cells that look small are empty.

    A function of noisy numbers alone: it costs nothing (docs/proofs/constraints.md).
    """
    measured = combined(layout, noisy, noises)
    margins = whole_margins(layout, measured)
    sizes = np.stack([gravity(layout, *found) for found in margins])
    alone = ORIGINS not in noisy
    seen = posterior(noisy[CELLS].ravel(), sizes.ravel(), noises[CELLS], atom=alone)
    centre, spread = seen.mean, seen.variance
    if alone:
        margins = whole_margins(layout, shrunken(layout, noisy, noises, centre, spread))
        centre = seen.median
    out = np.zeros(layout.shape, dtype=np.int64)
    incidence = _incidence(layout)
    for window, (origins, destinations, pairs) in enumerate(margins):
        part = slice(window * sizes[0].size, (window + 1) * sizes[0].size)
        sums = np.concatenate([origins, destinations, pairs.ravel()]).astype(np.float64)
        real = nearest(centre[part], spread[part], incidence, sums[: incidence.shape[0]])
        out[window] = _whole(layout, real.reshape(layout.shape[1:]), origins, destinations, pairs)
    return out


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
