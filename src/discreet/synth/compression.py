"""Fewer codes where there is little to tell apart: bins found from noisy counts of single columns, and undone in rows.

Everything here works on what was measured. Codes with an order are merged with their neighbours until a bin holds
enough rows; of those without, the rare ones are put together. When rows are made each bin is opened again, in the
proportions that were measured, as far as they can be told from noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.marginals.domain import Attribute, Domain
from discreet.synth.descent import Target
from discreet.synth.junction import Floats
from discreet.synth.model import noisy_total, simplex
from discreet.synth.sample import Codes, deal

__all__ = ["Compression", "compress"]

_CLEAR = 3.0  # standard deviations of noise that a bin must rise above
_SHORT = 24  # columns with so few ordered codes are merged only where noise hides them
_BINS = 32  # and longer ones to about so many bins of equal mass


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
            size = int(bins.max()) + 1
            if np.array_equal(bins, np.arange(len(bins))):
                continue
            table = np.zeros((size, len(bins)))
            table[bins, np.arange(len(bins))] = shares
            codes[:, column] = deal(table, rows[:, column], bits)
        return codes


def compress(domain: Domain, measured: Sequence[Target], total: float) -> Compression:
    """Bins for every column, from its measured counts; long ordered ones of at least a part of `total` rows each."""
    bins, targets, shares = [], [], []
    whole, doubt = noisy_total(measured), 1 / sum(1 / target.total()[1] for target in measured)
    for attribute, target in zip(domain.attributes, measured, strict=True):
        deviation = float(np.sqrt(np.max(target.variance)))
        # All columns have the same number of rows, which all of them together say best: what is over or missing in one
        # column is noise. Of many codes it is much, and the bin of the rare ones would get nearly all of it.
        counts = target.values + (whole - target.values.sum()) / target.values.size
        one = _bins(attribute, counts, deviation, total)
        part = np.bincount(one) / len(one)  # of the codes
        values: Floats = np.bincount(one, weights=counts).astype(np.float64)
        variance: Floats = deviation**2 * len(one) * part * (1 - part) + doubt * part**2
        bins.append(one)
        targets.append(Target(target.columns, values, variance))
        shares.append(_shares(counts, deviation, one))
    return Compression(tuple(bins), tuple(targets), tuple(shares))


def _bins(attribute: Attribute, counts: Floats, deviation: float, total: float) -> NDArray[np.int64]:
    size = attribute.size
    inner = size - 1 if attribute.missing and size > 1 else size  # a missing value is nobody's neighbour
    if attribute.ordered:
        floor = total / _BINS if size > _SHORT else 0.0
        found = _runs(counts[:inner], deviation, floor)
    else:
        found = _others(counts[:inner], deviation)
    return np.concatenate([found, np.arange(found.max() + 1, found.max() + 1 + size - inner)]).astype(np.int64)


def _runs(counts: Floats, deviation: float, floor: float) -> NDArray[np.int64]:
    """Neighbours together until their sum is clear of its noise and reaches the floor."""
    clear = _CLEAR * deviation
    starts, mass, many, most = [0], 0.0, 0, 0.0
    for code, count in enumerate(counts):
        mass, many, most = mass + float(count), many + 1, max(most, float(count))
        # Sums of many counts have more noise: one clear count will do, or a sum that is clear of some of that too.
        if mass >= max(floor, clear) and (most >= clear or mass >= clear * many**0.25):
            starts.append(code + 1)
            mass, many, most = 0.0, 0, 0.0
    if starts[-1] == len(counts) or (starts[-1] > 0 and mass < clear):  # too little is left over: the last bin gets it
        starts.pop()
    cuts = np.zeros(len(counts), dtype=np.int64)
    cuts[starts[1:]] = 1
    return np.cumsum(cuts)


def _others(counts: Floats, deviation: float) -> NDArray[np.int64]:
    """Values that noise hides go into one bin, the last; all others stay."""
    clear = counts >= _CLEAR * deviation
    found = np.cumsum(clear) - 1
    found[~clear] = clear.sum()
    return found


def _shares(counts: Floats, deviation: float, bins: NDArray[np.int64]) -> Floats:
    """What part of its bin each code is taken to be."""
    shares = np.zeros(len(bins))
    for one in range(int(bins.max()) + 1):
        places = np.flatnonzero(bins == one)
        mass = float(counts[places].sum())
        if len(places) == 1 or mass <= 0:
            shares[places] = 1 / len(places)
        else:
            shares[places] = simplex(_calmed(counts[places], deviation), mass) / mass
    return shares


def _calmed(counts: Floats, deviation: float) -> Floats:
    """Counts drawn towards their mean as far as noise may have spread them, but for those that stand out clearly."""
    rest = np.ones(len(counts), dtype=bool)
    for _ in range(3):
        rest = counts - counts[rest].mean() <= _CLEAR * deviation
    calm, inside = counts.copy(), counts[rest]
    middle = inside.mean()
    spread = float(((inside - middle) ** 2).sum())
    signal = spread - (len(inside) - 1) * deviation**2
    calm[rest] = middle + (max(signal / spread, 0.0) if spread > 0 else 0.0) * (inside - middle)
    return calm
