"""Sums of flows: the best estimate of each, and whole sums that agree with one another. Sees noisy numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned
from discreet.flows.mobility.layout import CELLS, DESTINATIONS, ORIGINS, PILOT, WINDOWS, ZONES, Layout
from discreet.flows.mobility.projection import nearest
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["Margins", "combined", "gravity", "shrunken", "whole_margins"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Noise = Laplace | Gaussian
Margins = Mapping[str, tuple[Floats, Floats]]
"""For every aggregation an estimate of its numbers, and their variances."""

_TINY = 1e-12


def combined(layout: Layout, noisy: Mapping[str, Whole], noises: Mapping[str, Noise]) -> Margins:
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
    for name in (ORIGINS, DESTINATIONS, ZONES, WINDOWS, PILOT):
        if name in noisy:
            direct = noisy[name].astype(np.float64)
            sources[WINDOWS if name == PILOT else name].append((direct, noises[name].variance))
            if name not in (WINDOWS, PILOT):  # and its own total is one more measurement of the window
                rest = direct.reshape(windows, -1)
                sources[WINDOWS].append((rest.sum(axis=1), rest.shape[1] * noises[name].variance))
    return {name: _weighed(seen, added[name].shape) for name, seen in sources.items()}


def shrunken(
    layout: Layout, noisy: Mapping[str, Whole], noises: Mapping[str, Noise], mean: Floats, variance: Floats
) -> Margins:
    """Sums of posterior means, put right by what the noisy cells add up to, and their variances.

    A sum of posterior means is nearer than the sum of the noisy cells if the prior fits those cells, and off if it does
    not. What is between the two sums has a variance that is known where the prior fits; what it has beyond that, over
    all sums of an aggregation, is how far the prior is off. So much of the difference is put back (James and Stein).
    """
    shape, law = layout.shape, noises[CELLS].variance
    means, left = layout.sums(mean.reshape(shape)), layout.sums(variance.reshape(shape))
    added, many = layout.sums(noisy[CELLS].astype(np.float64)), layout.sums(np.ones(shape))
    found = {}
    for name in means:
        between, usual = added[name] - means[name], np.maximum(many[name] * law - left[name], _TINY)
        excess = np.where(many[name] > 0, between**2 - usual, 0.0).sum() / max(int((many[name] > 0).sum()), 1)
        off = max(float(excess), 0.0)
        back = off / (off + usual)
        found[name] = (means[name] + back * between, np.maximum(left[name] + off * (1 - back), _TINY))
    if PILOT in noisy:
        found[WINDOWS] = _weighed([found[WINDOWS], (noisy[PILOT], noises[PILOT].variance)], found[WINDOWS][0].shape)
    return found


def _weighed(seen: Sequence[tuple[Any, Any]], shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """The mean of several measurements weighted by precision, and its variance."""
    # Noise so small that its variance is zero is as good as none.
    known = [(value, np.maximum(variance, _TINY)) for value, variance in seen]
    precision = sum(1 / variance for _, variance in known)
    mean = sum(value / variance for value, variance in known) / precision
    return np.asarray(mean, dtype=np.float64), np.broadcast_to(1 / precision, shape)


def whole_margins(layout: Layout, measured: Margins) -> list[tuple[Whole, Whole, Whole]]:
    """Whole origins, destinations and zone pairs of each window that agree with its total and with each other."""
    totals = np.maximum(np.round(measured[WINDOWS][0]), 0).astype(np.int64)
    return [_in_window(layout, measured, window, int(total)) for window, total in enumerate(totals)]


def _in_window(layout: Layout, measured: Margins, window: int, total: int) -> tuple[Whole, Whole, Whole]:
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
    kinds = (ORIGINS, DESTINATIONS, ZONES)
    centre, spread = (np.concatenate([measured[name][at][window].ravel() for name in kinds]) for at in (0, 1))
    real = nearest(centre, spread / spread.mean(), sums, values)
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


def gravity(layout: Layout, origins: Whole, destinations: Whole, pairs: Whole) -> Floats:
    """How large each cell would be if, between two zones, origins and destinations met at random."""
    zone_o, zone_d = np.array(layout.origin_zones), np.array(layout.destination_zones)
    share_o = origins / np.maximum(pairs.sum(axis=1), 1)[zone_o]
    share_d = destinations / np.maximum(pairs.sum(axis=0), 1)[zone_d]
    found: Floats = pairs[np.ix_(zone_o, zone_d)] * share_o[:, None] * share_d
    return found
