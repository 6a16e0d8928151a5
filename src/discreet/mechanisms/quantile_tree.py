"""Any number of quantiles of a histogram from one tree of noisy counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import at_least, named, plain
from discreet.core.exact import Number
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits, Integers
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError
from discreet.mechanisms.blend import one_sided
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon_or_none,
    read_outputs,
    read_probability_inside,
)
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile, read_bins, read_histogram, read_quantiles
from discreet.noise.bits import SystemBits

__all__ = ["QuantileTree", "RankCurve", "rising"]

_USUAL = 0.005  # chances below are of tails that no normal law describes
_POOLED = 1 << 14  # bins; more are not worth the time, and the guaranteed interval stands


@frozen(field_transformer=named)
class QuantileTree:
    """Noisy counts of every node of a tree over the bins; from them the rank of every bin, and quantiles.

    A unit has at most `rows` rows in the histogram. The tree has the fewest levels that nodes of at most `branching`
    children allow, and then the fewest children. Counts are made consistent by weighted averaging (the least-squares
    estimate). `release` searches a list of quantiles; `measure` returns the whole curve, to search later for free.

    Guarantee
        epsilon-differential privacy (or rho-zCDP) of all noisy counts together, when a unit is added or removed, so
        of everything computed from them. Proof: docs/proofs/quantile-tree.md.

    >>> tree = QuantileTree(bins=4, epsilon=1)
    >>> [answer.at for answer in tree.release([0, 10**6, 10**6 + 100, 0], [0.25, 0.75])]
    [1, 2]
    """

    bins: int = field(converter=read_bins)
    epsilon: Fraction | None = field(default=None, converter=read_epsilon_or_none)
    rho: Fraction | None = field(default=None, converter=read_epsilon_or_none, kw_only=True)
    branching: int = field(default=16, converter=read_count, validator=at_least(2), kw_only=True)
    rows: int = field(default=1, converter=read_count, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise InputError("epsilon", plain(self.epsilon), "given if rho is not, and left out if it is")
        self.noise  # noqa: B018  a scale out of range is refused here

    @property
    def levels(self) -> int:
        """How many nodes one row is counted in. There is no root: the total is the sum of the highest level."""
        return next(levels for levels in range(1, 64) if self.branching**levels >= self.bins)

    @property
    def children(self) -> int:
        """Of every node: the fewest that reach all bins in `levels` levels."""
        least = max(2, math.floor(self.bins ** (1 / self.levels)) - 1)
        return next(width for width in range(least, least + 5) if width**self.levels >= self.bins)

    @property
    def noise(self) -> Laplace | Gaussian:
        """On every node."""
        if self.epsilon is not None:
            return Laplace.for_epsilon(self.epsilon, self._moved)
        return Gaussian.for_rho(self.rho or 1, self._moved)

    @property
    def _moved(self) -> Sensitivity:
        return Sensitivity(each=self.rows, outputs=self.levels)

    def loss(self) -> Loss:
        """What the noisy counts cost, and so any number of quantiles."""
        return self.noise.loss(self._moved)

    def measure(self, counts: Integers, *, bits: Bits | None = None) -> RankCurve:
        """The estimated rank of every bin."""
        ranks = self._ranks(counts, 1, bits)[0]
        return RankCurve(self, ranks[: self.bins], float(ranks[-1]))

    def measure_many(self, counts: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.float64]:
        """The ranks that so many measurements estimate, each at the full loss, as rows: to try the mechanism out."""
        return self._ranks(counts, read_count(runs, "runs"), bits)[:, : self.bins]

    def _ranks(self, counts: Integers, runs: int, bits: Bits | None) -> NDArray[np.float64]:
        width, noise, source = self.children, self.noise, bits if bits is not None else SystemBits()
        exact = np.zeros((runs, width**self.levels), dtype=np.int64)
        exact[:, : self.bins] = read_histogram(counts, self.bins)
        better: list[NDArray[np.float64]] = []  # of each level from the leaves up: a node and all below it
        for share in _shares(width, self.levels):
            noisy = noise.release(exact.ravel(), bits=source).astype(np.float64).reshape(exact.shape)
            if better:
                noisy = share * noisy + (1 - share) * better[-1].reshape(runs, -1, width).sum(axis=2)
            better.append(noisy)
            exact = exact.reshape(runs, -1, width).sum(axis=2)
        best = better.pop()
        while better:  # what a parent knows beyond its children is spread evenly over them
            below = better.pop().reshape(runs, -1, width)
            best = (below + ((best - below.sum(axis=2)) / width)[:, :, None]).reshape(runs, -1)
        return np.cumsum(best, axis=1)

    def release(
        self,
        counts: Integers,
        quantiles: Iterable[Number] | Number,
        *,
        confidence: float = 0.95,
        bits: Bits | None = None,
    ) -> list[Quantile]:
        """The bin of each quantile, with a confidence interval (not simultaneous)."""
        asked, level = read_quantiles(quantiles), read_confidence(confidence)
        return self.measure(counts, bits=bits).quantiles(asked, level)

    def error(self, confidence: float = 0.95, k: int = 1, *, q: Number | None = None) -> float:
        """The rank error that `k` quantiles stay within, all at once, with probability at least `confidence`.

        For the quantile `q`; for whichever is noisiest if none is given.
        """
        # A search by halving compares twice ceil(log2 bins) fixed ranks at most: see the proof.
        steps = 2 * max(1, (self.bins - 1).bit_length()) * read_outputs(k)
        miss = _chance((1 - read_confidence(confidence)) / steps)
        # The energy is convex in q: it is largest at an end.
        asked = (0.0, 1.0) if q is None else (float(read_probability_inside(q, "q")),)
        most = max(float(self.energy(each).max()) for each in asked)
        return float(one_sided(self.noise, np.array([most]), self._largest, miss)[0])

    def reach(self, q: Number, confidence: Number, *, guaranteed: bool = False) -> float:
        """About how far from the rank, in ranks, an interval reaches: for a bin whose rank is as noisy as most."""
        energy = float(self.energy(float(read_probability_inside(q, "q"))).mean())
        miss = _chance((1 - read_probability_inside(confidence, "confidence")) / 2)
        if guaranteed:
            return float(one_sided(self.noise, np.array([energy]), self._largest, miss)[0])
        return -NormalDist().inv_cdf(miss) * math.sqrt(energy * self.noise.variance)

    def energy(self, q: float) -> NDArray[np.float64]:
        """The variance of (rank of a bin - q total) for every bin, in units of that of one noise."""
        width, levels = self.children, self.levels
        shares = _shares(width, levels)
        rank = np.arange(1, self.bins + 1)
        size = width ** (levels - 1)
        whole, part = rank // size, rank % size / size
        inside = np.where(whole < width, (part - q) ** 2 + (width - whole - 1) * q * q, 0.0)
        energy = shares[-1] * (whole * (1 - q) ** 2 + inside)
        for level in range(levels - 2, -1, -1):
            rank, size = rank % size, size // width
            whole, part = rank // size, rank % size / size
            energy = energy + shares[level] * (whole + part**2 - (whole + part) ** 2 / width)
        return np.asarray(energy, dtype=np.float64)

    @property
    def _largest(self) -> float:
        """No noise enters (rank - q total) with a larger weight."""
        passed = np.cumprod([1 - share for share in _shares(self.children, self.levels)[1:]])
        return 1 + float(passed.sum())


@dataclass(frozen=True, slots=True, eq=False)
class RankCurve:
    """How many rows lie in the bins up to each one, estimated: what `QuantileTree.measure` publishes.

    Not monotone: noise is not taken out beyond least squares, so every rank is unbiased.
    """

    tree: QuantileTree
    ranks: NDArray[np.float64]
    total: float

    def quantiles(
        self,
        quantiles: Iterable[Number] | Number,
        confidence: Number = Fraction(95, 100),
        *,
        guaranteed: bool = False,
    ) -> list[Quantile]:
        """The bin of each quantile and its confidence interval (not simultaneous).

        The interval is calibrated: it holds the quantile about as often as stated, which is measured, not proved. If
        `guaranteed` it is the wider one that holds at least as often whatever the histogram; so it is beyond 99%.
        """
        level = read_probability_inside(confidence, "confidence")
        return [self._find(q, level, guaranteed) for q in read_quantiles(quantiles)]

    def _find(self, q: Fraction, confidence: Fraction, guaranteed: bool) -> Quantile:
        ahead = self.ranks - float(q) * self.total
        below, at = -1, self.tree.bins - 1
        while at - below > 1:
            middle = (at + below) // 2
            below, at = (below, middle) if ahead[middle] >= 0 else (middle, at)
        miss = _chance((1 - confidence) / 2)
        ranked, usual, least = _widths(self.tree, self.tree.noise, float(q), miss)
        if self.total <= least:  # perhaps there are no rows at all
            return Quantile(q, at, 0, self.tree.bins - 1, confidence)
        # A running sum of floats is off by at most 2^-53 of its largest value a step.
        width = ranked + (self.tree.bins + 100) * 2.0**-52 * float(np.abs(self.ranks).max())
        lower, upper = _kept(ahead, width, at)
        if not guaranteed and miss >= _USUAL and upper - lower < _POOLED:
            # Ranks never fall: pooled, they err less, and no bin is kept for one stray noise far from the others.
            inside = slice(lower, upper + 1)
            first, last = _kept(rising(ahead[inside]), usual[inside], at - lower)
            lower, upper = lower + first, lower + last
        return Quantile(q, at, lower, upper, confidence)


def _shares(width: int, levels: int) -> list[float]:
    """From the leaves up, the weight of a node's own count beside the sum of its children; also its variance."""
    return [(width**level - width ** (level - 1)) / (width**level - 1) for level in range(1, levels + 1)]


