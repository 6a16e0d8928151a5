"""How far noise strays: tails, half-widths and variances of the integer laws.

Tails come as (low, high) bounds in floating point; every rounding is covered by a relative margin of `_SLACK`, an order
of magnitude above the worst case worked out in docs/proofs/noise.md. Half-widths are therefore never too small.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = [
    "gaussian_above",
    "gaussian_half_width",
    "gaussian_lead",
    "gaussian_variance",
    "laplace_above",
    "laplace_half_width",
    "laplace_lead",
    "laplace_variance",
]

Floats = NDArray[np.float64]

_SLACK = 1e-11
_TINY = 1e-300  # stands for any probability too small for a float
_SUMMED = 8192  # up to this sigma tails are summed term by term


def laplace_above(scale: Fraction, t: int) -> tuple[float, float]:
    """Bounds on P[X > t] for discrete Laplace noise."""
    if t < 0:
        return _complement(laplace_above(scale, -t - 1))
    rate = 1 / float(scale)
    tail = math.exp(-(t + 1) * rate) / (1 + math.exp(-rate))
    return _slack(tail)


def gaussian_above(sigma: Fraction, t: int) -> tuple[float, float]:
    """Bounds on P[X > t] for discrete Gaussian noise."""
    if t < 0:
        return _complement(gaussian_above(sigma, -t - 1))
    s = float(sigma)
    if s <= _SUMMED:
        total = 1 + 2 * _sum_from(1, s)
        return _slack(_sum_from(t + 1, s) / total)
    root = math.sqrt(2 * math.pi) * s  # the normaliser, to far more digits than a float has
    if t >= s:
        # Convex and falling: the trapezoid rule bounds the sum from below, the midpoint rule from above.
        low = _area(t + 1, s) + math.exp(-(((t + 1) / s) ** 2) / 2) / 2 / root
        high = _area(t + 0.5, s)
    else:
        # Midpoint rule; its error is at most |f''|/24 <= 1/(24 s^2) a step, over 24 s steps that matter.
        middle, error = _area(t + 0.5, s), 1 / (s * root)
        low, high = middle - error, middle + error
    return max(0.0, _slack(low)[0]), _slack(high)[1]


def _sum_from(first: int, sigma: float) -> float:
    """The sum of e^(-x^2/(2 sigma^2)) over x >= first, to within rounding."""
    x = np.arange(first, first + int(40 * sigma) + 2, dtype=np.float64)
    return float(np.exp(-((x / sigma) ** 2) / 2)[::-1].sum())


def _area(t: float, sigma: float) -> float:
    return math.erfc(t / (sigma * math.sqrt(2))) / 2


def _slack(value: float) -> tuple[float, float]:
    return max(0.0, value * (1 - _SLACK) - _TINY), value * (1 + _SLACK) + _TINY


def _complement(bounds: tuple[float, float]) -> tuple[float, float]:
    low, high = bounds
    return math.nextafter(1 - high, 0), math.nextafter(1 - low, 2)


def laplace_half_width(scale: Fraction, confidence: float, k: int = 1) -> int:
    """The smallest t such that `k` independent draws all stay within +-t with probability `confidence`."""
    return _laplace_within(scale, _each(confidence, k))


def gaussian_half_width(sigma: Fraction, confidence: float, k: int = 1) -> int:
    """The smallest t such that `k` independent draws all stay within +-t with probability `confidence`."""
    return _gaussian_within(sigma, _each(confidence, k))


@functools.lru_cache(maxsize=4096)  # a plan asks for the same few again and again
def _laplace_within(scale: Fraction, allowed: float) -> int:
    guess = max(0, int(float(scale) * math.log(1 / allowed)))
    return _smallest(lambda t: 2 * laplace_above(scale, t)[1] <= allowed, guess)


@functools.lru_cache(maxsize=4096)
def _gaussian_within(sigma: Fraction, allowed: float) -> int:
    guess = max(0, int(float(sigma) * math.sqrt(2 * math.log(2 / allowed))))
    return _smallest(lambda t: 2 * gaussian_above(sigma, t)[1] <= allowed, guess)


@functools.lru_cache(maxsize=4096)
def laplace_lead(scale: Fraction, confidence: float, k: int = 1) -> int:
    """A t such that the largest of `k` independent draws exceeds any given one of them by more than t with probability
    at most 1 - `confidence`; the smallest, up to a 64th of the scale."""
    rate = 1 / float(scale)

    def above(t: Floats) -> Floats:
        tail = np.exp(-np.where(t < 0, -t, t + 1) * rate) / (1 + math.exp(-rate))
        return np.where(t < 0, 1 - tail, tail)

    return _lead(above, float(scale), 40, confidence, k)


@functools.lru_cache(maxsize=4096)
def gaussian_lead(sigma: Fraction, confidence: float, k: int = 1) -> int:
    """The same as `laplace_lead` for discrete Gaussian noise."""
    s = float(sigma)
    reach = int(10 * s) + 2
    if s <= _SUMMED:
        weights = np.exp(-((np.arange(-reach, reach + 1) / s) ** 2) / 2)
        tails = np.append(weights[::-1].cumsum()[::-1], 0.0) / weights.sum()  # of x >= -reach, and so on

        def above(t: Floats) -> Floats:
            found: Floats = tails[np.clip(t + reach + 1, 0, 2 * reach + 1).astype(np.int64)]
            return found
    else:

        def above(t: Floats) -> Floats:
            return np.array([_area(each + 0.5, s) for each in t.tolist()]) * (1 + 1 / (s * s)) + 1e-18

    return _lead(above, s, 10, confidence, k)


def _lead(above: Callable[[Floats], Floats], size: float, reach: int, confidence: float, k: int) -> int:
    """The search for a lead. Draws of the one given are taken in steps, each as if it were the least of its step, which
    makes the chance that another leads by more than t larger, never smaller."""
    if k < 2:
        return 0
    step = max(1, int(size / 64))
    starts = np.arange(-int(reach * size) - 2, int(reach * size) + 3, step).astype(np.float64)
    ends = above(np.append(starts, starts[-1] + step) - 1)
    weights = np.maximum(ends[:-1] - ends[1:], 0.0)
    outside = 1 - float(ends[0]) + float(ends[-1])
    allowed = (1 - confidence) * (1 - 1e-9)

    def holds(t: int) -> bool:
        tails = np.minimum(above(starts + t), 1 - 1e-16)
        return outside + float((weights * -np.expm1((k - 1) * np.log1p(-tails))).sum()) <= allowed

    return _smallest(holds, max(1, int(size * math.log(k / allowed))))


def _each(confidence: float, k: int) -> float:
    """The chance each of k independent outputs may miss by, so that all hold with `confidence`."""
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise InputError("confidence", confidence, "strictly between 0 and 1, such as 0.95")
    if isinstance(k, bool) or not isinstance(k, (int, float)) or not 1 <= k < 2**63 or int(k) != k:
        raise InputError("k", k, "a whole number, 1 or more")
    return -math.expm1(math.log(confidence) / int(k)) * (1 - 1e-12)


def _smallest(holds: Callable[[int], bool], above: int) -> int:
    """The smallest t >= 0 for which `holds`, which is true from some t on; `above` is a guess."""
    while not holds(above):
        above = 2 * above + 1
    below = -1
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


def laplace_variance(scale: Fraction) -> float:
    """The variance of discrete Laplace noise: 2r/(1-r)^2 with r = e^(-1/scale), a little below 2 scale^2."""
    if scale < Fraction(1, 700):
        return 0.0  # below 1e-300
    return 2 / (2 * math.sinh(0.5 / float(scale))) ** 2


def gaussian_variance(sigma: Fraction) -> float:
    """The variance of discrete Gaussian noise: sigma^2, less for small sigma."""
    s = float(sigma)
    if s > 10:
        return s * s  # the difference is below e^(-1900)
    x = np.arange(1, int(40 * s) + 2, dtype=np.float64)
    weight = np.exp(-((x / s) ** 2) / 2)
    return float(2 * (x * x * weight).sum() / (1 + 2 * weight.sum()))
