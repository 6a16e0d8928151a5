"""Decide which keys nobody listed may be shown, keeping as many as the guarantee allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named, plain
from discreet.core.exact import exp_bounds, log_down, log_up
from discreet.core.loss import Approx, Loss
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon,
    read_outputs,
    read_probability_inside,
    read_values,
)
from discreet.noise.bernoulli import below
from discreet.noise.bits import SystemBits, words
from discreet.noise.table import CHUNK

__all__ = ["PartitionSelection"]

_MARGIN = 2.0**-36  # float error of a chance is below 2**-39: see docs/proofs/partition-selection.md
_FINEST, _COARSEST = Fraction(1, 2**40), 1000  # epsilon for each key
_RAREST = Fraction(1, 10**300)


@frozen(field_transformer=named)
class PartitionSelection:
    """Keep or drop each key by the number of distinct units that have it, keeping with the largest chance there is.

    One unit counts under at most `keys` keys, once under each (bound this before counting). A key that nobody has is
    never kept; one that `certain_at` units have always is. Only the names are chosen here: noisy counts of the keys
    kept are a release of their own, at its own price.

    Guarantee
        (epsilon, delta)-differential privacy of the set of keys kept, when a unit is added or removed; and for every
        key the largest chance that any rule treating keys one by one at (epsilon/keys, delta/keys) can give it.
        Proof: docs/proofs/partition-selection.md.

    >>> PartitionSelection(epsilon=1, delta="1e-12").select([0, 1, 10**6]).tolist()
    [False, False, True]
    """

    epsilon: Fraction = field(converter=read_epsilon)
    delta: Fraction = field(converter=read_probability_inside)
    keys: int = field(default=1, converter=read_count)

    def __attrs_post_init__(self) -> None:
        if not _FINEST <= self.epsilon / self.keys <= _COARSEST:
            raise InputError("epsilon", plain(self.epsilon), "from 2**-40 to 1000 for each of the keys")
        if self.delta / self.keys < _RAREST:
            raise InputError("delta", plain(self.delta), "at least 1e-300 for each of the keys")

    @property
    def certain_at(self) -> int:
        """The smallest number of units whose key is always kept."""
        return self._rule.certain

    def loss(self) -> Loss:
        """What one selection costs, however many keys there are."""
        return Approx(self.epsilon, self.delta)

    def select(self, counts: Integers, *, bits: Bits | None = None) -> NDArray[np.bool_]:
        """Whether each key is kept. The order of the keys may depend on the data: sort those kept before showing."""
        exact = read_values(counts, "counts")
        if exact.size and exact.min() < 0:
            raise InputError("counts", Phrase("negative counts"), "zero or more, a count of distinct units")
        source = bits if bits is not None else SystemBits()
        rule = self._rule
        kept = exact >= rule.certain
        open_ = np.flatnonzero((exact > 0) & ~kept)
        for start in range(0, len(open_), CHUNK):
            part = open_[start : start + CHUNK]
            kept[part] = rule.flip(exact[part], source)
        return kept

    def chance(self, count: int) -> float:
        """The probability that a key with this count is kept, rounded up."""
        exact = self._rule.between(read_count(count, "count", least=0))[1]
        return min(1.0, math.nextafter(float(exact), 2)) if exact else 0.0

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """The least count from which `k` keys are all kept, with probability at least `confidence`."""
        miss = (1 - read_confidence(confidence)) / read_outputs(k)
        below_, above = 0, self.certain_at
        while above - below_ > 1:
            middle = (above + below_) // 2
            enough = 1 - self._rule.between(middle)[0] <= miss
            below_, above = (below_, middle) if enough else (middle, above)
        return above

    @property
    def _rule(self) -> _Rule:
        return _rule(self.epsilon / self.keys, self.delta / self.keys)


@frozen
class _Rule:
    """The chances for one key, in closed form: up to count `turn` one inequality binds, from there the other.

    With x = e^epsilon and c = delta/(x - 1) the chance p(n) is c (x^n - 1) for n <= turn; beyond it
    1 - p(n) = x^-m (1 - p(turn)) - c (1 - x^-m), m = n - turn, until that reaches zero at n = certain.
    """

    epsilon: Fraction
    delta: Fraction
    turn: int
    certain: int

    def between(self, count: int, digits: int = 50) -> tuple[Fraction, Fraction]:
        """Bounds on the chance; they close as `digits` grow."""
        if count == 0 or count >= self.certain:
            return Fraction(count > 0), Fraction(count > 0)
        if count == 1:
            return self.delta, self.delta
        if count <= self.turn:
            return _rising(self.epsilon, self.delta, count, digits)
        low, high = _rising(self.epsilon, self.delta, self.turn, digits)
        fall_low, fall_high = exp_bounds(-(count - self.turn) * self.epsilon, digits)
        ratio_low, ratio_high = _ratio(self.epsilon, self.delta, digits)
        most = fall_high * (1 - low) - ratio_low * (1 - fall_high)
        least = fall_low * (1 - high) - ratio_high * (1 - fall_low)
        return 1 - min(most, Fraction(1)), 1 - max(least, Fraction(0))

    def flip(self, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        """One coin for each count from 1 to certain - 1, with exactly the chance of that count."""
        prefix = words(bits, len(counts))
        chance = self.floats(counts)
        drawn = prefix.astype(np.float64) * 2.0**-64
        heads = drawn < chance
        for i in np.flatnonzero(np.abs(drawn - chance) < _MARGIN):
            heads[i] = below(self._bounds(int(counts[i])), int(prefix[i]), 64, bits)
        return heads

    def floats(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The chances of counts from 1 to certain - 1, with an absolute error below 2**-39."""
        rate, log_delta = float(self.epsilon), math.log(self.delta)
        step = math.expm1(-rate)

        def rising(n: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.exp((n - 1) * rate + log_delta) * (np.expm1(-n * rate) / step)

        first = rising(np.minimum(counts, self.turn).astype(np.float64))
        fall = np.maximum(counts - self.turn, 0) * rate
        lost = np.expm1(-fall) / step * math.exp(log_delta - rate)
        return np.asarray(1 - (np.exp(-fall) * (1 - first) - lost), dtype=np.float64)

    def _bounds(self, count: int) -> Callable[[int], tuple[int, int]]:
        # Dividing by x - 1 costs as many digits as epsilon is small.
        guard = 20 + len(str(math.ceil(1 / self.epsilon)))

        def bounds(depth: int) -> tuple[int, int]:
            low, high = self.between(count, depth * 302 // 1000 + guard)
            return math.floor(low * 2**depth), math.ceil(high * 2**depth)

        return bounds


def _ratio(epsilon: Fraction, delta: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds on c = delta/(e^epsilon - 1)."""
    low, high = exp_bounds(epsilon, digits + len(str(math.ceil(1 / epsilon))))
    return delta / (high - 1), delta / (low - 1)


def _rising(epsilon: Fraction, delta: Fraction, count: int, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds on c (e^(count epsilon) - 1)."""
    if count == 1:
        return delta, delta
    low, high = exp_bounds(count * epsilon, digits + len(str(math.ceil(1 / epsilon))))
    ratio_low, ratio_high = _ratio(epsilon, delta, digits)
    return ratio_low * (low - 1), min(ratio_high * (high - 1), Fraction(1))


@lru_cache(maxsize=256)
def _rule(epsilon: Fraction, delta: Fraction) -> _Rule:
    def steps_to_turn(digits: int) -> tuple[Fraction, Fraction]:
        # The first inequality binds at n while x^(n-1) <= (x - 1 + 2 delta) / (delta (x + 1)), which grows with x.
        low, high = exp_bounds(epsilon, digits)
        least, most = ((x - 1 + 2 * delta) / (delta * (x + 1)) for x in (low, high))
        return log_down(least, digits) / epsilon, log_up(most, digits) / epsilon

    turn = 1 + _floor(steps_to_turn)
    if delta >= Fraction(1, 2):  # 1 - p(2) = (1 - 2 delta)/x <= 0: zero already, or clearly below
        return _Rule(epsilon, delta, turn, 2)

    def steps_to_certain(digits: int) -> tuple[Fraction, Fraction]:
        low, high = _rising(epsilon, delta, turn, digits)
        ratio_low, ratio_high = _ratio(epsilon, delta, digits)
        least, most = 1 + (1 - high) / ratio_high, 1 + (1 - low) / ratio_low
        return log_down(least, digits) / epsilon, log_up(most, digits) / epsilon

    return _Rule(epsilon, delta, turn, turn + _floor(steps_to_certain) + 1)


def _floor(between: Callable[[int], tuple[Fraction, Fraction]]) -> int:
    """The integer part of a number that is not an integer, from bounds as tight as it takes."""
    digits = 50
    while True:
        low, high = (math.floor(bound) for bound in between(digits))
        if low == high:
            return low
        digits *= 2
