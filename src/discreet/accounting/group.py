"""What a release costs a group: several units that change together, such as a household.

Proofs: docs/proofs/group.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from discreet.accounting.compose import Atom, compose, terms
from discreet.accounting.convert import pure
from discreet.accounting.limits import in_range
from discreet.core.exact import exactly, exp_down, exp_up
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    GaussianNoise,
    LaplaceNoise,
    Loss,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.errors import InputError, LossError

__all__ = ["group"]


@in_range
def group(loss: Loss, k: int) -> Loss:
    """The cost of `loss` for any `k` units at once.

    Guarantee: if neighbours differ in one unit and the release costs `loss`, then for datasets that differ in `k` units
    it costs this. Pure and bounded range: k epsilon. zCDP: k^2 rho. (epsilon, delta): k epsilon and
    delta (e^(k epsilon) - 1)/(e^epsilon - 1), rounded up. Noise: a shift k times as large. Compositions: each member.

    >>> group(Pure(0.5), 4)
    Pure(epsilon=Fraction(2, 1))
    """
    size = exactly(k, "k")
    if size.denominator != 1 or size < 1:
        raise InputError("k", k, "a whole number of units, 1 or more")
    if size == 1:
        return loss
    return compose(Repeated(_group(atom, int(size)), times) for atom, times in terms(loss).items())


def _group(atom: Atom, k: int) -> Loss:
    match atom:
        case Pure(epsilon):
            return Pure(k * epsilon)
        case BoundedRange(epsilon):
            return BoundedRange(k * epsilon)
        case ZCDP(rho, delta):
            if delta:
                raise LossError(
                    "Approximate zCDP has no group form: the events that fail differ from unit to unit. "
                    "State it as (epsilon, delta) first: group(approx(loss, delta), k)."
                )
            return ZCDP(k * k * rho)
        case Approx(epsilon, delta):
            return Approx(k * epsilon, _delta(epsilon, delta, k))
        case LaplaceNoise(scale, shift):
            return LaplaceNoise(scale, k * shift)
        case GaussianNoise(sigma, shift):
            return GaussianNoise(sigma, k * shift)
        case RealGaussianNoise(multiplier):
            return RealGaussianNoise(multiplier / k)
        case Sampled():
            try:
                return Pure(k * pure(atom).epsilon)
            except LossError:
                raise LossError(
                    "A sampled loss has no group form of its own: of a group, any number may be sampled. "
                    "State it as (epsilon, delta) first: group(approx(loss, delta), k)."
                ) from None
        case _:
            assert_never(atom)


def _delta(epsilon: Fraction, delta: Fraction, k: int) -> Fraction:
    """delta (1 + e^epsilon + ... + e^((k-1) epsilon)), from above."""
    if delta == 0:
        return delta
    total = Fraction(1)
    if k * epsilon < 1000:
        below = exp_down(epsilon) - 1
        # For an epsilon too small to see, every one of the k terms is at most the last.
        total = delta * ((exp_up(k * epsilon) - 1) / below if below > 0 else k * exp_up(k * epsilon))
    if total >= 1:
        raise LossError(f"For a group of {k} the delta of {float(delta):.3g} grows to 1: nothing is promised to it.")
    return total
