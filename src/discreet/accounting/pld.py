"""Tight accounting of a fixed plan by its privacy loss distribution, through Google's `dp-accounting`.

Distributions are built and composed directly, not through that library's event accountants. All are pessimistic:
losses are rounded up to a grid, tails are counted as infinite. `dp-accounting` (and SciPy) load on first use.

For plans whose steps are all fixed before the first one runs. A ledger whose questions depend on answers adds pure or
zCDP claims instead. Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, assert_never

import numpy as np

from discreet.accounting.compose import Atom, compose, terms
from discreet.accounting.convert import basic, zcdp
from discreet.accounting.distribution import PrivacyLoss, Reals, Side
from discreet.accounting.limits import in_range
from discreet.accounting.sampled_gaussian import sampled_gaussian
from discreet.core.exact import exactly
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    GaussianNoise,
    LaplaceNoise,
    Loss,
    Pure,
    RealGaussianNoise,
    Sampled,
)
from discreet.errors import InputError, LossError

__all__ = ["COARSE", "FINE", "privacy_loss"]

FINE = 1e-4  # the grid of losses for numbers that are reported
COARSE = 1e-3  # and while searching
_POINTS = 1 << 22  # at most about this many grid points; the grid widens beyond
_CELLS = 32  # grid points that the range of a single loss has at least
_NARROWEST = 1e-9  # the narrowest grid that is chosen for small losses
_DIFFERENT = 200  # distinct losses in one plan
_WIDEST = 10_000  # the largest sigma and shift whose law is laid out point by point
_LARGEST = 500  # the largest single loss, short of where e^loss leaves floating point
_TRUNCATED = 1e-15  # probability that one composition may move to infinity
_ROUNDING = 2.0**-46  # of one transform, in units of a total probability of one


@in_range
def privacy_loss(loss: Loss, interval: float = FINE, *, narrowed: bool = True) -> PrivacyLoss:
    """The privacy loss distribution of `loss`, from above, its losses rounded up to a grid.

    The grid is `interval`, or narrower where single losses are so small that it would blur them; not if `narrowed` is
    false, as multipliers of earlier versions were computed.

    Every loss has one except zCDP, which is a claim about moments only (`LossError`). Claims are represented by the
    worst mechanism that satisfies them.

    >>> plan = privacy_loss(Sampled(RealGaussianNoise(1.1), 0.01), interval=1e-3)
    >>> 0.1 < plan.epsilon(1e-5) < 1
    True
    """
    step = float(exactly(interval, "interval"))
    if not 1e-6 <= step <= 1:
        raise InputError("interval", interval, "between 1e-6 and 1")
    if not isinstance(narrowed, bool):
        raise InputError("narrowed", narrowed, "True or False")
    return _privacy_loss(compose([loss]), step, narrowed)


@lru_cache(maxsize=32)
def _privacy_loss(loss: Loss, interval: float, narrowed: bool) -> PrivacyLoss:
    counts = _merged(terms(loss))
    if len(counts) > _DIFFERENT:
        raise LossError(
            f"The plan has {len(counts)} different losses; distributions are composed for {_DIFFERENT} at most."
        )
    step = _grid(counts, interval, narrowed)
    claims: dict[tuple[int, Fraction], int] = {}  # pure claims that round to the same grid point are one event
    parts = []
    for atom, times in counts.items():
        match atom:
            case Pure() | BoundedRange() | Approx():
                claim = basic(atom)
                key = (math.ceil(claim.epsilon / Fraction(step)), claim.delta)
                claims[key] = claims.get(key, 0) + times
            case _:
                parts.append(_repeated(_event(atom, step, narrowed), times))
    parts.extend(_repeated(_claim(steps, float(missed), step), times) for (steps, missed), times in claims.items())
    while len(parts) > 1:  # a tree: neighbours of like size are composed first
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [pair[0].compose(pair[1], _TRUNCATED) if len(pair) == 2 else pair[0] for pair in pairs]
    if not parts:
        parts = [_claim(0, 0.0, step)]
    return _sides(parts[0], step, _releases(counts))


def _releases(counts: dict[Atom, int]) -> int:
    """How many releases the plan makes in all, those inside samples too."""
    inside = {atom: _releases(terms(atom.loss)) if isinstance(atom, Sampled) else 1 for atom in counts}
    return sum(times * inside[atom] for atom, times in counts.items())


def _merged(counts: dict[Atom, int]) -> dict[Atom, int]:
    """Real Gaussian noises as one: their precisions 1/multiplier^2 add."""
    real = {atom: times for atom, times in counts.items() if isinstance(atom, RealGaussianNoise)}
    if sum(real.values()) <= 1:
        return counts
    precision = sum((times / atom.multiplier**2 for atom, times in real.items()), Fraction(0))
    rest: dict[Atom, int] = {atom: times for atom, times in counts.items() if atom not in real}
    rest[RealGaussianNoise(1 / math.sqrt(precision) * (1 - 1e-12))] = 1
    return rest


def _grid(counts: dict[Atom, int], interval: float, narrowed: bool) -> float:
    """The grid: narrowed where single losses are small beside it, widened until the whole composition fits on it.

    Always by halves and doubles: points of a wider grid are points of a narrower one, so a narrower one never costs
    more, and what was charged by a wider one is enough.
    """
    reach = spread = 0.0
    moving = 0
    for atom, times in counts.items():
        mean, range_ = _size(atom)
        if max(mean, range_) > _LARGEST:
            raise LossError(f"A loss of about {max(mean, range_):.3g} has no privacy left to count; use pure or zcdp.")
        reach += times * mean + 10 * range_
        spread += times * range_ * range_
        moving += times if range_ > 0 else 0
    if narrowed and spread > 0:  # rounding widens a loss by about the square of the grid: small beside its own
        cell = max(math.sqrt(spread / moving) / _CELLS, _NARROWEST)
        while interval > cell:
            interval /= 2
    width = 2 * (reach + 6 * math.sqrt(spread))
    while width / interval > _POINTS:
        interval *= 2
    return interval


def _size(atom: Atom) -> tuple[float, float]:
    """About the mean and the range of one loss."""
    try:
        largest = float(basic(atom).epsilon)
        return largest * math.tanh(largest / 2), largest
    except LossError:
        pass
    if isinstance(atom, Sampled):
        sizes = [(times, *_size(inside)) for inside, times in terms(atom.loss).items()]
        whole = sum(n * mean for n, mean, _ in sizes) + 3 * math.sqrt(sum(n * size**2 for n, _, size in sizes))
        largest = math.log1p(float(atom.probability) * math.expm1(min(whole, 700.0)))
        return largest * largest, largest
    rho = float(zcdp(atom).rho)
    return rho, math.sqrt(2 * rho)


def _event(atom: Atom, step: float, narrowed: bool) -> Any:
    """The distribution of one release."""
    match atom:
        case Pure() | BoundedRange() | Approx():
            claim = basic(atom)
            return _claim(math.ceil(claim.epsilon / Fraction(step)), float(claim.delta), step)
        case LaplaceNoise() | GaussianNoise() | RealGaussianNoise():
            return _noise(atom, step, 1.0)
        case Sampled(LaplaceNoise() | GaussianNoise() | RealGaussianNoise() as inside, probability):
            return _noise(inside, step, float(probability))
        case Sampled(inside, probability):
            alone = list(_merged(terms(inside)).items())
            match alone:
                case [(RealGaussianNoise() as noise, 1)]:
                    return _noise(noise, step, float(probability))
                case _:
                    return _sampled(_privacy_loss(inside, step, narrowed), float(probability), step)
        case ZCDP():
            raise LossError(
                "zCDP bounds moments only; it has no privacy loss distribution. Use zcdp(loss) or approx(loss, delta)."
            )
        case _:
            assert_never(atom)


def _noise(atom: LaplaceNoise | GaussianNoise | RealGaussianNoise, step: float, probability: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as library

    shared = {"value_discretization_interval": step, "sampling_prob": probability, "use_connect_dots": True}
    match atom:
        case RealGaussianNoise(multiplier):
            return sampled_gaussian(float(multiplier), probability, step)
        case LaplaceNoise(scale, shift):
            if shift > _WIDEST:
                raise LossError(f"A shift of {shift} is too wide to lay out point by point; state it as Pure first.")
            return library.from_discrete_laplace_mechanism(1 / float(scale), shift, **shared)
        case GaussianNoise(sigma, shift):
            if sigma > _WIDEST or shift > 20 * sigma:
                raise LossError(f"Discrete Gaussian noise of sigma {float(sigma):.4g} is not laid out point by point.")
            return library.from_discrete_gaussian_mechanism(float(sigma), shift, **shared)
        case _:
            assert_never(atom)


def _claim(steps: int, missed: float, step: float) -> Any:
    """The worst mechanism with an epsilon of `steps` grid steps and a delta of `missed`: randomized response."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    kept = 1 - missed
    if steps == 0:
        return PrivacyLossDistribution.create_from_rounded_probability({0: kept}, missed, step)
    odds = math.exp(-steps * step)
    masses = {steps: kept / (1 + odds), -steps: kept * odds / (1 + odds)}
    return PrivacyLossDistribution.create_from_rounded_probability(masses, missed, step)


