"""How far a weighted sum of independent noises strays: what an estimate built from many noisy counts needs.

Every bound is from above (docs/proofs/blend.md): Chernoff's, true of everything; a Fourier inversion of the exact law,
for one sum at a time; and for many sums at once, of which only the variance is known, one that uses log-concavity
(Laplace) or the continuous normal law (Gaussian noise that is not tiny).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

__all__ = ["half_width", "joint_half_width", "one_sided"]

Floats = NDArray[np.float64]

_SLACK = 1 + 1e-9  # above every float rounding in the bounds below
_RAREST = 1e-8  # a chance below this is left to Chernoff's bound
_BLUR = 0.01  # the Fourier bound blurs the law by this share of its standard deviation
_NORMAL_FROM = 10  # from this sigma on, Gaussian noise blurred by `_HAZE` is normal to 13 digits
_HAZE = 1.25
# Shares of the largest exponent at which the moments exist: dense at both ends.
_TILTS: Floats = np.concatenate([np.geomspace(1e-6, 0.5, 300), 1 - np.geomspace(0.5, 1e-5, 120)[1:]])


def half_width(noise: Laplace | Gaussian, weights: Floats, counts: Floats, miss: float) -> float:
    """A t with P[|S| > t] <= miss, where S sums `counts[i]` independent draws times `weights[i]`, over all i."""
    return joint_half_width([(noise, weights, counts)], miss)


def joint_half_width(parts: Sequence[tuple[Laplace | Gaussian, Floats, Floats]], miss: float) -> float:
    """The same for a sum of draws of several noises: (noise, weights, counts) of each."""
    safe = _joint_chernoff(parts, miss / 2)
    if miss < _RAREST:
        return safe
    energy = sum(noise.variance * float((counts * weights**2).sum()) for noise, weights, counts in parts)
    deviation, never = math.sqrt(energy), _joint_chernoff(parts, 1e-13)
    blur = max(_BLUR * deviation, never / 2500)  # noise that is nearly always zero needs no more terms than others
    given, reach = 2.5 * blur, 2 * (never + 9 * blur)  # `reach` is one period of the Fourier series
    order = np.arange(1, math.ceil(9 * reach / (2 * math.pi * blur)) + 1)
    theta = 2 * math.pi / reach * order
    logs = -((blur * theta) ** 2) / 2
    for noise, weights, counts in parts:
        for weight, count in zip(weights, counts, strict=True):
            logs += count * _log_characteristic(noise, weight * theta)
    waves = 2 / math.pi * np.exp(logs) / order
    # P[|S + blur| > x] is at least P[|S| > x + given] times the chance that the blur does not undo `given`.
    allowed = miss * NormalDist().cdf(2.5) - 1e-10
    low, high = 0.0, safe
    for _ in range(50):
        middle = (low + high) / 2
        outside = 1 - 2 * middle / reach - float((waves * np.sin(theta * middle)).sum())
        low, high = (low, middle) if outside <= allowed else (middle, high)
    return min(safe, (high + given) * _SLACK)


def one_sided(noise: Laplace | Gaussian, energy: Floats, largest: float, miss: float) -> Floats:
    """For each energy a t with P[S > t] <= miss, S any weighted sum whose squared weights sum to that energy.

    No weight is above `largest` in absolute value; there are fewer than 2^32 of them.
    """
    # The bound grows with the energy, so a long array is rounded up to a hundred or so of them.
    steps = np.geomspace(float(energy.min()), float(energy.max()), min(len(energy), 160))
    steps[-1] = energy.max()
    copies = steps / largest**2
    match noise:
        case Laplace():
            tilt = _TILTS / (float(noise.scale) * largest)
            grown = _log_moment(noise, tilt * largest)
            width = ((copies[:, None] * grown + math.log(1 / miss)) / tilt).min(axis=1)
            width = np.minimum(width, np.sqrt(steps) * (2 + _concave(miss / 0.98) * float(noise.scale)))
        case Gaussian():
            sigma = float(noise.sigma)
            width = np.sqrt(2 * steps * math.log(1 / miss)) * sigma
            if sigma >= _NORMAL_FROM:
                z = -NormalDist().inv_cdf(miss * NormalDist().cdf(2) * 0.999)
                width = np.minimum(width, np.sqrt(steps) * (2 * _HAZE + max(z, 0.0) * math.hypot(sigma, _HAZE)))
        case _:
            assert_never(noise)
    return np.asarray(width[np.searchsorted(steps, energy)] * _SLACK, dtype=np.float64)


def _concave(tail: float) -> float:
    """A t with P[S > t] <= tail for every symmetric S with a log-concave density and variance 2."""
    y = 2 * tail
    if y >= 1 - 1e-6:
        return 0.0
    log = math.log(y)
    return math.sqrt(log * log / (1 + y * (log - 1))) * _SLACK  # 2 = variance >= 2 t^2 (1 + y (ln y - 1)) / (ln y)^2


def _joint_chernoff(parts: Sequence[tuple[Laplace | Gaussian, Floats, Floats]], miss: float) -> float:
    """A t with P[S > t] <= miss, by E[e^(tilt S)] at the best of a few hundred tilts; of Gaussian noise the best."""
    laplace = [(noise, weights, counts) for noise, weights, counts in parts if isinstance(noise, Laplace)]
    spread = math.hypot(
        *(
            float(noise.sigma) * math.sqrt(float((counts * weights**2).sum()))
            for noise, weights, counts in parts
            if isinstance(noise, Gaussian)
        )
    )
    tail = spread * math.sqrt(2 * math.log(1 / miss)) * _SLACK
    if not laplace:
        return tail
    # Beyond the end of its own tilts a Laplace law has no moment: all of them stop at the first such end.
    tilt = _TILTS / max(float(noise.scale) * float(np.abs(weights).max()) for noise, weights, _ in laplace)
    grown = (spread * tilt) ** 2 / 2
    for noise, weights, counts in laplace:
        for weight, count in zip(weights, counts, strict=True):
            grown += count * _log_moment(noise, weight * tilt)
    return float(((grown + math.log(1 / miss)) / tilt).min()) * _SLACK


def _sinh(noise: Laplace) -> float:
    return math.sinh(min(0.5 / float(noise.scale), 300))  # noise this small is none, and more of it is a bound


def _log_moment(noise: Laplace, tilt: Floats) -> Floats:
    """ln E[e^(tilt X)]: E = 1/(1 - (sinh(tilt/2) / sinh(1/(2 scale)))^2)."""
    half = np.minimum(np.abs(tilt) / 2, 300)
    return np.asarray(-np.log1p(-np.minimum((np.sinh(half) / _sinh(noise)) ** 2, 1 - 1e-16)), dtype=np.float64)


def _log_characteristic(noise: Laplace | Gaussian, theta: Floats) -> Floats:
    """ln E[cos(theta X)]; the expectation is positive for both laws."""
    match noise:
        case Laplace():
            return np.asarray(-np.log1p((np.sin(theta / 2) / _sinh(noise)) ** 2), dtype=np.float64)
        case Gaussian():
            # Poisson's summation turns the sum over integers into one over shifts by 2 pi; one of the two is short.
            sigma = max(float(noise.sigma), 0.05)
            turned = np.remainder(theta + math.pi, 2 * math.pi) - math.pi
            if sigma < 0.5:
                x = np.arange(1, 25)
                mass = np.exp(-((x / sigma) ** 2) / 2)
                total = 1 + 2 * float(mass.sum())
                return np.asarray(np.log((1 + 2 * np.cos(np.outer(turned, x)) @ mass) / total), dtype=np.float64)
            shifts = 2 * math.pi * np.arange(-3, 4)
            far = np.exp(-((sigma * shifts) ** 2) / 2 - sigma**2 * np.outer(turned, shifts)).sum(axis=1)
            total = float(np.exp(-((sigma * shifts) ** 2) / 2).sum())
            return np.asarray(np.log(far / total) - (sigma * turned) ** 2 / 2, dtype=np.float64)
        case _:
            assert_never(noise)
