"""Margins from the errors seen in simulations: pooled over numbers that look alike, weighed so that no size is missed.

Numbers that look alike to a reader (published size, size of the region, cell) share margins: quantiles of the errors
seen among them. Plain quantiles hold over what looks alike, and miss the few large counts among many small ones. So
errors are weighed by the class of their *true* size: a class that is missed too often counts for more, until each is
missed about as often as any other (`_weights`), or, between classes that are, less often: an interval that reaches from
empty regions to large ones holds what lies between. How often a class is missed is judged on tables that the margins
have not seen: there are two, and the margins of one are tried on the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

__all__ = ["ErrorQuantiles", "enough_for"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_MOST = 1 << 20  # errors stored of one run: plenty for any quantile
_BLOCK = 1 << 18  # numbers worked on at once
_SIZES, _REGIONS = 48, 24
_CELLS = 1024  # with more cells than this, cells are not told apart
_CLASSES = np.array([0, 1, 2, 4, 10, 18, 32, 56, 100, 178, 316, 562, 1000, 1778, 3162, 10_000, 1 << 62])  # true sizes
_FEW = 100  # errors; a class of fewer joins its neighbour
_TURNS = 10
_DOUBT = 20.0  # errors, missed as aimed at, that are put to those of each class
# So much of what may be missed is aimed at in simulations: of counts from 0, from 1 and from 100 on. Never all of it:
# the plausible table is not the true one, and has fewer extremes among large counts.
_AIMS = ((0, 0.75), (1, 0.75), (100, 0.7))


def enough_for(alpha: float) -> int:
    """How many errors make a quantile."""
    return math.ceil(20 / alpha)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Errors of some runs, flat: what looks alike has the same label; `kind` is the class of the true size."""

    published: Array
    error: Array
    label: Array
    kind: Array
    table: Array

    def at(self, places: Array) -> _Seen:
        return _Seen(*(getattr(self, name)[places] for name in self.__slots__))


