"""A few quantiles of a histogram by private selections: no noise on the counts, only on the choice of a bin.

What the selections share: the score of a bin, how epsilon is divided, and how an interval is made of three choices.
`QuantileExponential` and `QuantileFlip` say how one is made.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named, plain
from discreet.core.exact import Number
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.mechanisms.inputs import read_confidence, read_count, read_epsilon, read_outputs, read_probability_inside
from discreet.mechanisms.quantile import Quantile, read_bins, read_histogram, read_quantiles
from discreet.noise.bits import SystemBits
from discreet.noise.choice import Gaps

__all__ = ["ByChoice"]

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

    def __attrs_post_init__(self) -> None:
        # What follows from the parameters is refused here: found out among the rows, it would tell how many there are.
        if self.confidence is not None and max(self._reach(q) for q in self.quantiles) >= _FARTHEST:
            raise InputError("epsilon", plain(self.epsilon), "larger: with an interval, ranks so far off leave 64 bits")

    @property
    def choices(self) -> int:
        """How many selections share epsilon."""
        return len(self.quantiles) * (1 if self.confidence is None else 3)

    def rate(self, q: Fraction) -> Fraction:
        """By how much the log-probability falls with each rank of error: epsilon' / (2 rows max(q, 1 - q))."""
        return self.epsilon / self.choices / (2 * self.rows * max(q, 1 - q))

    def select(self, gaps: Gaps, bits: Bits) -> int:
        """One index, private: the better its score, the likelier."""
        raise NotImplementedError

    def shortfall(self, rate: Fraction, miss: Fraction) -> Fraction:
        """A bound t with P[best - selected > t] <= miss for every list of as many scores as there are bins."""
        raise NotImplementedError

    def release(self, counts: Integers, *, bits: Bits | None = None) -> list[Quantile]:
        """The bin of each quantile, with its interval if a confidence was asked for."""
        below = np.concatenate([[0], np.cumsum(read_histogram(counts, self.bins))])
        source = bits if bits is not None else SystemBits()
        answers = []
        for q in self.quantiles:
            at, lower, upper = self._choose(below, q, 0, source), 0, self.bins - 1
            if self.confidence is not None:
                reach = self._reach(q)
                # One more than the choice may miss by, so that the rank found is truly below.
                lower = min(at, self._choose(below, q, -(reach + 1), source))
                upper = max(at, self._choose(below, q, reach, source))
            answers.append(Quantile(q, at, lower, upper, self.confidence))
        return answers

    def error(self, confidence: float = 0.95, k: int = 1) -> Fraction:
        """The rank error that `k` of these quantiles stay within, all at once, with probability at least `confidence`.

        The worst case, whatever the histogram: every bin but one is that far off.
        """
        miss = (1 - read_confidence(confidence)) / read_outputs(k)
        return max(Fraction(self._miss(q, miss), q.denominator) for q in self.quantiles)

    def _reach(self, q: Fraction) -> int:
        """How far, in ranks times the denominator of q, the ends of an interval aim beside the quantile."""
        return self._miss(q, (1 - (self.confidence or Fraction())) / 2)

    def _miss(self, q: Fraction, chance: Fraction) -> int:
        """What a choice stays within except with that chance, in ranks times the denominator of q, rounded up."""
        return -(-self.shortfall(self.rate(q) / q.denominator, chance) // 1)

    def _choose(self, below: NDArray[np.int64], q: Fraction, shift: int, bits: Bits) -> int:
        return self.select(Gaps(-_miss_ranks(below, q, shift), self.rate(q) / q.denominator), bits)


def _miss_ranks(below: NDArray[np.int64], q: Fraction, shift: int) -> NDArray[np.int64]:
    """How far each bin is off the rank q n + shift/denominator, times the denominator of q.

    `below[j]` counts the rows before bin j. The first bin is never too high and the last never too low: there the
    grid ends, and a rank beyond all rows is nobody's.
    """
    top, bottom = q.numerator, q.denominator
    target = top * int(below[-1]) + shift
    high = bottom * below[:-1] - target
    low = target - bottom * below[1:]
    high[0], low[-1] = 0, 0
    return np.maximum(np.maximum(high, low), 0)
