"""Quantiles of the errors seen in simulations, pooled over numbers that look alike to a reader."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

__all__ = ["ErrorQuantiles"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_MOST = 1 << 20  # errors stored of one run: plenty for any quantile
_SIZES, _REGIONS = 48, 24


class ErrorQuantiles:
    """Errors of the counts of one level: what was published less what should have been."""

    __slots__ = ("_errors", "_labels", "_square", "_sum", "_times")

    def __init__(self) -> None:
        self._errors: list[Array] = []
        self._labels: list[tuple[Array, ...]] = []
        self._sum: Reals | None = None
        self._square: Reals | None = None
        self._times = 0

    def add(self, published: Array, exact: Array) -> None:
        """One run: what was published and what should have been, regions in rows and cells in columns."""
        error = published - exact
        self._sum = error.astype(float) + (0.0 if self._sum is None else self._sum)
        self._square = error.astype(float) ** 2 + (0.0 if self._square is None else self._square)
        every = -(-error.size // _MOST)
        some = slice(self._times % every, None, every)
        self._errors.append(error[some].ravel())
        self._labels.append(tuple(label[some].ravel() for label in _looks(published)))
        self._times += 1

    def interval(
        self, published: Array, deviation: Reals, factor: float, alpha: float, least: Array, most: Array
    ) -> tuple[Array, Array]:
        """From where to where the true counts lie, all but a share `alpha` of them; within `least` and `most`.

        Where too few errors were seen for quantiles, `factor` times the `deviation` of the linear estimate is the
        half-width.
        """
        errors = np.concatenate(self._errors)
        enough = math.ceil(20 / alpha)
        if len(errors) < enough:
            margins = self._from_deviation(deviation, factor)
        else:
            margins = np.full((4, *published.shape), np.nan)
            for rank, label in enumerate(_looks(published)):
                seen = np.concatenate([labels[rank] for labels in self._labels])
                if rank == 2:  # sizes alone: neighbours are joined until there are enough of them
                    joined = _joined(np.bincount(seen, minlength=_SIZES), enough)
                    seen, label = joined[seen], joined[label]
                _fill(margins, label, seen, errors, enough, alpha)
        below, above, below_alone, above_alone = margins
        lower, upper = published - below, published + above
        # A side on which the truth cannot lie any further needs no margin: all of alpha is for the other.
        ends = lower <= least, (upper >= most) & (lower > least)
        upper = np.where(ends[0], published + above_alone, upper)
        lower = np.where(ends[1], published - below_alone, lower)
        return (
            np.clip(np.floor(lower), least, most).astype(np.int64),
            np.clip(np.ceil(upper), least, most).astype(np.int64),
        )

    def _from_deviation(self, deviation: Reals, factor: float) -> Reals:
        """Margins for a level of few counts: each moved by its own bias, as far as biases were more than chance."""
        if self._sum is None or self._square is None:
            raise InputError("errors", Phrase("none"), "at least one run")
        mean = self._sum / self._times
        noise = float(np.mean((self._square / self._times - mean**2) / deviation**2)) * self._times / (self._times - 1)
        drift = float(np.mean((mean / deviation) ** 2))
        trust = max(0.0, 1 - noise / self._times / drift) if drift > 0 else 0.0
        half = factor * deviation * math.sqrt(max(noise, 1.0) * (1 + trust / self._times))
        return np.stack([half + trust * mean, half - trust * mean] * 2)


def _looks(counts: Array) -> tuple[Array, Array, Array]:
    """What a reader sees of a count: its size, the size of its region and its cell; the first two; the first alone."""
    size = np.minimum(_log_bin(counts, 2), _SIZES - 1)
    region = np.minimum(_log_bin(counts.sum(axis=1), 1), _REGIONS - 1)[:, None]
    both = size * _REGIONS + region
    return both * counts.shape[1] + np.arange(counts.shape[1]), both, size


def _log_bin(values: Array, fine: int) -> Array:
    """0 alone, then powers of two, `fine` bins each."""
    return np.where(values > 0, 1 + np.floor(fine * np.log2(np.maximum(values, 1))), 0).astype(np.int64)


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


def _fill(margins: Reals, label: Array, seen: Array, errors: Array, enough: int, alpha: float) -> None:
    """Margins, from quantiles of the errors with the same label, where there are enough and none are given yet."""
    count = np.bincount(seen, minlength=int(label.max()) + 1)
    good = np.isnan(margins[0]) & (count[label] >= enough)
    if not good.any():
        return
    least, span = int(errors.min()), int(errors.max() - errors.min()) + 1
    ordered = np.sort(seen * span + (errors - least)) % span + least
    first = np.cumsum(count) - count
    labels = label[good]
    many, start = count[labels], first[labels]
    for place, tail in ((0, alpha / 2), (2, alpha)):
        out = np.floor((many + 1) * tail).astype(np.int64)  # so many are left out at this end
        margins[place][good] = ordered[start + many - out]
        margins[place + 1][good] = -ordered[start + out - 1]