class ErrorQuantiles:
    """Errors of the counts of one level: what was published less what should have been."""

    def __init__(self) -> None:
        self._runs: list[_Seen] = []
        self._cells = 1
        self._sum: Reals | None = None
        self._square: Reals | None = None
        self._margins: dict[float, tuple[NDArray[np.int32], Reals]] = {}

    def add(self, published: Array, exact: Array, table: int = 0) -> None:
        """One run on a plausible table: what was published and what should have been, cells in columns."""
        error = published - exact
        if error.size <= _MOST:
            self._sum = error.astype(float) + (0.0 if self._sum is None else self._sum)
            self._square = error.astype(float) ** 2 + (0.0 if self._square is None else self._square)
        every = -(-error.size // _MOST)
        some = slice(len(self._runs) % every, None, every)
        self._cells = published.shape[1] if published.shape[1] <= _CELLS else 1
        kind = np.searchsorted(_CLASSES, np.maximum(exact[some], 0).ravel(), "right") - 1
        label = _looks(published[some], self._cells).ravel()
        fold = np.full(len(label), table % 2)
        self._runs.append(_Seen(published[some].ravel(), error[some].ravel(), label, kind, fold))

    def interval(
        self, published: Array, deviation: Reals, factor: float, alpha: float, least: Array, most: Array
    ) -> tuple[Array, Array]:
        """From where to where the true counts lie, all but a share `alpha` of them; within `least` and `most`.

        Where too few errors were seen for quantiles, `factor` times the `deviation` of the linear estimate is the
        half-width.
        """
        if not self._runs:
            raise InputError("errors", Phrase("none"), "at least one run")
        lower, upper = np.empty(published.shape, np.int64), np.empty(published.shape, np.int64)
        for block in _blocks(*published.shape):
            counts = published[block]
            if len(self._all.error) < enough_for(alpha):
                margins = self._from_deviation(deviation, factor)[:, block]
                low, high = _ends(counts, margins.__getitem__, least[block], most[block])
                low, high = np.floor(low), np.ceil(high)
            else:
                if alpha not in self._margins:
                    self._margins[alpha] = _fit(self._all, self._cells, alpha)
                group, found = self._margins[alpha]
                low, high = _ends(counts, _taken(found, group[_looks(counts, self._cells)]), least[block], most[block])
            lower[block] = np.clip(np.minimum(low, counts), least[block], most[block])
            upper[block] = np.clip(np.maximum(high, counts), least[block], most[block])
        return lower, upper

    @cached_property
    def _all(self) -> _Seen:
        return _Seen(*(np.concatenate([getattr(run, name) for run in self._runs]) for name in _Seen.__slots__))

    def _from_deviation(self, deviation: Reals, factor: float) -> Reals:
        """Margins for a level of few counts: each moved by its own bias, as far as biases were more than chance."""
        if self._sum is None or self._square is None:
            raise InputError("errors", Phrase("none"), "at least one run")
        times = len(self._runs)
        mean = self._sum / times
        noise = float(np.mean((self._square / times - mean**2) / deviation**2)) * times / (times - 1)
        drift = float(np.mean((mean / deviation) ** 2))
        trust = max(0.0, 1 - noise / times / drift) if drift > 0 else 0.0
        half = factor * deviation * math.sqrt(max(noise, 1.0) * (1 + trust / times))
        return np.stack([half + trust * mean, half - trust * mean] * 2)


def _blocks(size: int, cells: int) -> Iterator[slice]:
    step = max(1, _BLOCK // cells)
    return (slice(start, start + step) for start in range(0, size, step))


def _looks(counts: Array, cells: int) -> Array:
    """What a reader sees of a count, as one number: its size, the size of its region and, unless told not to, its cell.

    The number over `cells` is that of the first two, and this over the number of regions' sizes that of the first.
    """
    size = np.minimum(_log_bin(counts, 2), _SIZES - 1)
    region = np.minimum(_log_bin(counts.sum(axis=1), 1), _REGIONS - 1)[:, None]
    return np.asarray((size * _REGIONS + region) * cells + (np.arange(cells) if cells > 1 else 0))


def _log_bin(values: Array, fine: int) -> Array:
    """0 alone, then powers of two, `fine` bins each."""
    small = _small_bins(fine)
    found = small.take(np.clip(values, 0, len(small) - 1))
    if len(large := np.flatnonzero(values.ravel() >= len(small))):
        found.ravel()[large] = 1 + np.floor(fine * np.log2(values.ravel()[large]))
    return found


@cache
def _small_bins(fine: int) -> Array:
    """The bins of counts that are met most."""
    return np.append(0, 1 + np.floor(fine * np.log2(np.arange(1, 1 << 12)))).astype(np.int64)


def _ends(
    counts: Array, margin: Callable[[int], Reals], least: Array | int, most: Array | float
) -> tuple[Reals, Reals]:
    """Both ends, from margins below (0) and above (1) together, and below (2) and above (3) alone.

    A side on which the truth cannot lie any further needs no margin: all of alpha is for the other.
    """
    lower: Reals = counts - margin(0)
    floor = lower <= least
    upper = np.asarray(counts + np.where(floor, margin(3), margin(1)), float)
    roof = (upper >= most) & ~floor
    if roof.any():
        lower = np.where(roof, counts - margin(2), lower)
    return lower, upper


def _taken(margins: Reals, group: NDArray[np.integer[Any]]) -> Callable[[int], Reals]:
    """The margins of each number's group."""
    return lambda side: margins[side].take(group)


def _fit(seen: _Seen, cells: int, alpha: float) -> tuple[NDArray[np.int32], Reals]:
    """For every label its group, and for every group its margins: below and above, together and either alone."""
    group, last = _groups(seen.label, cells, enough_for(alpha))
    own: Array = group[seen.label].astype(np.int64)
    # The groups by size alone learn from all counts of the size, not only from those that are in no other.
    size = seen.label // (cells * _REGIONS)
    more = np.flatnonzero(own != last[size])
    errors = seen.at(np.concatenate([np.arange(len(own)), more]))
    groups = np.concatenate([own, last[size[more]]])
    sorted_ = [_Sorted.of(errors.at(part), groups[part]) for part in _folds(errors.table)]
    kind = _joined_classes(seen.kind)
    many = int(last.max()) + 1
    weight, tail = np.ones(len(kind)), 0.75 * alpha  # of one table there is nothing to judge by
    if len(sorted_) == 2:
        weight, tail = _weights(seen, own, sorted_, kind, many, alpha)
    return group, _Sorted.of(errors, groups).margins(weight[kind], many, tail)


def _folds(table: Array) -> list[Array]:
    parts = [np.flatnonzero(table == fold) for fold in (0, 1)]
    return [part for part in parts if len(part)]


def _groups(label: Array, cells: int, enough: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Groups with enough errors, as fine as can be: of every label, and those by size alone, of every size."""
    count = np.bincount(label, minlength=_SIZES * _REGIONS * cells).reshape(-1, cells)
    found = np.full(count.shape, -1, np.int32)
    fine = count >= enough
    found[fine] = np.arange(np.count_nonzero(fine))
    left = np.where(fine, 0, count).sum(axis=1)
    coarse = left >= enough
    numbers = np.count_nonzero(fine) + np.cumsum(coarse) - 1
    found = np.where((found < 0) & coarse[:, None], numbers[:, None], found).astype(np.int32)
    first = np.count_nonzero(fine) + np.count_nonzero(coarse)
    last = (first + _joined(count.reshape(_SIZES, -1).sum(axis=1), enough)).astype(np.int32)
    by_size = found.reshape(_SIZES, -1)
    return np.where(by_size < 0, last[:, None], by_size).ravel(), last


def _joined(count: Array, enough: int) -> Array:
    """Neighbouring bins under one number, so that each has enough; what is left over at the top joins the last."""
    number, held = 0, 0
    numbers = np.zeros(len(count), np.int64)
    for place, more in enumerate(count):
        numbers[place] = number
        held += int(more)
        if held >= enough:
            number, held = number + 1, 0
    if number and held < enough:
        numbers[numbers == number] = number - 1
    return numbers


def _joined_classes(kind: Array) -> Array:
    """For every class of true sizes the number it goes by, so that each has errors enough to be judged by."""
    return _joined(np.bincount(kind, minlength=len(_CLASSES) - 1), _FEW)


@dataclass(frozen=True, slots=True, eq=False)
class _Sorted:
    """Errors by group and then by size, so that quantiles under any weights are two searches in running sums."""

    error: Array
    kind: Array
    group: Array

    @classmethod
    def of(cls, errors: _Seen, group: Array) -> _Sorted:
        least, span = int(errors.error.min()), int(errors.error.max() - errors.error.min()) + 1
        order = np.argsort(group * span + (errors.error - least), kind="stable")
        return cls(errors.error[order], errors.kind[order], group[order])

    def margins(self, weight: Reals, groups: int, alpha: float) -> Reals:
        """Weighted quantiles of every group's errors; `weight` is that of each class. NaN for a group without any."""
        running = np.concatenate([[0.0], np.cumsum(weight[self.kind])])
        first, end = (np.searchsorted(self.group, np.arange(groups), side) for side in ("left", "right"))
        total = running[end] - running[first]
        found = np.full((4, groups), np.nan)
        some = end > first
        for row, tail in ((0, alpha / 2), (2, alpha)):
            for side, share in ((row, 1 - tail), (row + 1, tail)):
                at = np.searchsorted(running, running[first] + share * total, "left" if share > 0.5 else "right") - 1
                error = self.error[np.clip(at, first, end - 1)[some]]
                found[side][some] = error if side == row else -error
        return found


def _weights(
    seen: _Seen, own: Array, folds: list[_Sorted], kind: Array, groups: int, alpha: float
) -> tuple[Reals, float]:
    """A weight for each class of true sizes, and the share of all weighed errors to leave out.

    Such that no class is missed more often than aimed at, nor much less often.
    """
    classes, many = kind[seen.kind], int(kind.max()) + 1
    aim = np.empty(many)
    for least, part in _AIMS:
        aim[kind[np.searchsorted(_CLASSES, least) :].min() :] = part * alpha
    weight, tail, little = np.ones(many), alpha, alpha / 16
    least_worst, best = np.inf, (weight, tail)
    tests = [(errors, np.flatnonzero(seen.table == 1 - fold)) for fold, errors in enumerate(folds)]
    for _ in range(_TURNS):
        missed, tried = np.zeros(many), np.zeros(many)
        for errors, other in tests:
            margins = errors.margins(weight[kind], groups, tail)
            known = other[~np.isnan(margins[0])[own[other]]]
            published = seen.published[known]
            exact = published - seen.error[known]
            low, high = _ends(published, _taken(margins, own[known]), 0, np.inf)
            outside = (np.minimum(low, published) > exact) | (np.maximum(high, published) < exact)
            missed += np.bincount(classes[known], weights=outside, minlength=many)
            tried += np.bincount(classes[known], minlength=many)
        # Of few errors little is concluded.
        share = (missed + _DOUBT * aim) / (tried + _DOUBT)
        if (worst := float((share / aim).max())) < least_worst:
            least_worst, best = worst, (weight, tail)
        more = np.clip((share + little) / (aim + little), 0.4, 2.5) ** 0.8
        common = float(np.exp(np.log(more).mean()))
        tail = min(max(tail / common, alpha / 8), alpha)
        weight = weight * more
        weight = np.maximum(weight / weight.max(), 1e-6)
    return best
