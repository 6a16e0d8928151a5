"""Exact selection by score: probabilities proportional to e^(rate * score), over a million candidates if need be.

Candidates are proposed from an integer envelope just above their true weights, computed in floating point with a proven
margin, and kept with exactly the probability that corrects the difference. Only the candidate proposed is ever weighed
in full precision. Large scores cannot overflow: only the gap to the best one enters, and its power of two is carried
beside it until the rate is multiplied in.
"""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["Gaps", "choice", "flip", "pick", "read_rate"]

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
    scale = 62 - len(gaps).bit_length()
    envelopes = np.floor(np.exp(-gaps.exponents) * (1 + _MARGIN) * 2.0**scale).astype(np.uint64) + np.uint64(1)
    edges = np.cumsum(envelopes)
    while True:
        drawn = uniform(int(edges[-1]), bits=bits)
        index = int(np.searchsorted(edges, np.uint64(drawn), side="right"))
        exponent, envelope = gaps.exponent(index), int(envelopes[index])

        def bounds(n: int, exponent: Fraction = exponent, envelope: int = envelope) -> tuple[int, int]:
            low, high = negative_exp_bounds(exponent, n + scale)
            return low // envelope, -(-high // envelope)

        if below(bounds, 0, 0, bits):
            return index


def flip(gaps: Gaps, bits: Bits) -> NDArray[np.bool_]:
    """One coin per candidate, heads with probability exactly e^(-exponent)."""
    prefix = words(bits, len(gaps))
    chance = np.exp(-gaps.exponents)
    drawn = prefix.astype(np.float64) * 2.0**-64
    heads = drawn < chance
    for i in np.flatnonzero(np.abs(drawn - chance) < _MARGIN):
        heads[i] = below_exp(gaps.exponent(int(i)), int(prefix[i]), 64, bits)
    return heads
