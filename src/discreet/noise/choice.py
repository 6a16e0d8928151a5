"""Exact selection by score: probabilities proportional to e^(rate * score), over a million candidates if need be.

Candidates are proposed from an integer envelope just above their true weights, computed in floating point with a proven
margin, and kept with exactly the probability that corrects the difference. Only the candidate proposed is ever weighed
in full precision. Large scores cannot overflow: only the gap to the best one enters, and its power of two is carried
beside it until the rate is multiplied in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written, exactly, negative_exp_bounds
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase, kind_of
from discreet.noise.bernoulli import below, below_exp
from discreet.noise.bits import SystemBits, words
from discreet.noise.uniform import uniform

__all__ = ["Gaps", "choice", "flip", "flip_law", "flip_many", "pick", "pick_law", "pick_many", "read_rate"]

_MARGIN = 2.0**-40  # relative float error of e^(-rate * gap) is below 2**-41: see docs/proofs/noise.md
_FAR = 4000  # a power of two beyond every float; powers so far out all mean infinity, or nothing


class Gaps:
    """How far each score is below the best one, exactly and as floats, times a rate."""

    __slots__ = ("_best", "_rate", "_scores", "exponents")

    def __init__(self, scores: Sequence[Any] | NDArray[Any], rate: Fraction) -> None:
        self._rate = rate
        array = _read(scores)
        if array.dtype.kind in "iu":
            best = array.max()
            gaps = (np.uint64(int(best) % 2**64) - array.astype(np.uint64)).astype(np.float64)
            self._scores: Sequence[Any] | NDArray[Any] = array
            self._best = Fraction(int(best))
            self.exponents: NDArray[np.float64] = _times(gaps, np.zeros(len(gaps), dtype=np.int64), rate)
        elif array.dtype.kind == "f" and array.dtype.itemsize <= 8 and _all_floats(scores):
            if not np.isfinite(array).all():
                raise InputError("scores", Phrase("NaN or infinity among them"), "finite numbers")
            array = array.astype(np.float64)
            best = array.max()
            with np.errstate(over="ignore"):
                gaps = best - array
            # A gap beyond the largest float lies between numbers so large that their halves are exact.
            beyond = np.isinf(gaps)
            gaps[beyond] = best / 2 - array[beyond] / 2
            self._scores, self._best = array, Fraction(float(best))
            self.exponents = _times(gaps, beyond.astype(np.int64), rate)
        else:
            exact = [exactly(score, "scores") for score in scores]
            self._scores, self._best = exact, max(exact)
            self.exponents = np.array([_to_float((self._best - score) * rate) for score in exact])

    def __len__(self) -> int:
        return len(self.exponents)

    def exponent(self, index: int) -> Fraction:
        """rate * gap of one candidate, exactly."""
        score = self._scores[index]
        value = score.item() if isinstance(score, np.generic) else score
        return (self._best - exactly(value, "scores")) * self._rate


def _read(scores: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    allowed = "a non-empty list of numbers"
    try:
        array = np.asarray(scores)
    except (ValueError, TypeError):  # rows of different lengths, say
        raise InputError("scores", kind_of(scores), allowed) from None
    if array.ndim != 1 or array.size == 0:
        raise InputError("scores", Phrase(f"an array of shape {array.shape}"), allowed)
    return array


def _all_floats(scores: Sequence[Any] | NDArray[Any]) -> bool:
    """Whether nothing was rounded on the way into a float array: numpy turns mixed long integers into floats."""
    return isinstance(scores, np.ndarray) or all(isinstance(score, (float, np.floating)) for score in scores)


def _times(gaps: NDArray[np.float64], powers: NDArray[np.int64], rate: Fraction) -> NDArray[np.float64]:
    """gaps * 2**powers * rate, rounded twice: only a product that is itself no float overflows or vanishes."""
    power = rate.numerator.bit_length() - rate.denominator.bit_length()
    factor = float(rate / 2**power if power >= 0 else rate * 2**-power)  # between 1/2 and 2
    parts, own = np.frexp(gaps)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(parts * factor, np.clip(own + powers + power, -_FAR, _FAR)), dtype=np.float64)


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def choice(
    scores: Sequence[Any] | NDArray[Any],
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    monotone: bool = False,
    bits: Bits | None = None,
) -> int:
    """The index of one score, chosen with probability proportional to e^(epsilon * score / (2 * sensitivity)).

    With `monotone` scores (a unit moves all of them the same way) the 2 goes away, at the same epsilon.

    >>> choice([0, 10**6, 3], epsilon=1)
    1
    """
    source = bits if bits is not None else SystemBits()
    return pick(Gaps(scores, read_rate(epsilon, sensitivity, monotone)), source)


def read_rate(epsilon: Number, sensitivity: Number, monotone: bool) -> Fraction:
    """The rate of the exponential mechanism: epsilon / (2 sensitivity), or epsilon / sensitivity if monotone."""
    budget, moved = as_written(epsilon, "epsilon"), exactly(sensitivity, "sensitivity")
    if not isinstance(monotone, (bool, np.bool_)):
        raise InputError("monotone", monotone, "True or False")
    if budget <= 0:
        raise InputError("epsilon", epsilon, "more than zero")
    if moved <= 0:
        raise InputError("sensitivity", sensitivity, "more than zero")
    return budget / moved / (1 if monotone else 2)


def pick(gaps: Gaps, bits: Bits) -> int:
    """One index, chosen with probability proportional to e^(-exponent)."""
    scale, envelopes = _envelopes(gaps)
    edges = np.cumsum(envelopes)
    while True:
        drawn = uniform(int(edges[-1]), bits=bits)
        index = int(np.searchsorted(edges, np.uint64(drawn), side="right"))
        if below(_kept(gaps, index, int(envelopes[index]), scale), 0, 0, bits):
            return index


def pick_many(gaps: Gaps, count: int, bits: Bits) -> NDArray[np.int64]:
    """So many indices, each as `pick` chooses one, independent of the others."""
    scale, envelopes = _envelopes(gaps)
    edges = np.cumsum(envelopes)
    chosen = np.empty(count, dtype=np.int64)
    waiting = np.arange(count)
    while len(waiting):
        drawn = uniform(int(edges[-1]), len(waiting), bits=bits).astype(np.uint64)
        index = np.searchsorted(edges, drawn, side="right")
        prefix = words(bits, len(waiting))
        kept = np.zeros(len(waiting), dtype=np.bool_)
        for each in np.unique(index).tolist():
            bounds = _kept(gaps, each, int(envelopes[each]), scale)
            low, high = bounds(64)
            at = np.flatnonzero(index == each)
            if low > 0:
                kept[at] = prefix[at] <= np.uint64(low - 1)
            for i in at[(prefix[at] >= np.uint64(min(low, 2**64 - 1))) & ~kept[at]]:
                kept[i] = int(prefix[i]) < high and below(bounds, int(prefix[i]), 64, bits)
        chosen[waiting[kept]] = index[kept]
        waiting = waiting[~kept]
    return chosen


def _envelopes(gaps: Gaps) -> tuple[int, NDArray[np.uint64]]:
    """Integers just above 2**scale times each weight, and the scale."""
    scale = 62 - len(gaps).bit_length()
    return scale, np.floor(np.exp(-gaps.exponents) * (1 + _MARGIN) * 2.0**scale).astype(np.uint64) + np.uint64(1)


def _kept(gaps: Gaps, index: int, envelope: int, scale: int) -> Callable[[int], tuple[int, int]]:
    """Integers around 2**n times the chance that a proposal of this index is kept: its weight over its envelope."""
    exponent = gaps.exponent(index)

    def bounds(n: int) -> tuple[int, int]:
        low, high = negative_exp_bounds(exponent, n + scale)
        return low // envelope, -(-high // envelope)

    return bounds


def flip(gaps: Gaps, bits: Bits) -> NDArray[np.bool_]:
    """One coin per candidate, heads with probability exactly e^(-exponent)."""
    return np.asarray(_flip(gaps, 1, bits)[0])


def flip_many(gaps: Gaps, count: int, bits: Bits) -> NDArray[np.int64]:
    """So many indices, each drawn evenly among the heads of a `flip` of its own."""
    heads = _flip(gaps, count, bits)
    total = heads.sum(axis=1)  # the best has heads always
    turn = np.empty(count, dtype=np.int64)
    for each in np.unique(total).tolist():
        at = np.flatnonzero(total == each)
        turn[at] = uniform(each, len(at), bits=bits)
    return np.asarray((np.cumsum(heads, axis=1) == turn[:, None] + 1).argmax(axis=1), dtype=np.int64)


def _flip(gaps: Gaps, count: int, bits: Bits) -> NDArray[np.bool_]:
    prefix = words(bits, count * len(gaps)).reshape(count, len(gaps))
    chance = np.exp(-gaps.exponents)
    drawn = prefix.astype(np.float64) * 2.0**-64
    heads = drawn < chance
    for run, i in np.argwhere(np.abs(drawn - chance) < _MARGIN).tolist():
        heads[run, i] = below_exp(gaps.exponent(i), int(prefix[run, i]), 64, bits)
    return heads


def pick_law(gaps: Gaps) -> NDArray[np.float64]:
    """How likely `pick` chooses each, in floating point: to look at, not to draw by."""
    weights = np.exp(-gaps.exponents)
    return np.asarray(weights / weights.sum())


def flip_law(gaps: Gaps) -> NDArray[np.float64]:
    """How likely each is drawn among the heads.

    A candidate with heads is drawn with 1/(1 + M), M the heads of others, whose mean is the integral of E[t^M].
    """
    heads = np.exp(-gaps.exponents)
    nodes, weights = np.polynomial.legendre.leggauss(len(heads) // 2 + 1)  # exact: a polynomial of degree k - 1
    others = 1 - heads + heads * ((nodes + 1) / 2)[:, None]
    rest = [np.delete(others, place, axis=1).prod(axis=1) for place in range(len(heads))]
    return np.array([heads[place] * (weights / 2) @ each for place, each in enumerate(rest)])
