"""From zCDP to (epsilon, delta), as tightly as any Renyi order allows.

For every order alpha > 1, rho-zCDP implies

    delta = e^((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha

(Canonne, Kamath, Steinke 2020, Proposition 12). The order is chosen in floating point, which cannot do harm: any order
gives a true bound. The bound itself is then computed in rational arithmetic, upwards. Proof: docs/proofs/conversion.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.core.exact import exp_up, log_down, log_up, round_up
from discreet.errors import LossError

__all__ = ["delta_of_zcdp", "epsilon_of_zcdp"]

_GRID = 10**12


def epsilon_of_zcdp(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon of rho-zCDP at `delta`, from above, to within 1e-12."""
    if rho == 0:
        return Fraction(0)
    if delta == 0:
        raise LossError("zCDP has no epsilon at a delta of zero; leave it some delta.")
    spread, wanted = float(rho), -_log(delta)

    def guess(excess: float) -> float:  # excess = alpha - 1
        return (1 + excess) * spread + (wanted - math.log1p(excess)) / excess - math.log1p(1 / excess)

    excess = _fraction(_lowest(guess, math.sqrt(wanted / spread)))
    alpha = 1 + excess
    # alpha rho + (ln(1/delta) - ln(alpha))/(alpha-1) + ln(1 - 1/alpha)
    bound = alpha * rho + (log_up(1 / delta) - log_down(alpha)) / excess + log_up(1 - 1 / alpha)
    return round_up(max(Fraction(0), bound), _GRID)


def delta_of_zcdp(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The delta of rho-zCDP at `epsilon`, from above."""
    if rho == 0:
        return Fraction(0)
    spread, target = float(rho), float(epsilon)

    def guess(excess: float) -> float:
        alpha = 1 + excess
        return excess * (alpha * spread - target) - math.log(excess) - alpha * math.log1p(1 / excess)

    excess = _fraction(_lowest(guess, max((target - spread) / (2 * spread), 0.1)))
    alpha = 1 + excess
    exponent = excess * (alpha * rho - epsilon) - log_down(excess) + alpha * log_up(1 - 1 / alpha)
    return min(Fraction(1), exp_up(exponent)) if exponent < 0 else Fraction(1)


def _lowest(function: Callable[[float], float], start: float) -> float:
    """Near the lowest point of a function of a positive number that falls and then rises (golden section, in logs)."""
    left, right = math.log(start) - 4.0, math.log(start) + 4.0
    while left > -60 and function(math.exp(left)) < function(math.exp(left + 0.5)):
        left -= 4
    while right < 60 and function(math.exp(right)) < function(math.exp(right - 0.5)):
        right += 4
    golden = (math.sqrt(5) - 1) / 2
    while right - left > 1e-7:  # the value is flat here: its error is the square of this
        near, far = right - golden * (right - left), left + golden * (right - left)
        if function(math.exp(near)) < function(math.exp(far)):
            right = far
        else:
            left = near
    return math.exp((left + right) / 2)


def _fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(10**12) or Fraction(1, 10**12)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
