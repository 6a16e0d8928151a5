"""One loss said in another way: pure, zCDP, (epsilon, delta). Every number is exact or rounded up.

Proofs: docs/proofs/conversion.md.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from discreet.accounting.compose import Atom, terms
from discreet.accounting.concentrated import delta_of_zcdp, epsilon_of_zcdp
from discreet.accounting.curve import exact_delta, has_exact
from discreet.accounting.limits import in_range
from discreet.core.exact import Number, as_written, exp_bounds, exp_down, exp_up, log_up, round_up
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Loss,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.errors import InputError, LossError

__all__ = ["approx", "basic", "delta", "pure", "zcdp"]

_FINE = 10**30  # the grid of derived claims: fine enough for a rho of 1e-20, short enough to add up thousands
_STEP = 10**9  # epsilons found by search are multiples of 1e-9
_SEARCHED = 2_000  # where the search for an epsilon gives up
_HUGE = 100_000  # beyond this epsilon, e^epsilon is not worth writing down


def pure(loss: Loss) -> Pure:
    """The epsilon of a loss that has one.

    Guarantee: whatever costs `loss` is epsilon-differentially private. Noise: shift/scale exactly. Poisson sampling
    with probability q turns epsilon into ln(1 + q(e^epsilon - 1)), rounded up. Compositions add.

    >>> pure(LaplaceNoise(scale=10, shift=3))
    Pure(epsilon=Fraction(3, 10))
    """
    claim = basic(loss)
    if claim.delta:
        raise LossError(
            f"{_name(loss)} is private only up to a delta; it has no pure epsilon. Ask for approx(loss, delta) instead."
        )
    return Pure(claim.epsilon)


def basic(loss: Loss) -> Approx:
    """The plain sum: epsilons add, deltas add. For losses built from `Pure`, `Approx` and what implies them."""
    epsilon, missed = Fraction(0), Fraction(0)
    for atom, times in terms(loss).items():
        claim = _basic(atom)
        epsilon += times * claim.epsilon
        missed += times * claim.delta
    return Approx(epsilon, _below_one(missed))


@lru_cache(maxsize=4096)
def _basic(atom: Atom) -> Approx:
    match atom:
        case Pure(epsilon) | BoundedRange(epsilon):
            return Approx(epsilon, 0)
        case Approx():
            return atom
        case LaplaceNoise(scale, shift):
            return Approx(shift / scale, 0)
        case Sampled(inside, probability):
            claim = basic(inside)
            return Approx(_amplified(claim.epsilon, probability), probability * claim.delta)
        case ZCDP() | GaussianNoise() | RealGaussianNoise():
            raise LossError(
                f"{_name(atom)} has no pure epsilon: rare outputs tell arbitrarily much. "
                "Ask for zcdp(loss) or approx(loss, delta) instead."
            )
        case _:
            assert_never(atom)


def _amplified(epsilon: Fraction, probability: Fraction) -> Fraction:
    if epsilon > _HUGE:
        return epsilon
    return min(epsilon, round_up(log_up(1 + probability * (exp_up(epsilon) - 1)), _FINE))


@in_range
def zcdp(loss: Loss) -> ZCDP:
    """The rho (and delta) of a loss that has one.

    Guarantee: whatever costs `loss` is delta-approximately rho-zCDP. Each is the smallest rho there is for its kind:
    epsilon tanh(epsilon/2) for pure epsilon, epsilon^2/8 for bounded range, shift^2/(2 sigma^2) for Gaussian noise,
    (shift - 2r(1 - r^shift)/(1 - r^2))/scale with r = e^(-1/scale) for Laplace noise. Compositions add.

    >>> zcdp(GaussianNoise(sigma=10, shift=1))
    ZCDP(rho=Fraction(1, 200), delta=Fraction(0, 1))
    """
    rho, missed = Fraction(0), Fraction(0)
    for atom, times in terms(loss).items():
        claim = _zcdp(atom)
        rho += times * claim.rho
        missed += times * claim.delta
    return ZCDP(rho, _below_one(missed))


@lru_cache(maxsize=4096)
def _zcdp(atom: Atom) -> ZCDP:
    match atom:
        case ZCDP():
            return atom
        case Pure(epsilon):
            return ZCDP(_pure_rho(epsilon))
        case BoundedRange(epsilon):
            return ZCDP(epsilon * epsilon / 8)
        case Approx(epsilon, missed):
            return ZCDP(_pure_rho(epsilon), missed)
        case LaplaceNoise(scale, shift):
            return ZCDP(_laplace_rho(scale, shift))
        case GaussianNoise(sigma, shift):
            return ZCDP(shift * shift / (2 * sigma * sigma))
        case RealGaussianNoise(multiplier):
            return ZCDP(1 / (2 * multiplier * multiplier))
        case Sampled():
            try:
                claim = _basic(atom)
            except LossError:
                raise LossError(
                    f"{_name(atom)} has no zCDP statement: sampling helps only up to some Renyi order. "
                    "Ask for approx(loss, delta), which counts it by its privacy loss distribution."
                ) from None
            return ZCDP(_pure_rho(claim.epsilon), claim.delta)
        case _:
            assert_never(atom)


def _pure_rho(epsilon: Fraction) -> Fraction:
    """epsilon tanh(epsilon/2), from above."""
    if epsilon > _HUGE:
        return epsilon  # tanh is below one
    # (e^x - 1)/(e^x + 1) grows with e^x.
    large = exp_up(epsilon, 36)
    return round_up(epsilon * (large - 1) / (large + 1), _FINE)


def _laplace_rho(scale: Fraction, shift: int) -> Fraction:
    """The Kullback-Leibler divergence of discrete Laplace noise from its shift, from above."""
    ratio = exp_down(-1 / scale)
    # r/(1 - r^2) grows with r; 1 - r^shift is e^(-shift/scale) from above, taken from one.
    saved = 2 * ratio / (1 - ratio * ratio) * (1 - exp_up(-shift / scale))
    return round_up(max(Fraction(0), (shift - saved) / scale), _FINE)


@in_range
def approx(loss: Loss, delta: Number, *, tight: bool = True) -> Approx:
    """The smallest epsilon that can be proven for `loss` at a total `delta`.

    The best of: the exact curve of a single noise; the tight curve of pure and (epsilon, delta) claims; zCDP; and,
    where `tight`, the privacy loss distribution (`discreet.accounting.pld`, slower). Found to within 1e-9, from above.

    Guarantee: whatever costs `loss` is (epsilon, delta)-differentially private.

    >>> from discreet.accounting.words import readable
    >>> readable(approx(GaussianNoise(sigma=4, shift=1), 1e-5).epsilon)
    '0.92736'
    """
    target = _read_delta(delta)
    _read_tight(tight)
    if target == 0:
        return Approx(pure(loss).epsilon, 0)
    if not terms(loss):
        return Approx(0, target)
    if has_exact(loss):
        with suppress(LossError):  # an epsilon beyond all use: the other routes have some number for it
            return Approx(_exact_epsilon(loss, target), target)
    found: list[Fraction] = []
    reasons: list[str] = []
    try:
        found.append(_basic_epsilon(basic(loss), target))
    except LossError as error:
        reasons.append(str(error))
    try:
        claim = zcdp(loss)
        found.append(epsilon_of_zcdp(claim.rho, _left(claim.delta, target)))
    except LossError as error:
        reasons.append(str(error))
    if tight:
        from discreet.accounting.pld import privacy_loss

        try:
            found.append(privacy_loss(loss).epsilon(target))
        except LossError as error:
            reasons.append(str(error))
    if not found:
        found.append(_split_epsilon(loss, target, reasons[-1]))
    return Approx(min(found), target)


def _split_epsilon(loss: Loss, target: Fraction, reason: str) -> Fraction:
    """zCDP claims beside what has no zCDP: each side gets half of the delta, and epsilons add."""
    sides = _split(loss)
    if not sides:
        raise LossError(reason)
    return sum((approx(side, target / 2).epsilon for side in sides), Fraction(0))


def _split_delta(loss: Loss, target: Fraction) -> Fraction:
    sides = _split(loss)
    return min(Fraction(1), sum((delta(side, target / 2) for side in sides), Fraction(0))) if sides else Fraction(1)


def _split(loss: Loss) -> tuple[Loss, ...]:
    counts = terms(loss)
    moments = [Repeated(atom, times) for atom, times in counts.items() if isinstance(atom, ZCDP)]
    others = [Repeated(atom, times) for atom, times in counts.items() if not isinstance(atom, ZCDP)]
    return (Composed(moments), Composed(others)) if moments and others else ()


@in_range
def delta(loss: Loss, epsilon: Number, *, tight: bool = True) -> Fraction:
    """The smallest delta that can be proven for `loss` at `epsilon`, by the same routes as `approx`.

    Guarantee: whatever costs `loss` is (epsilon, delta)-differentially private.

    >>> delta(LaplaceNoise(scale=10, shift=1), 0.1)
    Fraction(0, 1)
    """
    target = as_written(epsilon, "epsilon")
    if target < 0:
        raise InputError("epsilon", epsilon, "zero or more")
    if not terms(loss):
        return Fraction(0)
    _read_tight(tight)
    if has_exact(loss):
        return round_up(exact_delta(loss, target), _FINE)
    found = [Fraction(1)]  # everything is (epsilon, 1)-private
    with suppress(LossError):
        found.append(_basic_delta(basic(loss), target))
    with suppress(LossError):
        claim = zcdp(loss)
        found.append(claim.delta + (1 - claim.delta) * delta_of_zcdp(claim.rho, target))
    if tight:
        from discreet.accounting.pld import privacy_loss

        with suppress(LossError):
            found.append(privacy_loss(loss).delta(target))
    if len(found) == 1:
        found.append(_split_delta(loss, target))
    return round_up(min(found), _FINE)


def _basic_epsilon(claim: Approx, target: Fraction) -> Fraction:
    """Where the worst (epsilon, delta)-private pair of outputs crosses `target`."""
    spare = _left(claim.delta, target)
    if spare == 0 or claim.epsilon > _HUGE:
        return claim.epsilon
    low, high = exp_bounds(claim.epsilon)
    needed = high - spare * (1 + low)
    return min(claim.epsilon, round_up(log_up(needed), _FINE)) if needed > 1 else Fraction(0)


def _basic_delta(claim: Approx, target: Fraction) -> Fraction:
    if target >= claim.epsilon:
        return claim.delta
    if claim.epsilon > _HUGE:
        return Fraction(1)
    # (e^x - e^target)/(1 + e^x) grows with e^x.
    large = exp_up(claim.epsilon)
    return claim.delta + (1 - claim.delta) * (large - exp_down(target)) / (1 + large)


def _exact_epsilon(loss: Loss, target: Fraction) -> Fraction:
    """The smallest multiple of 1e-9 at which the exact curve is below `target`."""
    below, above = -1, _STEP
    while exact_delta(loss, Fraction(above, _STEP)) > target:
        below, above = above, 2 * above
        if above > _SEARCHED * _STEP:
            raise LossError(
                f"{_name(loss)} at delta {float(target):.3g} has an epsilon above {_SEARCHED}: no privacy at all."
            )
    while above - below > 1:
        middle = (above + below) // 2
        if exact_delta(loss, Fraction(middle, _STEP)) > target:
            below = middle
        else:
            above = middle
    return Fraction(above, _STEP)


def _left(spent: Fraction, target: Fraction) -> Fraction:
    """What is left of `target` for the well-behaved part: spent + (1 - spent) left = target."""
    if spent > target:
        raise LossError(
            f"The loss has a delta of {float(spent):.3g} already; it cannot be stated at {float(target):.3g}."
        )
    return (target - spent) / (1 - spent)


def _below_one(missed: Fraction) -> Fraction:
    if missed >= 1:
        raise LossError(f"The deltas add up to {float(missed):.3g}: a total of 1 or more promises nothing.")
    return missed


def _read_tight(value: bool) -> None:
    if not isinstance(value, bool):
        raise InputError("tight", value, "True or False")


def _read_delta(value: Number) -> Fraction:
    number = as_written(value, "delta")
    if not 0 <= number < 1:
        raise InputError("delta", value, "at least 0 and less than 1", "Choose it well below 1 / (number of units).")
    return number


def _name(loss: Loss) -> str:
    return type(loss).__name__
