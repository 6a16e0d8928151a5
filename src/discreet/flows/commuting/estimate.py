"""From noisy counts of commuters to whole flows: what a model of distance says, corrected by what was measured.

Everything here sees noisy numbers, public distances and public sizes only, so it costs nothing. A gravity model (a
factor for every origin, one for every destination, one for every range of distances) is fitted to noisy sums. Cells
that it expects to be alike share a prior, learned from their noisy counts by maximum likelihood; each cell is then what
its own noisy count makes of that prior. Cells are moved towards noisy totals, most where least is known, and rounded
so that every destination has its total.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.integers import apportioned
from discreet.errors import InputError
from discreet.flows.commuting.land import Land
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["flows_of"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Noise = Laplace | Gaussian

_BINS = 12  # ranges of distance
_FIT = 40  # turns of the gravity model
_ALIKE = 250  # cells that share a prior, at least
_LEARN = 60  # steps of expectation maximisation
_COMMON = 25.0  # what all cells have in common counts as so many of a kind
_FAR = 40  # a count so many scales above zero is left as it is
_AGREE = 40
_LEAST = 1e-300
_AT_ONCE = 1 << 14
_SOME = 20_000  # cells that what all have in common is learned from


def flows_of(cells: Noisy, origins: Noisy, destinations: Noisy | None, sizes: Whole | None, land: Land) -> Whole:
    """Whole flows from every origin (a row) to every destination (a column); `sizes` are public totals, if any."""
    possible = land.possible
    seen = np.where(possible, cells.values, 0).astype(np.float64)
    from_cells = (seen.sum(axis=0), cells.variance * possible.sum(axis=0))
    starts = (origins.values.astype(np.float64), np.full(land.origins, origins.variance))
    if sizes is not None:
        ends = (sizes.astype(np.float64), np.zeros(land.destinations))
        columns = ends[0]
    elif destinations is not None:
        ends = (destinations.values.astype(np.float64), np.full(land.destinations, destinations.variance))
        columns = np.maximum(_best([ends, from_cells]), 0)
    else:
        raise InputError("sizes", None, "public or measured")
    rows = np.maximum(_best([starts, (seen.sum(axis=1), cells.variance * possible.sum(axis=1))]), 0)
    expected = _gravity(seen, rows, columns, land)
    mean, spread = _posterior(cells.values, expected, possible, cells.noise)
    real = _reconciled(mean, spread, starts, ends)
    empty = ~real.any(axis=0)
    real[:, empty] = expected[:, empty] + 1e-9 * possible[:, empty]
    return apportioned(real.T, np.rint(columns).astype(np.int64)).T


def _best(sources: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The mean of unbiased measurements of the same sums, by precision."""
    weights = [1 / np.maximum(spread, 1e-12) for _, spread in sources]
    mean = np.sum([weight * values for weight, (values, _) in zip(weights, sources, strict=True)], axis=0)
    return np.asarray(mean / np.sum(weights, axis=0))


def _gravity(seen: Floats, rows: Floats, columns: Floats, land: Land) -> Floats:
    """What origins, destinations and distances alone let one expect: fitted to their sums by turns."""
    possible = land.possible
    total = max(float(columns.sum()), 1.0)
    rows = (rows + 1e-3) * (total / float((rows + 1e-3).sum()))
    columns = (columns + 1e-3) * (total / float((columns + 1e-3).sum()))
    ranges, many = _distance_ranges(land)
    wanted = np.maximum(np.bincount(ranges.ravel(), weights=seen.ravel(), minlength=many), total * 1e-4)
    wanted *= total / wanted.sum()
    found: Floats = possible.astype(np.float64)
    for _ in range(_FIT):
        held = np.bincount(ranges.ravel(), weights=found.ravel(), minlength=many)
        found = found * (wanted / np.maximum(held, _LEAST))[ranges]
        found = found * (rows / np.maximum(found.sum(axis=1), _LEAST))[:, None]
        found = found * (columns / np.maximum(found.sum(axis=0), _LEAST))
    return found


def _distance_ranges(land: Land) -> tuple[NDArray[np.intp], int]:
    """Which range of distances every cell is in; none at all is a range of its own."""
    away = land.distances[land.possible & (land.distances > 0)]
    edges = np.unique(np.quantile(away, np.arange(_BINS) / _BINS)) if away.size else np.array([1.0])
    return np.searchsorted(edges, land.distances, side="right"), len(edges) + 1


