"""The exact privacy curve of a single noise: delta as a function of epsilon, bounded from above.

For integers plus noise of one law, the best attack compares two shifted copies of that law, and its curve is a
difference of two tails. Proof: docs/proofs/conversion.md, "One noise".
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.accounting.compose import terms
from discreet.core.exact import exp_down, exp_up
from discreet.core.loss import GaussianNoise, LaplaceNoise, Loss, RealGaussianNoise
from discreet.errors import InputError
from discreet.noise.spread import gaussian_above

__all__ = ["exact_delta", "gaussian_delta", "has_exact", "laplace_delta", "real_gaussian_delta"]

_SLACK = Fraction(1, 10**11)  # covers every rounding of `math.erfc` and its argument: see the proof note
_TINY = exp_up(Fraction(-600))  # more than any probability that a float cannot hold
_LARGEST = 10**6  # beyond this precision the argument of `erfc` loses the digits that the slack counts on


def has_exact(loss: Loss) -> bool:
    """Whether `exact_delta` knows the curve of this loss."""
    counts = terms(loss)
    if all(isinstance(atom, RealGaussianNoise) for atom in counts):
        return bool(counts)
    return list(counts.values()) == [1] and isinstance(next(iter(counts)), LaplaceNoise | GaussianNoise)


def exact_delta(loss: Loss, epsilon: Fraction) -> Fraction:
    """The smallest delta at `epsilon`, from above, for a loss that `has_exact`."""
    counts = terms(loss)
    match list(counts):
        case [LaplaceNoise(scale, shift)]:
            return laplace_delta(scale, shift, epsilon)
        case [GaussianNoise(sigma, shift)]:
            return gaussian_delta(sigma, shift, epsilon)
        case _:
            # Gaussian noise of several multipliers on one vector is Gaussian noise of one: precisions add.
            precision = Fraction(0)
            for atom, times in counts.items():
                if not isinstance(atom, RealGaussianNoise):
                    raise InputError(
                        "loss", loss, "the loss of one Laplace or Gaussian noise, or of real Gaussian noise only"
                    )
                precision += times / atom.multiplier**2
            return real_gaussian_delta(precision, epsilon)


def laplace_delta(scale: Fraction, shift: int, epsilon: Fraction) -> Fraction:
    """delta of an integer that moves by `shift` under discrete Laplace noise.

    With u = (epsilon scale + shift)/2 the attacker's threshold: P[X > u - shift] - e^epsilon P[X > u].
    """
    if epsilon * scale >= shift:
        return Fraction(0)
    last = math.floor((epsilon * scale + shift) / 2)  # 0 <= last < shift
    total = 1 + exp_up(-1 / scale)
    missed = exp_down(-(shift - last) / scale) / total  # P[X <= u - shift]
    alarms = exp_down(-(last + 1) / scale) / total
    return _probability(1 - missed - _exp_below(epsilon) * alarms)


def gaussian_delta(sigma: Fraction, shift: int, epsilon: Fraction) -> Fraction:
    """delta of an integer that moves by `shift` under discrete Gaussian noise.

    P[X > epsilon sigma^2/shift - shift/2] - e^epsilon P[X > epsilon sigma^2/shift + shift/2], the first tail from
    above, the second from below.
    """
    if shift == 0:
        return Fraction(0)
    if epsilon > 700 * (1 + (shift / sigma) ** 2):  # further out than any float; zCDP says less than e^-600
        return _TINY
    first = math.floor(epsilon * sigma**2 / shift - Fraction(shift, 2))
    near, far = gaussian_above(sigma, first)[1], gaussian_above(sigma, first + shift)[0]
    return _probability(Fraction(near) - _exp_below(epsilon) * Fraction(far))


def real_gaussian_delta(precision: Fraction, epsilon: Fraction) -> Fraction:
    """delta of a real vector under Gaussian noise; `precision` is the sum of 1/multiplier^2.

    With a = sqrt(precision): Phi(a/2 - epsilon/a) - e^epsilon Phi(-a/2 - epsilon/a).
    """
    if precision > _LARGEST:
        return Fraction(1)
    move = math.sqrt(precision)
    near = math.erfc((float(epsilon) / move - move / 2) / math.sqrt(2)) / 2
    far = math.erfc((float(epsilon) / move + move / 2) / math.sqrt(2)) / 2
    high = Fraction(near) * (1 + _SLACK) + _TINY
    low = max(Fraction(0), Fraction(far) * (1 - _SLACK) - _TINY)
    return _probability(high - _exp_below(epsilon) * low)


def _exp_below(epsilon: Fraction) -> Fraction:
    return exp_down(min(epsilon, Fraction(100_000)))


def _probability(value: Fraction) -> Fraction:
    return min(Fraction(1), max(Fraction(0), value))
