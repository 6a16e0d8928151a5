"""Fewer codes where there is little to tell apart: bins found from noisy counts of single columns, and undone in rows.

Everything here works on what was measured. Of codes with an order a heavy one stands alone, so that what is true of it
is not mixed with its neighbours, and light ones are merged until a bin holds enough rows; of those without, the rare
ones are put together. When rows are made each bin is opened again, in the proportions that were measured, as far as
they can be told from noise and, where codes have an order, with what their neighbours say. A column may have many
thousand codes: nothing here has a cell for every code and bin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.partition import Partition
from discreet.synth.descent import Target
from discreet.synth.junction import Floats
from discreet.synth.model import noisy_total, simplex
from discreet.synth.sample import Codes, open_bins
from discreet.synth.smoothing import calm_counts, smooth_counts

__all__ = ["BINS", "Compression", "compress", "shares_in_bins"]

_CLEAR = 3.0  # standard deviations of noise that a bin must rise above
_SHORT = 24  # columns with so few ordered codes are merged only where noise hides them
BINS = 32
"""Longer ones are merged to bins that hold about one part in so many of all rows, unless said otherwise."""
_LONG = 1000  # columns with more codes are merged so also where all others are only where noise hides them


@dataclass(frozen=True, slots=True, eq=False)
class Compression:
    """Which bin each code is in, what single columns were measured as in bins, and the codes' shares of their bin."""

    bins: tuple[NDArray[np.int64], ...]
    targets: tuple[Target, ...]
    shares: tuple[Floats, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many bins each column has."""
        return tuple(int(one.max()) + 1 for one in self.bins)

    def expand(self, rows: Codes, bits: Bits) -> Codes:
        """Rows of bins as rows of codes: each bin's rows are dealt to its codes by their shares."""
        codes = rows.copy()
        for column, (bins, shares) in enumerate(zip(self.bins, self.shares, strict=True)):
            if not np.array_equal(bins, np.arange(len(bins))):
                codes[:, column] = open_bins(bins, shares, rows[:, column], bits)
        return codes


def compress(domain: Domain, measured: Sequence[Target], total: float, parts: int = BINS) -> Compression:
    """Bins for every column, from its measured counts; of long ordered ones each holds one of `parts` of `total` rows.

    Where `total` is zero codes are merged only where noise hides them, unless there are very many.
    """
    bins, targets, shares = [], [], []
    whole, doubt = noisy_total(measured), 1 / sum(1 / target.total()[1] for target in measured)
    for attribute, target in zip(domain.attributes, measured, strict=True):
        deviation = float(np.sqrt(np.max(target.variance)))
        # All columns have the same number of rows, which all of them together say best: what is over or missing in one
        # column is noise. Of many codes it is much, and the bin of the rare ones would get nearly all of it.
        counts = target.values + (whole - target.values.sum()) / target.values.size
        one = _bins(attribute, counts, deviation, total, parts)
        part = np.bincount(one) / len(one)  # of the codes
        values: Floats = np.bincount(one, weights=counts).astype(np.float64)
        variance: Floats = deviation**2 * len(one) * part * (1 - part) + doubt * part**2
        bins.append(one)
        targets.append(Target(target.columns, values, variance))
        shares.append(shares_in_bins(counts, deviation, one, attribute.ordered))
    return Compression(tuple(bins), tuple(targets), tuple(shares))


def _bins(attribute: Attribute, counts: Floats, deviation: float, total: float, parts: int) -> NDArray[np.int64]:
    size = attribute.size
    inner = size - 1 if attribute.missing and size > 1 else size  # a missing value is nobody's neighbour
    if attribute.ordered:
        whole = total if total > 0 or size <= _LONG else float(counts.sum())
        floor = max(whole, 0.0) / parts if size > _SHORT else 0.0
        zero = min(_negative(attribute), inner)  # numbers of either sign are never put together
        parted = [_runs(part, deviation, floor) for part in (counts[:zero], counts[zero:inner]) if len(part)]
        found = parted[0] if len(parted) == 1 else np.concatenate([parted[0], parted[0].max() + 1 + parted[1]])
    else:
        found = _others(counts[:inner], deviation)
    return np.concatenate([found, np.arange(found.max() + 1, found.max() + 1 + size - inner)]).astype(np.int64)


def _negative(attribute: Attribute) -> int:
    """How many codes stand for numbers below zero."""
    cut = attribute.partition
    if not isinstance(cut, Partition) or cut.origin >= 0 or attribute.labels[0] is None:
        return 0
    return int(np.searchsorted(cut.starts, math.ceil(-cut.origin / cut.unit)))


def _clear(size: int, deviation: float) -> float:
    """What a count must reach to be told from noise, where so many might reach it by chance."""
    return max(_CLEAR, math.sqrt(2 * math.log(size))) * deviation


def _runs(counts: Floats, deviation: float, floor: float) -> NDArray[np.int64]:
    """Heavy codes alone; light ones with their neighbours until their sum is clear of its noise and reaches the floor.

    Where a heavy code comes between light ones, a sum that is clear of its noise ends too; one that is not goes on
    behind it. So there are at most about twice as many bins as heavy codes and floors together.
    """
    clear = _clear(len(counts), deviation)
    heavy, enough = max(floor, clear), max(floor, clear)
    bins, last, run = [0] * len(counts), -1, -1  # `last` bin there is, and the one that light codes go into now
    mass, many, most, before = 0.0, 0, 0.0, -1  # of it; and the light bin that was full before
    for code, count in enumerate(counts.tolist()):
        if count >= heavy:
            last += 1
            bins[code] = last
            if run >= 0 and mass >= clear * many**0.25:
                run, before = -1, run
            continue
        if run < 0:
            last += 1
            run, mass, many, most = last, 0.0, 0, 0.0
        bins[code] = run
        mass, many, most = mass + count, many + 1, max(most, count)
        # Sums of many counts have more noise: one clear count will do, or a sum that is clear of some of that too.
        if mass >= enough and (most >= clear or mass >= clear * many**0.25):
            run, before = -1, run
    found = np.array(bins, dtype=np.int64)
    if run >= 0 and mass < clear:  # too little is left over: the light codes before get it, or whoever comes before
        found[found == run] = before if before >= 0 else max(run - 1, 0)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _others(counts: Floats, deviation: float) -> NDArray[np.int64]:
    """Values that noise hides go into one bin, the last; all others stay."""
    clear = counts >= _clear(len(counts), deviation)
    found = np.cumsum(clear) - 1
    found[~clear] = clear.sum()
    return found


def shares_in_bins(counts: Floats, deviation: float, bins: NDArray[np.int64], ordered: bool = False) -> Floats:
    """What part of its bin each code is taken to be, from noisy counts of codes and the deviation of their noise."""
    shares = np.ones(len(bins))
    smooth = smooth_counts(counts, deviation, bins) if ordered else None
    order = np.argsort(bins, kind="stable")
    for places in np.split(order, np.cumsum(np.bincount(bins))[:-1]):
        mass = float(counts[places].sum())
        if len(places) > 1:
            even = np.full(len(places), 1 / len(places))
            near = calm_counts(counts[places], deviation)[0] if smooth is None else smooth[places]
            shares[places] = even if mass <= 0 else simplex(near, mass) / mass
    return shares
