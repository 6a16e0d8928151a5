"""Renyi accounting of a fixed plan: the older yardstick, kept for comparison with numbers others publish.

The curve of one sampled Gaussian release comes from Google's `dp-accounting`; the rest is closed form. Curves add. The
library loads on first use. `approx` is tighter and is what plans are priced with.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import Atom, compose, terms
from discreet.accounting.convert import basic, zcdp
from discreet.accounting.limits import in_range
from discreet.core.exact import Number, as_written, round_up
from discreet.core.loss import Approx, BoundedRange, LaplaceNoise, Loss, Pure, RealGaussianNoise, Sampled
from discreet.errors import InputError, LossError

__all__ = ["ORDERS", "renyi", "renyi_epsilon"]

# The orders that published DP-SGD figures are computed with.
ORDERS: tuple[float, ...] = (*(1 + x / 10 for x in range(1, 100)), *range(11, 64), 128, 256, 512, 1024)


@in_range
def renyi(loss: Loss) -> NDArray[np.float64]:
    """The Renyi divergence of `loss` at each of `ORDERS`, at most."""
    total = np.zeros(len(ORDERS))
    for atom, times in terms(compose([loss])).items():
        total += times * _curve(atom)
    return total


@in_range
def renyi_epsilon(loss: Loss, delta: Number) -> Fraction:
    """The epsilon of `loss` at `delta` by its Renyi curve, in floating point, rounded up to 1e-9."""
    from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon

    target = as_written(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta", delta, "more than 0 and less than 1")
    if not terms(loss):
        return Fraction(0)
    epsilon, _ = compute_epsilon(np.array(ORDERS), renyi(loss), float(target))
    return round_up(Fraction(float(epsilon)) * (1 + Fraction(1, 10**12)), 10**9)


def _curve(atom: Atom) -> NDArray[np.float64]:
    orders = np.array(ORDERS)
    match atom:
        case Sampled(inside, probability):
            return _sampled(inside, float(probability), atom)
        case Pure() | LaplaceNoise() if basic(atom).epsilon > 0:
            worst = _response(float(basic(atom).epsilon), orders)
            return np.minimum(worst, float(zcdp(atom).rho) * orders) * (1 + 1e-12)
        case BoundedRange(epsilon):
            return np.minimum(float(zcdp(atom).rho) * orders, float(epsilon)) * (1 + 1e-12)
        case Approx():
            raise LossError("A delta has no Renyi divergence; use approx(loss, delta) instead.")
        case _:
            claim = zcdp(atom)
            if claim.delta:
                raise LossError("A delta has no Renyi divergence; use approx(loss, delta) instead.")
            return float(claim.rho) * orders * (1 + 1e-12)


def _response(epsilon: float, orders: NDArray[np.float64]) -> NDArray[np.float64]:
    """Randomized response, the worst of all epsilon-private mechanisms."""
    if epsilon < 1e-3:  # ln(cosh a / cosh b) without the cancellation: cosh a - cosh b is a product of two sinh
        product = 2 * np.sinh(epsilon * orders / 2) * np.sinh(epsilon * (orders - 1) / 2)
        return np.asarray(np.log1p(product / math.cosh(epsilon / 2)) / (orders - 1), dtype=np.float64)
    log_cosh = _log_cosh(epsilon * (orders - 0.5)) - _log_cosh(np.array(epsilon / 2))
    return np.asarray(log_cosh / (orders - 1) + 1e-14, dtype=np.float64)


def _log_cosh(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - math.log(2), dtype=np.float64)


def _sampled(inside: Loss, probability: float, atom: Sampled) -> NDArray[np.float64]:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    counts = terms(inside)
    if all(isinstance(part, RealGaussianNoise) for part in counts):
        precision = 2 * float(zcdp(inside).rho)  # the sum of 1/multiplier^2
        accountant = RdpAccountant(list(ORDERS))
        accountant.compose(PoissonSampledDpEvent(probability, GaussianDpEvent(1 / math.sqrt(precision))))
        # A tiny negative divergence is rounding; the library would read it as no loss at all.
        return np.maximum(np.asarray(accountant.rdp, dtype=np.float64), 0.0) * (1 + 1e-12) + 1e-14
    claim = basic(atom)
    if claim.delta:
        raise LossError("A delta has no Renyi divergence; use approx(loss, delta) instead.")
    return _curve(Pure(claim.epsilon))
