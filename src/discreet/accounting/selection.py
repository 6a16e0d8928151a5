"""What it costs to keep the best of a random number of runs, all of them private: two or three runs, not all.

If the number of runs follows a truncated negative binomial law and is not told, the one that is kept costs little more
than a run (Papernot and Steinke 2022, "Hyperparameter tuning with Renyi differential privacy"). Proof:
docs/proofs/training.md, "A random number of runs".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.accounting.limits import in_range
from discreet.accounting.rdp import ORDERS, renyi
from discreet.core.check import exact, named, within
from discreet.core.exact import Number, as_written, log_up, round_up
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.noise.bernoulli import bernoulli

__all__ = ["RunCount", "best_curve", "best_of"]

_ABOVE = 1 + 1e-9  # more than floating point loses on the way
_FINEST = 10**12  # stopping probabilities are multiples of 1/_FINEST
_MOST = 10**6


@frozen(field_transformer=named)
class RunCount:
    """How many runs there are, at least one: about `mean` on average, by the truncated negative binomial law.

    P[K = k] is proportional to (1 - stop)^k times the product over j < k of (j + shape)/(j + 1). `shape` 1 is the
    geometric law, 0 the logarithmic one, which costs less and is more often small. `stop` follows from the mean.

    >>> runs = RunCount(10, shape=1)
    >>> runs.stop, float(runs.expected)
    (Fraction(1, 10), 10.0)
    """

    mean: Fraction = field(converter=exact, validator=within(above=1, most=_MOST))
    shape: Fraction = field(default=Fraction(0), converter=exact, validator=within(above=-1, most=1))

    @property
    def stop(self) -> Fraction:
        """The parameter gamma of the law."""
        low, high = 0, _FINEST  # in units: the mean falls as it rises
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._expected(middle / _FINEST) <= self.mean else (middle, high)
        return Fraction(high, _FINEST)

    @property
    def expected(self) -> Fraction:
        """The mean number of runs, rounded up."""
        if self.shape == 1:
            return 1 / self.stop
        return Fraction(self._expected(self.stop)) * (1 + Fraction(1, 10**9))

    def _expected(self, stop: float | Fraction) -> float:
        gamma, shape = float(stop), float(self.shape)
        if gamma >= 1:
            return 1.0
        if shape == 0:
            return (1 - gamma) / (gamma * -math.log(gamma))
        return shape * (1 - gamma) / (gamma * -math.expm1(shape * math.log(gamma)))

    def draw(self, bits: Bits | None = None) -> int:
        """A number of runs, exactly of the law: a geometric number, kept with the chance that the law has left of it.

        Guarantee: k is returned with probability proportional to (1 - stop)^k times the product over j < k of
        (j + shape)/(j + 1): each factor is a coin of its own.
        """
        stop = self.stop
        while True:
            count = 1
            while not bernoulli(stop, bits=bits):
                count += 1
            if all(bernoulli((j + self.shape) / (j + 1), bits=bits) for j in range(1, count)):
                return count


@in_range
def best_of(losses: Sequence[Loss], runs: RunCount, delta: Number) -> Fraction:
    """The epsilon, at `delta`, of the best of a random number of runs, each at one of `losses`; rounded up to 1e-9.

    Each run is one of several, picked by a coin that does not look at the data; its loss is that of the run with the
    score it is compared by.

    Guarantee: the run with the highest score, of a number of independent runs drawn from `runs` and not told, is
    (epsilon, delta)-differentially private. By Renyi divergence: with R the curve of the losses, at its largest, that
    of the best is at most R(a) + (1 + shape) ((1 - 1/b) R(b) + ln(1/stop)/b) + ln(expected)/(a - 1) for all orders a >
    1 and b >= 1.
    """
    missed = as_written(delta, "delta")
    if not 0 < missed < 1:
        raise InputError("delta", delta, "more than 0 and less than 1")
    orders, curve = np.array(ORDERS), best_curve(losses, runs)
    epsilons = curve + np.log1p(-1 / orders) - np.log(float(missed) * orders) / (orders - 1)
    return round_up(Fraction(max(0.0, float(epsilons.min()))) * (1 + Fraction(1, 10**9)), 10**9)


def best_curve(losses: Sequence[Loss], runs: RunCount) -> NDArray[np.float64]:
    """The Renyi divergence of the best of a random number of runs, at each of `ORDERS`, at most."""
    orders, each = np.array(ORDERS), np.max([renyi(loss) for loss in losses], axis=0)
    again = float(log_up(1 / runs.stop)) / orders
    extra = (1 + float(runs.shape)) * float(np.min((1 - 1 / orders) * each + again))
    many = float(log_up(runs.expected)) / (orders - 1)
    return np.asarray((each + extra + many) * _ABOVE, dtype=np.float64)
