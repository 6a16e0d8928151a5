"""The three knobs of private training (DP-SGD): noise, sampling and steps, each found from the others.

One step adds Gaussian noise to a clipped gradient of a Poisson sample. A whole run is a fixed plan, so it is counted
tightly, by its privacy loss distribution: searched on a coarse grid, confirmed on a fine one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.limits import in_range
from discreet.accounting.pld import COARSE, FINE, privacy_loss
from discreet.core.exact import Number, as_written
from discreet.core.loss import Loss, RealGaussianNoise, Repeated, Sampled
from discreet.errors import InputError, LossError

__all__ = ["noise_multiplier", "sampling_probability", "training_loss", "training_steps"]

_MOST_NOISE = 10_000
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
    """The least noise that keeps a run within (epsilon, delta), to about four digits, rounded up."""
    fits = _fits(epsilon, delta)

    def good(units: int, interval: float) -> bool:
        return fits(training_loss(Fraction(units, 10_000), probability, steps), interval)

    high = 10_000
    while not good(high, COARSE):
        high *= 2
        if high > _MOST_NOISE * 10_000:
            raise InputError(
                "epsilon", epsilon, "larger: no noise in reach is enough", "Fewer steps or a raised delta help."
            )
    low = high // 2
    while low > 100 and good(low, COARSE):
        low, high = low // 2, low
    units = _boundary(low, high, lambda n: good(n, COARSE), digits=4)
    while not good(units, FINE):
        units += max(1, units // 10_000)
    return Fraction(units, 10_000)


@in_range
def training_steps(epsilon: Number, delta: Number, multiplier: Number, probability: Number) -> int:
    """The most steps that stay within (epsilon, delta)."""
    fits = _fits(epsilon, delta)

    def bad(steps: int, interval: float) -> bool:
        return not fits(training_loss(multiplier, probability, steps), interval)

    if bad(1, FINE):
        raise InputError("epsilon", epsilon, "larger: a single step costs more", "More noise or smaller samples help.")
    high = 2
    while high < _MOST_STEPS and not bad(high, COARSE):
        high *= 2
    steps = _boundary(high // 2, high, lambda n: bad(n, COARSE), digits=6) - 1
    while steps > 1 and bad(steps, FINE):
        steps -= max(1, steps // 10_000)
    return max(steps, 1)


@in_range
def sampling_probability(epsilon: Number, delta: Number, multiplier: Number, steps: int) -> Fraction:
    """The largest sampling probability that stays within (epsilon, delta), to about four digits, rounded down."""
    fits = _fits(epsilon, delta)
    unit = 10**7

    def bad(units: int, interval: float) -> bool:
        return not fits(training_loss(multiplier, Fraction(units, unit), steps), interval)

    if not bad(unit, COARSE):
        return Fraction(1)
    low = unit
    while bad(low, COARSE):
        low //= 2
        if low == 0:
            raise InputError("epsilon", epsilon, "larger: no sample is small enough", "More noise or fewer steps help.")
    units = _boundary(low, 2 * low + 1, lambda n: bad(n, COARSE), digits=4) - 1
    while units > 1 and bad(units, FINE):
        units -= max(1, units // 10_000)
    return Fraction(units, unit)


def _fits(epsilon: Number, delta: Number) -> Callable[[Loss, float], bool]:
    budget, missed = as_written(epsilon, "epsilon"), as_written(delta, "delta")
    if budget <= 0:
        raise InputError("epsilon", epsilon, "more than zero")
    if not 0 < missed < 1:
        raise InputError("delta", delta, "more than 0 and less than 1", "Below 1 / (number of units) is usual.")

    def fits(loss: Loss, interval: float) -> bool:
        try:
            return privacy_loss(loss, interval).epsilon(missed) <= budget
        except LossError:
            return False

    return fits


def _boundary(low: int, high: int, holds: Callable[[int], bool], digits: int) -> int:
    """The first whole number in (low, high] that `holds`, which is false at low and true at high; to `digits`."""
    while high - low > max(1, math.floor(high / 10**digits)):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
