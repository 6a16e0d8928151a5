"""A few quantiles of a histogram by private selections: no noise on the counts, only on the choice of a bin.

What the selections share: the score of a bin, how epsilon is divided, and how an interval is made of three choices:
a bin, and for either end a segment of the bins below or above it. `QuantileExponential` and `QuantileFlip` say how a
choice is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named, plain
from discreet.core.exact import Number
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon,
    read_flag,
    read_outputs,
    read_probability_inside,
)
from discreet.mechanisms.quantile import Quantile, read_bins, read_histogram, read_quantiles
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps

__all__ = ["ByChoice", "Segments", "downward", "most_segments", "upward"]

Segments = tuple[NDArray[np.int64], NDArray[np.int64]]  # the first and the last bin of each, from the nearest on


def downward(at: int) -> Segments:
    """The bin `at`, then those below it down to the first.

    >>> [bins.tolist() for bins in downward(7)]
    [[7, 6, 5, 4, 3, 1, 0], [7, 6, 5, 4, 3, 2, 0]]
    """
    outer = at - _distances(at)
    return outer, np.concatenate([outer[:1], outer[:-1] - 1])


def upward(at: int, bins: int) -> Segments:
    """The bin `at`, then those above it up to the last."""
    outer = at + _distances(bins - 1 - at)
    return np.concatenate([outer[:1], outer[:-1] + 1]), outer


def most_segments(bins: int) -> int:
    """How many segments there are at most on one side of a bin."""
    return len(_distances(bins - 1))


@lru_cache(maxsize=4096)
def _distances(farthest: int) -> NDArray[np.int64]:
    return np.fromiter(_grow(farthest), dtype=np.int64)


def _grow(farthest: int) -> Iterator[int]:
    """0, 1, 2, 3, 4, 6, 9, 13, ... as long as they stay below the last, then the last."""
    distance = 0
    while distance < farthest:
        yield distance
        distance = max(distance + 1, distance * 3 // 2)
    yield farthest


_FARTHEST = 2**61  # ranks times a denominator are below 2**62; a target moved by less than this stays inside 64 bits


def _confidence(value: Number | None) -> Fraction | None:
    return None if value is None else read_probability_inside(value, "confidence")


@frozen(field_transformer=named)
class ByChoice:
    """Choose a bin for each quantile, by a selection that prefers a small rank error."""

    quantiles: tuple[Fraction, ...] = field(converter=read_quantiles)
    epsilon: Fraction = field(converter=read_epsilon)
    bins: int = field(converter=read_bins)
    rows: int = field(default=1, converter=read_count)
    confidence: Fraction | None = field(default=None, converter=_confidence)
    guaranteed: bool = field(default=False, converter=read_flag, kw_only=True)

    # Segments, of which one is right: where rows do not keep to a few bins, intervals made for so many hold.
    usual: ClassVar[int]

    def __attrs_post_init__(self) -> None:
        # What follows from the parameters is refused here: found out among the rows, it would tell how many there are.
        if self.confidence is not None and max(sum(self._reach(q)) for q in self.quantiles) >= _FARTHEST:
            raise InputError(
                "epsilon", plain(self.epsilon), "larger: with an interval, ranks so far away exceed 64 bits"
            )

    @property
    def choices(self) -> int:
        """How many selections share epsilon."""
        return len(self.quantiles) * (1 if self.confidence is None else 3)

    def rate(self, q: Fraction) -> Fraction:
        """By how much the log-probability falls with each rank of error: epsilon' / (2 rows max(q, 1 - q))."""
        return self.epsilon / self.choices / (2 * self.rows * max(q, 1 - q))

    def reach(self, q: Number) -> Fraction:
        """How far from the rank, in ranks, the ends of an interval aim."""
        share = read_probability_inside(q, "q")
        return Fraction(self._reach(share)[0], share.denominator)

    def select(self, gaps: Gaps, bits: Bits) -> int:
        """One index, private: the better its score, the likelier."""
        raise NotImplementedError

    def select_many(self, gaps: Gaps, count: int, bits: Bits) -> NDArray[np.int64]:
        """So many indices, each selected by itself."""
        raise NotImplementedError

    def law(self, gaps: Gaps) -> NDArray[np.float64]:
        """How likely each is selected."""
        raise NotImplementedError

    def shortfall(self, rate: Fraction, miss: Fraction, k: int) -> Fraction:
        """A bound t with P[best - selected > t] <= miss for every list of k scores."""
        raise NotImplementedError

    def release(self, counts: Integers, *, bits: Bits | None = None) -> list[Quantile]:
        """The bin of each quantile, with its interval if a confidence was asked for."""
        below = np.concatenate([[0], np.cumsum(read_histogram(counts, self.bins))])
        source = bits if bits is not None else SystemBits()
        each = np.arange(self.bins)
        answers = []
        for q in self.quantiles:
            at, lower, upper = self._choose(below, q, 0, (each, each), source), 0, self.bins - 1
            if self.confidence is not None:
                reach, more = self._reach(q)
                # One more than the choice may miss by, so that the rank found is truly below.
                down, up = downward(at), upward(at, self.bins)
                lower = int(down[0][self._choose(below, q, -(reach + 1), down, source, more)])
                upper = int(up[1][self._choose(below, q, reach, up, source, more)])
            answers.append(Quantile(q, at, lower, upper, self.confidence))
        return answers

    def release_many(self, counts: Integers, runs: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """The bins that so many releases choose, each at the full loss, one column a quantile; without intervals."""
        source, count = bits if bits is not None else SystemBits(), read_count(runs, "runs")
        return np.column_stack([self.select_many(gaps, count, source) for gaps in self._bin_gaps(counts)])

    def probabilities(self, counts: Integers) -> list[list[float]]:
        """For each quantile how likely each bin is chosen, for counts that are known."""
        return [[float(chance) for chance in self.law(gaps)] for gaps in self._bin_gaps(counts)]

    def _bin_gaps(self, counts: Integers) -> list[Gaps]:
        if self.confidence is not None:
            raise InputError("confidence", plain(self.confidence), "left out: an interval is chosen in three steps")
        below = np.concatenate([[0], np.cumsum(read_histogram(counts, self.bins))])
        each = np.arange(self.bins)
        return [self._gaps(below, q, 0, (each, each)) for q in self.quantiles]

    def error(self, confidence: float = 0.95, k: int = 1) -> Fraction:
        """The rank error that `k` of these quantiles stay within, all at once, with probability at least `confidence`.

        The worst case, whatever the histogram: every bin but one is that far off.
        """
        miss = (1 - read_confidence(confidence)) / read_outputs(k)
        return max(Fraction(self._miss(q, miss, self.bins), q.denominator) for q in self.quantiles)

    def _reach(self, q: Fraction) -> tuple[int, int]:
        """How far, in ranks times the denominator of q, the ends of an interval aim beside the quantile.

        And how much better than its rank the segment at the end of the grid is taken to be, so that an interval for no
        rows is the whole grid.
        """
        miss, segments = 1 - (self.confidence or Fraction()), most_segments(self.bins)
        reach = self._miss(q, miss, segments if self.guaranteed else min(self.usual, segments))
        return reach, self._miss(q, miss / 2, segments) - reach

    def _miss(self, q: Fraction, chance: Fraction, k: int) -> int:
        """What a choice of k stays within except with that chance, in ranks times the denominator of q, rounded up."""
        return -(-self.shortfall(self.rate(q) / q.denominator, chance, k) // 1)

    def _choose(
        self, below: NDArray[np.int64], q: Fraction, shift: int, among: Segments, bits: Bits, more: int = 0
    ) -> int:
        return self.select(self._gaps(below, q, shift, among, more), bits)

    def _gaps(self, below: NDArray[np.int64], q: Fraction, shift: int, among: Segments, more: int = 0) -> Gaps:
        scores = -_miss_ranks(below, q, shift, among)
        scores[-1] += more
        return Gaps(scores, self.rate(q) / q.denominator)


def _miss_ranks(below: NDArray[np.int64], q: Fraction, shift: int, among: Segments) -> NDArray[np.int64]:
    """How far each segment is off the rank q n + shift/denominator, times the denominator of q.

    `below[j]` counts the rows before bin j. A segment with the first bin is never too high and one with the last never
    too low: there the grid ends, and a rank beyond all rows is nobody's.
    """
    first, last = among
    top, bottom = q.numerator, q.denominator
    target = top * int(below[-1]) + shift
    high = bottom * below[first] - target
    low = target - bottom * below[last + 1]
    high[first == 0], low[last == len(below) - 2] = 0, 0
    return np.maximum(np.maximum(high, low), 0)
