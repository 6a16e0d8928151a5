"""Rows of codes that agree with noisy marginals, however these came about: measured in one run, in several, brought.

A graphical model holds as many of the marginals as a tree of bearable size can; rows drawn from it are weighted to
agree with the others. Marginals may be of codes or of bins of them: all are fitted in bins that each can be counted in,
which are opened at the end as single columns say. Only noisy counts and public facts are seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.counts import fold
from discreet.noise.replay import Replay
from discreet.synth.calibration import Evidence
from discreet.synth.compression import Compression, shares_in_bins
from discreet.synth.descent import Target, average_targets
from discreet.synth.junction import tree_cells
from discreet.synth.model import Model, fit, noisy_total
from discreet.synth.sample import Codes
from discreet.synth.synthetic import row_count
from discreet.synth.weighting import reweight

__all__ = ["FittedCodes", "common_bins", "fit_codes"]

CELLS = 50_000
"""How many cells the tree may have."""
_STEPS = 200
_TELLING = 1.5  # times the noise: the squares of a marginal that says something beyond single columns
_CLEAR = 4.0
_POOL, _LEAST_POOL = 200_000, 20_000  # rows that are weighted
_LOOKS = 24_000_000  # rows times marginals for weights, if the pool is not the least one
_LEAST = 1e-6  # a variance that could not be told from none


@dataclass(frozen=True, slots=True, eq=False)
class FittedCodes:
    """Rows of codes, how many there seem to be in the table that the marginals are of, and what was done."""

    codes: Codes
    total: float
    notes: tuple[str, ...]


def fit_codes(sizes: Sequence[int], evidence: Sequence[Evidence], rows: int | None) -> FittedCodes:
    """Rows fitted to all marginals, as many as asked for; None: as many as there seem to be. `sizes` are of codes.

    The same marginals give the same rows.

    Guarantee
        A function of the marginals and public facts: free.
    """
    bins = common_bins(sizes, evidence)
    merged = tuple(int(one.max()) + 1 for one in bins)
    targets = [_folded(one, bins) for one in evidence]
    total = max(noisy_total(targets), 1.0)
    alone = [target for target in targets if len(target.columns) == 1]
    several = [target for target in targets if len(target.columns) > 1]
    telling = _telling(several, fit(merged, alone, total=total, steps=_STEPS // 4) if alone else None)
    held, loose = list(alone), list[Target]()
    for target in telling:
        fits = tree_cells(merged, [*(other.columns for other in held), target.columns]) <= CELLS
        (held if fits else loose).append(target)
    model = fit(merged, held or several[:1], total=total, steps=_STEPS)
    bits = Replay(b"fitted")
    count = row_count(rows, total)
    if loose:
        most = max(_LOOKS // (len(held) + len(loose)), _LEAST_POOL)
        pool = model.rows(max(min(max(round(total), count), most, _POOL), 1), bits)
        room = max(_LOOKS // len(pool) - len(held), 1)  # the first ones tell most
        made = reweight(model, pool, [*held, *loose[:room]]).rows(count, bits)
    else:
        made = model.rows(count, bits)
    note = (
        f"{len(targets)} marginals: {len(held)} in a tree of {model.cells:,} cells, {len(loose)} by weights, "
        f"{len(several) - len(telling)} say no more than single columns"
    )
    opened = Compression(tuple(bins), tuple(alone), _shares(evidence, bins)).expand(made, bits)
    return FittedCodes(opened, total, (note,))


def _telling(several: Sequence[Target], single: Model | None) -> list[Target]:
    """Those that say something beyond single columns, the ones that say most first."""
    found = []
    for target in several:
        off = target.values - (target.values.mean() if single is None else single.marginal(target.columns))
        squares = float((off**2 / target.variance).sum())
        if squares >= _TELLING * off.size or bool((np.abs(off) > _CLEAR * np.sqrt(target.variance)).any()):
            noise = float(np.sqrt(target.variance * 2 / np.pi).sum())
            found.append((float(np.abs(off).sum()) - noise, target))
    return [target for _, target in sorted(found, key=lambda each: -each[0])]


def common_bins(sizes: Sequence[int], evidence: Sequence[Evidence]) -> list[NDArray[np.int64]]:
    """For every column the finest bins that all marginals can be counted in."""
    found = [np.arange(size) for size in sizes]
    joined: list[dict[int, NDArray[np.int64]]] = [{} for _ in sizes]  # the same bins are of many marginals
    for one in evidence:
        for column, bins in zip(one.columns, one.bins, strict=True):
            if bins is not None and id(bins) not in joined[column]:
                joined[column][id(bins)] = bins
                found[column] = _joined(found[column], bins)
    return found


def _joined(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes together that either puts together, and what follows from it."""
    group = left.copy()
    while True:
        before = group
        for bins in (right, left):
            least = np.full(int(bins.max()) + 1, len(bins), dtype=np.int64)
            np.minimum.at(least, bins, group)
            group = least[bins]
        if np.array_equal(group, before):
            return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _folded(one: Evidence, bins: Sequence[NDArray[np.int64]]) -> Target:
    """A marginal in the bins that all have, with the variance of each sum."""
    values: NDArray[Any] = one.values.reshape(one.shape)
    variance: NDArray[Any] = one.variance.reshape(one.shape)
    for axis, (column, own) in enumerate(zip(one.columns, one.bins, strict=True)):
        wide = bins[column]
        if own is not None:  # which bin of all each of its own bins is in
            wide = np.zeros(one.shape[axis], dtype=np.int64)
            wide[own] = bins[column]
        size = int(bins[column].max()) + 1
        values, variance = fold(values, axis, wide, size), fold(variance, axis, wide, size)
    return Target(one.columns, values, np.maximum(variance, _LEAST))


def _shares(evidence: Sequence[Evidence], bins: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], ...]:
    """What part of its bin each code is, as its column was counted code by code; an even part where it was not."""
    fine = [
        Target(one.columns, one.values, np.maximum(one.variance, _LEAST))
        for one in evidence
        if len(one.columns) == 1 and one.bins[0] is None
    ]
    shares = [np.ones(len(one)) for one in bins]
    for target in average_targets(fine):
        column = target.columns[0]
        deviation = float(np.sqrt(np.max(target.variance)))
        shares[column] = shares_in_bins(target.values, deviation, bins[column])
    return tuple(shares)
