"""Noise for a budget, and the budget for an accuracy.

Proofs: docs/proofs/calibration.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from discreet.accounting.convert import approx, zcdp
from discreet.accounting.curve import gaussian_delta, real_gaussian_delta
from discreet.accounting.limits import in_range
from discreet.core.exact import Number, as_written, exactly, log_up, sqrt_up
from discreet.core.loss import GaussianNoise, Pure, Repeated
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError, LossError
from discreet.noise.parameters import LARGEST, SMALLEST
from discreet.noise.spread import gaussian_above, gaussian_half_width, laplace_above, laplace_half_width

__all__ = [
    "epsilon_for_rho",
    "epsilon_within",
    "gaussian_sigma",
    "gaussian_sigma_rho",
    "laplace_scale",
    "rho_within",
    "textbook_composition",
    "textbook_sigma",
]

_STEPS = 2**40
_FAINTEST = Fraction(1, 10**200)
_LEAST_CONFIDENCE = 0.001


def laplace_scale(epsilon: Number, sensitivity: Sensitivity | int = 1) -> Fraction:
    """The scale of Laplace noise for `epsilon`: the L1 sensitivity over epsilon, exactly.

    >>> laplace_scale(epsilon=0.1)
    Fraction(10, 1)
    """
    return Sensitivity.of(sensitivity).l1 / _positive(epsilon, "epsilon")


def gaussian_sigma_rho(rho: Number, sensitivity: Sensitivity | int = 1) -> Fraction:
    """The sigma of Gaussian noise for rho-zCDP: the L2 sensitivity over sqrt(2 rho), rounded up.

    >>> gaussian_sigma_rho(rho=0.5)
    Fraction(1, 1)
    """
    return sqrt_up(Sensitivity.of(sensitivity).l2_squared / (2 * _positive(rho, "rho")))


@in_range
def epsilon_for_rho(rho: Number) -> Fraction:
    """The largest pure epsilon, to twelve digits, whose zCDP cost is at most `rho`.

    >>> round(float(epsilon_for_rho(rho=0.5)), 4)
    1.0436
    """
    target = _positive(rho, "rho")
    if not _FAINTEST <= target <= 1 / _FAINTEST:
        raise InputError("rho", rho, "between 1e-200 and 1e200")
    # epsilon tanh(epsilon/2) is above 0.46 min(epsilon, epsilon^2), so the answer is below 3 max(rho, sqrt(rho)).
    top = Fraction(2) ** math.ceil(math.log2(3 * max(float(target), math.sqrt(target))))
    return _pure_within(target, top)


@lru_cache(maxsize=1024)
def _pure_within(target: Fraction, top: Fraction) -> Fraction:
    """The largest epsilon below `top` whose zCDP cost is at most `target`."""
    low, high = 0, _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if zcdp(Pure(top * middle / _STEPS)).rho <= target else (low, middle)
    return top * low / _STEPS


@in_range
def gaussian_sigma(
    epsilon: Number,
    delta: Number,
    sensitivity: Sensitivity | int = 1,
    *,
    method: Literal["analytic", "classic"] = "analytic",
) -> Fraction:
    """A sigma of discrete Gaussian noise for (epsilon, delta).

    "analytic" (the default) is the smallest on a fine grid whose own privacy curve, that of the integer noise, passes:
    exact for one output, by the best of `approx`'s routes for more. "classic" is the textbook formula
    L2 sqrt(2 ln(1.25/delta))/epsilon, larger than needed and only valid for epsilon < 1.

    Guarantee: the noise returned is (epsilon, delta)-differentially private; it is checked before it is returned.

    >>> round(float(gaussian_sigma(epsilon=1, delta=1e-5)), 3)
    3.74
    """
    budget, missed, moved = _positive(epsilon, "epsilon"), _delta(delta), Sensitivity.of(sensitivity)
    if not isinstance(method, str):
        raise InputError("method", method, among=("analytic", "classic"))
    match method:
        case "classic":
            return _classic(budget, missed, moved)
        case "analytic":
            return _analytic(budget, missed, moved)
        case _:
            raise InputError("method", method, among=("analytic", "classic"))


@in_range
def textbook_sigma(epsilon: Number, delta: Number, sensitivity: Sensitivity | int = 1) -> float:
    """What the formula L2 sqrt(2 ln(1.25/delta))/epsilon gives, also where it is not proven: to compare with.

    Use `gaussian_sigma` for noise: below epsilon 1 this is more than is needed, and from about 7 on it is too little.

    >>> round(textbook_sigma(epsilon=1, delta=1e-5), 3)
    4.845
    """
    budget, missed, moved = _positive(epsilon, "epsilon"), _delta(delta), Sensitivity.of(sensitivity)
    return math.sqrt(moved.l2_squared * 2 * log_up(Fraction(5, 4) / missed)) / float(budget)


def textbook_composition(epsilon: Number, times: int, delta: Number) -> float:
    """What advanced composition gives for `times` releases of `epsilon` at `delta`: to compare with.

    sqrt(2 k ln(1/delta)) epsilon + k epsilon (e^epsilon - 1). Use `approx(compose([...]), delta)` for prices: it is
    never more, and for large epsilons this is more than the plain sum.

    >>> round(textbook_composition("0.1", times=200, delta=1e-6), 2)
    9.54
    """
    budget, missed = float(_positive(epsilon, "epsilon")), _delta(delta)
    many = exactly(times, "times")
    if many.denominator != 1 or many < 1:
        raise InputError("times", times, "a whole number, 1 or more")
    try:
        return math.sqrt(2 * many * log_up(1 / missed)) * budget + many * budget * math.expm1(budget)
    except OverflowError:
        return math.inf


def _private(sigma: Fraction, epsilon: Fraction, delta: Fraction, moved: Sensitivity) -> bool:
    if moved.outputs == 1:
        return gaussian_delta(sigma, moved.each, epsilon) <= delta
    try:
        return approx(Repeated(GaussianNoise(sigma, moved.each), moved.outputs), delta).epsilon <= epsilon
    except LossError:
        return False


def _classic(epsilon: Fraction, delta: Fraction, moved: Sensitivity) -> Fraction:
    if epsilon >= 1:
        hint = 'The default method="analytic" works for every epsilon, with less noise.'
        raise InputError("epsilon", epsilon, "less than 1: the classic formula is not proven, and fails, above", hint)
    sigma = sqrt_up(moved.l2_squared * 2 * log_up(Fraction(5, 4) / delta)) / epsilon
    if not _private(sigma, epsilon, delta, moved):
        raise InputError("delta", delta, "smaller: the classic formula fails at this one", "Use the analytic method.")
    return sigma


def _analytic(epsilon: Fraction, delta: Fraction, moved: Sensitivity) -> Fraction:
    # The continuous Gaussian is solved first: the integer one is next to it.
    guess = _crossing(lambda s: real_gaussian_delta(moved.l2_squared / Fraction(s) ** 2, epsilon) <= delta)
    bits = 20 if moved.outputs == 1 else 12
    step = Fraction(2) ** (math.floor(math.log2(guess)) - bits)
    above = max(1, math.floor(guess / step))
    below, jump = 0, 1
    while not _private(above * step, epsilon, delta, moved):
        below, above, jump = above, above + jump, 2 * jump
        if above * step > LARGEST:
            raise InputError("epsilon", float(epsilon), "larger: no noise in reach is enough", "Or raise delta.")
    if below == 0:  # the guess passes already: a smaller one may
        below, jump = above - 1, 1
        while below > 0 and _private(below * step, epsilon, delta, moved):
            above, below, jump = below, below - jump, 2 * jump
        below = max(below, 0)
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if _private(middle * step, epsilon, delta, moved) else (middle, above)
    return above * step


@in_range
def epsilon_within(
    within: Number, confidence: float = 0.95, outputs: int = 1, sensitivity: Sensitivity | int = 1
) -> Fraction:
    """The cheapest epsilon at which Laplace noise keeps `outputs` answers within +-`within`, all at once, with
    probability `confidence`; to six digits, rounded up.

    `within` below 1 asks for exact answers: noise that is zero with that confidence, at a high price.

    >>> from discreet.accounting.words import readable
    >>> readable(epsilon_within(within=30))
    '0.098182'
    """
    moved, reach = Sensitivity.of(sensitivity), _within(within)
    laplace_half_width(Fraction(1), confidence, outputs)  # refuses what is not allowed
    allowed = _each(confidence, outputs)

    def good(scale: float) -> bool:
        return 2 * laplace_above(Fraction(scale), reach)[1] <= allowed

    scale = _widest(good)
    return _cheapest(
        moved.l1 / scale, lambda epsilon: laplace_half_width(moved.l1 / epsilon, confidence, outputs) <= reach
    )


@in_range
def rho_within(
    within: Number, confidence: float = 0.95, outputs: int = 1, sensitivity: Sensitivity | int = 1
) -> Fraction:
    """The cheapest rho at which Gaussian noise keeps `outputs` answers within +-`within`, all at once, with
    probability `confidence`; to six digits, rounded up.

    >>> from discreet.accounting.words import readable
    >>> readable(rho_within(within=30, outputs=100))
    '0.0064798'
    """
    moved, reach = Sensitivity.of(sensitivity), _within(within)
    gaussian_half_width(Fraction(1), confidence, outputs)
    allowed = _each(confidence, outputs)

    def good(sigma: float) -> bool:
        return 2 * gaussian_above(Fraction(sigma), reach)[1] <= allowed

    sigma = _widest(good)

    def enough(rho: Fraction) -> bool:
        return gaussian_half_width(gaussian_sigma_rho(rho, moved), confidence, outputs) <= reach

    return _cheapest(moved.l2_squared / (2 * sigma * sigma), enough)


def _widest(good: Callable[[float], bool]) -> Fraction:
    """About the largest noise that is `good`."""
    low, high = float(SMALLEST), float(LARGEST)
    if good(high):
        return Fraction(LARGEST)
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if good(middle) else (low, middle)
    return Fraction(low)


def _cheapest(guess: Fraction, enough: Callable[[Fraction], bool]) -> Fraction:
    """The first number of six digits from `guess` up that is `enough`."""
    context = Context(prec=6, rounding=ROUND_CEILING)
    value = context.divide(Decimal(guess.numerator), Decimal(guess.denominator))
    while not enough(Fraction(value)):
        value = context.next_plus(value)
    return Fraction(value)


def _crossing(good: Callable[[float], bool]) -> Fraction:
    """The smallest noise that is `good`, to about 40 bits."""
    low, high = float(SMALLEST), float(LARGEST)
    for _ in range(70):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if good(middle) else (middle, high)
    return Fraction(high)


def _each(confidence: float, outputs: int) -> float:
    if confidence < _LEAST_CONFIDENCE:
        raise InputError("confidence", confidence, "at least 0.001", "0.95 is usual.")
    return -math.expm1(math.log(confidence) / outputs)


def _within(value: Number) -> int:
    number = exactly(value, "within")
    if number < 0:
        hint = "0 asks for exact answers; any half-width from 0 up is in reach, at a price."
        raise InputError("within", value, "zero or more", hint)
    return math.floor(number)


def _positive(value: Number, field: str) -> Fraction:
    number = as_written(value, field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    return number


def _delta(value: Number) -> Fraction:
    number = as_written(value, "delta")
    if not 0 < number < 1:
        hint = "Gaussian noise has no pure guarantee; Laplace noise needs no delta."
        raise InputError("delta", value, "more than 0 and less than 1", hint)
    return number