def _kept(ahead: NDArray[np.float64], width: NDArray[np.float64], at: int) -> tuple[int, int]:
    """The first and the last bin that may hold the quantile, around the one found.

    A bin is out if its own rank is clearly short of q n, or if the rank of the one before is clearly enough.
    """
    possible = ahead >= -width
    possible[-1] = True
    possible[1:] &= ahead[:-1] <= width[:-1]
    place = np.flatnonzero(possible)
    return (int(min(place[0], at)), int(max(place[-1], at))) if len(place) else (at, at)


@lru_cache(maxsize=8)  # a width for each bin is kept
def _widths(
    tree: QuantileTree, noise: Laplace | Gaussian, q: float, miss: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """How far (rank - q total) of each bin strays at most and usually, and the total.

    The same for every histogram, so found once. Usually: a normal law, and how much longer the tails of a few Laplace
    noises are (Cornish and Fisher's first correction, for the largest excess kurtosis these weights can have).
    """
    energy = tree.energy(q)
    some = np.array([_shares(tree.children, tree.levels)[-1] * tree.children])
    total = one_sided(noise, some, tree._largest, miss)[0]
    z = -NormalDist().inv_cdf(miss)
    excess = np.minimum(3.0, 3 * tree._largest**2 / energy) if isinstance(noise, Laplace) else np.zeros_like(energy)
    usual = np.sqrt(energy * noise.variance) * (z + max(z**3 - 3 * z, 0.0) * excess / 24)
    return one_sided(noise, energy, tree._largest, miss), usual, float(total)


def _chance(exact: Fraction) -> float:
    chance = float(exact)
    if chance == 0:
        raise InputError("confidence", float(1 - exact), "further below 1: floating point reads it as 1")
    return chance


def rising(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers x_0 <= x_1 <= ... for which the sum of (x - values)^2 is least: neighbours that fall are pooled.

    >>> rising(np.array([1.0, 4.0, 2.0, 5.0])).tolist()
    [1.0, 3.0, 3.0, 5.0]
    """
    means: list[float] = []
    lengths: list[int] = []
    for value in values.tolist():
        mean, length = value, 1
        while means and means[-1] > mean:
            before = lengths.pop()
            mean = (mean * length + means.pop() * before) / (length + before)
            length += before
        means.append(mean)
        lengths.append(length)
    return np.repeat(np.array(means), lengths)
