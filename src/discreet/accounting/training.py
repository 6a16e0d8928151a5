"""The three knobs of private training (DP-SGD): noise, sampling and steps, each found from the others.

One step adds Gaussian noise to a clipped gradient of a Poisson sample. A whole run is a fixed plan, so it is counted
tightly, by its privacy loss distribution: searched on a coarse grid, settled on a fine one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.limits import in_range
from discreet.accounting.pld import COARSE, FINE, privacy_loss
from discreet.core.exact import Number, as_written
from discreet.core.integers import refine
from discreet.core.loss import Loss, RealGaussianNoise, Repeated, Sampled
from discreet.errors import InputError, LossError

__all__ = [
    "former_noise_multiplier",
    "former_training_steps",
    "noise_multiplier",
    "sampling_probability",
    "training_loss",
    "training_steps",
]

Fits = Callable[[Loss, float], bool]
"""Whether a loss, on a grid, is within a budget."""

_UNITS = 10_000  # noise multipliers are multiples of 1/_UNITS
_MOST_NOISE = 10_000
_LEAST_NOISE = 100  # units
_MOST_STEPS = 10**8
_RAREST = Fraction(1, 10**15)


def training_loss(multiplier: Number, probability: Number, steps: int) -> Loss:
    """What a run costs: `steps` times Gaussian noise of `multiplier` on a Poisson sample."""
    sampled = Sampled(RealGaussianNoise(multiplier), probability)
    if 0 < sampled.probability < _RAREST:
        raise InputError("probability", probability, "zero, or at least 1e-15")
    return Repeated(sampled, steps)


@in_range
def noise_multiplier(epsilon: Number, delta: Number, probability: Number, steps: int) -> Fraction:
    """The least noise that keeps a run within (epsilon, delta), to five digits, rounded up.

    Guarantee: a run with it costs at most `epsilon` at `delta` by the distribution that `approx` reports.
    """
    training_loss(1, probability, steps)  # refuses what is not allowed
    return _noise_multiplier(*_read(epsilon, delta), as_written(probability, "probability"), steps)


@lru_cache(maxsize=256)
def _noise_multiplier(epsilon: Fraction, delta: Fraction, probability: Fraction, steps: int) -> Fraction:
    good, low, high = _bracketed_noise(_fits(epsilon, delta), epsilon, probability, steps)
    units = _boundary(low, high, lambda n: good(n, COARSE), digits=2)
    least = refine(units, -1, lambda n: n > _LEAST_NOISE and good(n, FINE), digits=5)
    return Fraction(max(_LEAST_NOISE, least), _UNITS)


@in_range
def former_noise_multiplier(epsilon: Number, delta: Number, probability: Number, steps: int) -> Fraction:
    """What `noise_multiplier` gave before grids were narrowed: plans that were paid then hold it in their digests."""
    budget, missed = _read(epsilon, delta)
    good, low, high = _bracketed_noise(_fits(budget, missed, narrowed=False), budget, probability, steps)
    units = _boundary(low, high, lambda n: good(n, COARSE), digits=4)
    while not good(units, FINE):
        units += max(1, units // 10_000)
    return Fraction(units, _UNITS)


def _bracketed_noise(
    fits: Fits, epsilon: Fraction, probability: Number, steps: int
) -> tuple[Callable[[int, float], bool], int, int]:
    """Whether so many units of noise are enough; a number that is not, on the coarse grid, and twice it, which is."""

    def good(units: int, interval: float) -> bool:
        return fits(training_loss(Fraction(units, _UNITS), probability, steps), interval)

    high = _UNITS
    while not good(high, COARSE):
        high *= 2
        if high > _MOST_NOISE * _UNITS:
            raise InputError(
                "epsilon", epsilon, "larger: no noise in reach is enough", "Fewer steps or a raised delta help."
            )
    low = high // 2
    while low > _LEAST_NOISE and good(low, COARSE):
        low, high = low // 2, low
    return good, low, high


@in_range
def training_steps(epsilon: Number, delta: Number, multiplier: Number, probability: Number) -> int:
    """The most steps that stay within (epsilon, delta), to four digits, rounded down."""
    good, high = _bracketed_steps(_fits(*_read(epsilon, delta)), epsilon, multiplier, probability)
    guess = _boundary(high // 2, high, lambda n: not good(n, COARSE), digits=2) - 1
    return refine(max(guess, 1), 1, lambda n: good(n, FINE))


@in_range
def former_training_steps(epsilon: Number, delta: Number, multiplier: Number, probability: Number) -> int:
    """What `training_steps` gave before grids were narrowed: plans that were paid then hold it in their digests."""
    good, high = _bracketed_steps(_fits(*_read(epsilon, delta), narrowed=False), epsilon, multiplier, probability)
    steps = _boundary(high // 2, high, lambda n: not good(n, COARSE), digits=6) - 1
    while steps > 1 and not good(steps, FINE):
        steps -= max(1, steps // 10_000)
    return max(steps, 1)


def _bracketed_steps(
    fits: Fits, epsilon: Number, multiplier: Number, probability: Number
) -> tuple[Callable[[int, float], bool], int]:
    """Whether so many steps stay within the budget; and a number that does not, on the coarse grid."""

    def good(steps: int, interval: float) -> bool:
        return steps <= _MOST_STEPS and fits(training_loss(multiplier, probability, steps), interval)

    if not good(1, FINE):
        raise InputError("epsilon", epsilon, "larger: a single step costs more", "More noise or smaller samples help.")
    high = 2
    while good(high, COARSE):
        high *= 2
    return good, high


@in_range
def sampling_probability(epsilon: Number, delta: Number, multiplier: Number, steps: int) -> Fraction:
    """The largest sampling probability that stays within (epsilon, delta), to about four digits, rounded down."""
    fits = _fits(*_read(epsilon, delta))
    unit = 10**7

    def good(units: int, interval: float) -> bool:
        return units <= unit and fits(training_loss(multiplier, Fraction(units, unit), steps), interval)

    if good(unit, COARSE):
        return Fraction(1)
    low = unit
    while not good(low, COARSE):
        low //= 2
        if low == 0:
            raise InputError("epsilon", epsilon, "larger: no sample is small enough", "More noise or fewer steps help.")
    guess = _boundary(low, 2 * low + 1, lambda n: not good(n, COARSE), digits=2) - 1
    return Fraction(refine(guess, 1, lambda n: good(n, FINE)), unit)


def _read(epsilon: Number, delta: Number) -> tuple[Fraction, Fraction]:
    budget, missed = as_written(epsilon, "epsilon"), as_written(delta, "delta")
    if budget <= 0:
        raise InputError("epsilon", epsilon, "more than zero")
    if not 0 < missed < 1:
        raise InputError("delta", delta, "more than 0 and less than 1", "Below 1 / (number of units) is usual.")
    return budget, missed


def _fits(budget: Fraction, missed: Fraction, *, narrowed: bool = True) -> Fits:
    def fits(loss: Loss, interval: float) -> bool:
        try:
            return privacy_loss(loss, interval, narrowed=narrowed).epsilon(missed) <= budget
        except LossError:
            return False

    return fits


def _boundary(low: int, high: int, holds: Callable[[int], bool], digits: int) -> int:
    """The first whole number in (low, high] that `holds`, which is false at low and true at high; to `digits`."""
    while high - low > max(1, math.floor(high / 10**digits)):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
