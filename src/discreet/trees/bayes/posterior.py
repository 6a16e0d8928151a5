"""What to expect behind noisy counts whose rough size is known: posterior mean and variance of each.

Counts of a similar rough size (bins of its logarithm) and the same cell share a prior, fitted to their noisy values;
between the centres of two bins, what both say is interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes.prior import Law, Prior, grid, likelihoods

__all__ = ["posterior_moments"]

Reals = NDArray[np.float64]
Array = NDArray[np.int64]
Places = NDArray[np.intp]

_BINS = 16
_BLOCK = 1 << 16  # numbers worked on at once: what stays in the cache
_PLENTY = 1 << 20  # more numbers than this teach nothing more: every so many-th region is looked at
_SMALL = 0.02  # rough sizes below this are all alike
_FEW = 400  # fewer regions than this: their mean is left to the likelihood
_CALIBRATED = 0.1  # rough sizes of a group are off by about this part of their mean
_LITTLE = 1e-3  # the least mean of a group
_NEGATIVE = 15.0  # deviations below zero beyond which a noisy count says nothing new


def posterior_moments(
    noisy: Reals, variance: Reals, noise: Laplace | Gaussian, rough: Reals, *, steps: int = 60
) -> tuple[Reals, Reals]:
    """Mean and variance of the true counts behind `noisy`, both (regions, cells), never below zero.

    `variance` is that of the noise in each region, `noise` the family of its law. `rough` is what one would guess
    without the noisy count; how good a guess it is, is learned, in so many steps.
    """
    tables = _Tables.fit(noisy, variance, noise, rough, steps)
    mean, spread = np.empty(noisy.shape), np.empty(noisy.shape)
    for block in _blocks(*noisy.shape):
        mean[block], spread[block] = tables.at(noisy[block], tables.kind[block], rough[block])
    return mean, spread


def _blocks(size: int, cells: int) -> list[slice]:
    step = max(1, _BLOCK // cells)
    return [slice(start, start + step) for start in range(0, size, step)]


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """Expected noise and its variance, at (kind of region, row of the noisy count, bin of its rough size, cell)."""

    cells: int
    kind: Places
    values: Array
    rows: NDArray[np.int32]
    least: float
    step: float
    noise: Reals
    variance: Reals

    @classmethod
    def fit(cls, noisy: Reals, variance: Reals, noise: Laplace | Gaussian, rough: Reals, steps: int) -> _Tables:
        cells = noisy.shape[1]
        # Regions whose noise differs by less than a fifth share a law.
        _, kind = np.unique(np.rint(2 * np.log2(np.maximum(variance, 1e-6))), return_inverse=True)
        weights = np.bincount(kind)
        laws = [Law.with_variance(noise, float(v)) for v in np.bincount(kind, np.maximum(variance, 1e-6)) / weights]
        deviation = float(np.sqrt(variance.mean()))
        edges = grid(int(max(noisy.max(), 1)) + 1, deviation)
        values = _rows(edges, deviation)
        narrow = values[-1] - values[0] < 1 << 22
        some = slice(None, None, 1 + noisy.size // _PLENTY)
        noisy, rough, kind_of = noisy[some], rough[some], kind[some]
        known = np.log(rough[rough > _SMALL])
        least = float(np.quantile(known, 0.002)) if len(known) else 0.0
        most = float(known.max()) if len(known) else 0.0
        step = max((most - least) / _BINS, 0.05)
        nothing = np.zeros((0, 0))
        rows = np.repeat(np.arange(len(values), dtype=np.int32), np.append(np.diff(values), 1)) if narrow else None
        empty = np.zeros(0, np.int32)
        blank = cls(cells, kind, values, empty if rows is None else rows, least, step, nothing, nothing)
        groups = _BINS * cells
        seen = np.zeros(len(laws) * len(values) * groups)
        guessed, heard = np.zeros(groups), np.zeros(groups)
        for block in _blocks(*noisy.shape):
            row, part, bin_, between = blank.places(noisy[block], rough[block])
            row += part > 0.5
            bin_ += between > 0.5
            place = ((kind_of[block, None] * len(values) + row) * _BINS + bin_) * cells + np.arange(cells)
            seen += np.bincount(place.ravel(), minlength=len(seen))
            group = (bin_ * cells + np.arange(cells)).ravel()
            guessed += np.bincount(group, rough[block].ravel(), minlength=groups)
            heard += np.bincount(group, noisy[block].ravel(), minlength=groups)
        likely = np.concatenate([likelihoods(law, values, edges) for law in laws])
        pools = np.repeat(np.arange(_BINS), cells)
        counted = seen.reshape(-1, groups)
        means = None if len(kind) < _FEW else _means(guessed, heard, counted.sum(axis=0), deviation)
        prior = Prior.fit(edges, likely, counted, pools, means=means, steps=steps)
        found = [prior.posterior(law, values) for law in laws]
        return cls(
            cells,
            kind,
            values,
            blank.rows,
            least,
            step,
            np.concatenate([mean for mean, _ in found]).ravel(),
            np.concatenate([spread for _, spread in found]).ravel(),
        )

    def places(self, noisy: Reals, rough: Reals) -> tuple[Places, Reals, Places, Reals]:
        """Row and bin below each count, and how far it is on the way to the next."""
        inside = np.clip(noisy, self.values[0], self.values[-1])
        if len(self.rows):
            row = self.rows[(inside - self.values[0]).astype(np.intp)].astype(np.intp)
        else:
            row = np.searchsorted(self.values, inside, "right") - 1
        np.minimum(row, len(self.values) - 2, out=row)
        below = self.values[row]
        part = (inside - below) / (self.values[row + 1] - below)
        # In few digits: it takes a fourth of the time, and says where to interpolate.
        size = np.log(np.maximum(rough, 1e-30).astype(np.float32)).astype(float)
        at = (size - self.least) / self.step - 0.5
        np.clip(at, 0.0, _BINS - 1.000001, out=at)
        bin_ = at.astype(np.intp)
        return row, part, bin_, at - bin_

    def at(self, noisy: Reals, kind: Places, rough: Reals) -> tuple[Reals, Reals]:
        """Mean and variance of the true counts, from the four nearest entries."""
        row, part, bin_, between = self.places(noisy, rough)
        groups = _BINS * self.cells
        place = ((kind[:, None] * len(self.values) + row) * _BINS + bin_) * self.cells + np.arange(self.cells)
        noise, variance = np.zeros(noisy.shape), np.zeros(noisy.shape)
        for further, near in ((0, 1 - between), (self.cells, between)):
            for lower, share in ((0, 1 - part), (groups, part)):
                weight, entry = near * share, place + (further + lower)
                noise += weight * self.noise.take(entry, mode="clip")  # which asks nothing of places that are inside
                variance += weight * self.variance.take(entry, mode="clip")
        return np.maximum(noisy - noise, 0.0), variance


def _means(guessed: Reals, heard: Reals, many: Reals, deviation: float) -> Reals:
    """Of the true counts of every group: that of their rough sizes, or that of the noisy counts, by precision.

    Rough sizes add up to the parents' counts, which are known far better than any of the counts here.
    """
    safe = np.maximum(many, 1)
    rough, noisy = guessed / safe, heard / safe
    doubt, off = deviation**2 / safe, rough**2 * (_CALIBRATED**2 + 1 / safe) + 1e-12
    return np.asarray(np.maximum((rough * doubt + noisy * off) / (doubt + off), _LITTLE))


def _rows(edges: Array, deviation: float) -> Array:
    """Noisy counts for which the tables are worked out: within narrow intervals two, else the middle."""
    widths = np.diff(edges)
    narrow = edges[:-1][widths <= 2 * deviation]
    above = np.concatenate([narrow, edges[:-1] + widths // 2, edges[-1:] + 1])
    near = np.arange(1, max(2, int(3 * deviation)), max(1, int(deviation / 8)))
    far = np.arange(near[-1] + 1, int(_NEGATIVE * deviation) + 3, max(1, int(deviation / 3)))
    return np.unique(np.concatenate([above, -near, -far]))