def _posterior(noisy: Whole, expected: Floats, possible: NDArray[np.bool_], noise: Noise) -> tuple[Floats, Floats]:
    """Mean and variance of the true count behind each noisy one."""
    scale = max(float(noise.scale if isinstance(noise, Laplace) else noise.sigma), 0.05)
    mean = np.where(possible, np.maximum(noisy, 0), 0).astype(np.float64)
    spread = np.where(possible, noise.variance + 1e-3, 0.0)
    small = np.flatnonzero(possible & (noisy < _FAR * scale))
    if not small.size:
        return mean, spread
    grid = _grid((_FAR + 20) * scale, scale)
    order = small[np.argsort(expected.ravel()[small], kind="stable")]
    kinds = _kinds(np.log2(expected.ravel()[order] + 1e-6))
    values = noisy.ravel()[order]
    some = values[:: max(1, len(values) // _SOME)]
    common = _learned(_likely(some, grid, noise), np.full(len(grid), 1 / len(grid)), 0.0)
    for first, last in kinds:
        weights = _learned(_likely(values[first:last], grid, noise), common, _COMMON)
        for start in range(first, last, _AT_ONCE):
            part = slice(start, min(start + _AT_ONCE, last))
            mass = _likely(values[part], grid, noise) * weights
            mass /= np.maximum(mass.sum(axis=1, keepdims=True), _LEAST)
            middle = mass @ grid
            mean.ravel()[order[part]] = middle
            spread.ravel()[order[part]] = np.maximum(mass @ grid**2 - middle**2, 0) + 1e-3
    return mean, spread


def _grid(top: float, scale: float) -> Floats:
    """Counts a true one may have: all small ones, then in steps that noise does not tell apart."""
    found = [0]
    while found[-1] < top:
        found.append(found[-1] + max(1, int(min(found[-1] / 4, scale / 2))))
    return np.array(found, dtype=np.float64)


def _kinds(logs: Floats) -> list[tuple[int, int]]:
    """Ranges of cells, in order of what is expected of them: about a factor of two wide, and never of few cells."""
    found, start = [], 0
    while start < len(logs):
        end = max(int(np.searchsorted(logs, logs[start] + 1)), start + _ALIKE)
        end = len(logs) if len(logs) - end < _ALIKE else end
        found.append((start, end))
        start = end
    return found


def _likely(values: Whole, grid: Floats, noise: Noise) -> Floats:
    """How likely each noisy count is for each true one, up to a factor of its own."""
    gap = np.abs(values[:, None] - grid)
    match noise:
        case Laplace(scale=scale):
            log = -gap / float(scale)
        case Gaussian(sigma=sigma):
            log = -((gap / float(sigma)) ** 2) / 2
    return np.asarray(np.exp(log - log.max(axis=1, keepdims=True)))


def _learned(likely: Floats, start: Floats, held: float) -> Floats:
    """How common each true count is, by maximum likelihood, `start` counting as `held` cells."""
    weights = start
    for _ in range(_LEARN):
        found = weights * (likely / np.maximum(likely @ weights, _LEAST)[:, None]).sum(axis=0)
        weights = (found + held * start) / (len(likely) + held)
    return weights


def _reconciled(mean: Floats, spread: Floats, rows: tuple[Floats, Floats], columns: tuple[Floats, Floats]) -> Floats:
    """Cells moved in proportion to their variance towards sums that were measured too, none below zero.

    Sums are (value, variance): the larger its variance, the less a sum pulls. Cells are max(0, mean + spread (r + c)),
    with a multiplier r for each row and c for each column, found by turns.
    """
    (right, right_doubt), (down, down_doubt) = rows, columns
    pull, push = np.zeros(len(right)), np.zeros(len(down))
    widths = [np.maximum(spread.sum(axis=axis) + doubt, 1e-12) for axis, doubt in ((1, right_doubt), (0, down_doubt))]
    found = mean
    for _ in range(_AGREE):
        pull = pull + (right - right_doubt * pull - found.sum(axis=1)) / widths[0]
        found = np.maximum(mean + spread * (pull[:, None] + push), 0)
        push = push + (down - down_doubt * push - found.sum(axis=0)) / widths[1]
        found = np.maximum(mean + spread * (pull[:, None] + push), 0)
    return found