def _repeated(event: Any, times: int) -> Any:
    return event if times == 1 else event.self_compose(times, _TRUNCATED)


def _sides(distribution: Any, step: float, times: int) -> PrivacyLoss:
    # The arrays have no public name in dp_accounting 0.6; they are read here and nowhere else.
    remove = _side(distribution._pmf_remove.to_dense_pmf(), step)
    add = remove if distribution._symmetric else _side(distribution._pmf_add.to_dense_pmf(), step)
    return PrivacyLoss(remove, add, margin=_ROUNDING * times)


def _side(masses: Any, step: float) -> Side:
    probabilities: Reals = np.maximum(np.asarray(masses._probs, dtype=np.float64), 0.0)
    losses: Reals = np.asarray((np.arange(len(probabilities)) + int(masses._lower_loss)) * step, dtype=np.float64)
    return Side(losses, probabilities, float(masses._infinity_mass))


def _sampled(inside: PrivacyLoss, probability: float, step: float) -> Any:
    """What a composition costs on a Poisson sample: outputs become a mixture with those of the neighbour.

    Removing: qP + (1-q)Q against Q, of which an output of loss l becomes one of ln(1 - q + q e^l). Adding: P against
    qQ + (1-q)P, of which it becomes -ln(1 - q + q e^(-l)).
    """
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    q = probability
    given = inside.remove
    losses = np.log1p(q * np.expm1(np.minimum(given.losses, 700.0)))
    other = given.probabilities * np.exp(-np.maximum(given.losses, -700.0))  # Q of the same outputs
    unseen = (1 - q) * max(0.0, 1.0 - float(other.sum()))  # outputs that only Q gives
    masses = q * given.probabilities + (1 - q) * other
    remove = _connected(np.append(math.log1p(-q), losses), np.append(unseen, masses), q * given.infinity, step)
    given = inside.add
    losses = -np.log1p(q * np.expm1(-np.maximum(given.losses, -700.0)))
    # Outputs that only P gives are no longer certain: they have the largest finite loss.
    add = _connected(np.append(losses, -math.log1p(-q)), np.append(given.probabilities, given.infinity), 0.0, step)
    return PrivacyLossDistribution(remove, add)


def _connected(losses: Reals, masses: Reals, infinity: float, step: float) -> Any:
    """The smallest distribution on the grid that is nowhere below this one (losses in rising order)."""
    from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots

    grid = np.arange(math.floor(losses[0] / step) - 1, math.ceil(losses[-1] / step) + 2)
    above = np.searchsorted(losses, grid * step, side="right")
    upper = np.append(np.cumsum(masses[::-1])[::-1], 0.0)[above]
    lower = np.append(np.cumsum((masses * np.exp(-losses))[::-1])[::-1], 0.0)[above]
    deltas = np.clip(infinity + upper - np.exp(grid * step) * lower, 0.0, 1.0)
    return create_pmf_pessimistic_connect_dots(step, grid, np.maximum.accumulate(deltas[::-1])[::-1])
