"""Privacy as a guessing game: how well can anyone tell whether a person's data was used?

An attacker sees the release and guesses "in" or "out". Guessing "in" wrongly is a false alarm; guessing "out" wrongly
is a missed detection. Privacy is a floor under the two together: the fewer the false alarms, the more are missed.
Proofs: docs/proofs/tradeoff.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.accounting.convert import basic, zcdp
from discreet.accounting.convert import delta as delta_at
from discreet.accounting.distribution import PrivacyLoss
from discreet.accounting.limits import in_range, read_points
from discreet.accounting.words import percent
from discreet.core.exact import Number, exactly, exp_up, round_up
from discreet.core.loss import Approx, GaussianNoise, Loss
from discreet.errors import InputError, LossError
from discreet.noise.spread import gaussian_above

__all__ = ["Tradeoff", "advantage", "detected", "tradeoff"]

Reals = NDArray[np.float64]

_LARGEST_EPSILON = 60.0
_CURVE = 200  # epsilons at which a privacy curve is read
_THRESHOLDS = 3000  # visited one by one, on either side


@dataclass(frozen=True, slots=True, eq=False)
class Tradeoff:
    """The best attacker's `false_alarm` and `missed` probabilities, arrays ready to plot.

    Guarantee: no attacker who tells two neighbouring tables apart, whatever they compute, is below this line.
    """

    false_alarm: Reals
    missed: Reals
    advantage: Fraction

    def sentence(self) -> str:
        """What the curve means, in one line."""
        right = (1 + self.advantage) / 2
        if right > Fraction(99, 100):
            return "Someone who guesses whether you are in the data can be right almost always: this protects little."
        return (
            "Someone at 50:50 on whether you are in the data, who without your data would guess right half the time, "
            f"is right at most {percent(right, 3, 'up')} of the time with it."
        )


@in_range
def tradeoff(loss: Loss | PrivacyLoss | tuple[Number, Number], points: int = 201) -> Tradeoff:
    """The best attacker against a loss, a privacy loss distribution, or an (epsilon, delta) pair.

    For (epsilon, delta) and false alarms a, at least max(0, 1 - delta - e^epsilon a, e^(-epsilon)(1 - delta - a)) are
    missed. Discrete Gaussian noise of moderate sigma is exact at every point; other losses take
    the highest of the lines their privacy curve gives.

    >>> tradeoff((0, 0)).sentence()[:48]
    'Someone at 50:50 on whether you are in the data,'
    """
    false_alarm = np.linspace(0.0, 1.0, read_points(points))
    match loss:
        case (epsilon, delta):
            claim = Approx(epsilon, delta)
            return Tradeoff(false_alarm, _line(false_alarm, float(claim.epsilon), float(claim.delta)), advantage(claim))
        case PrivacyLoss():
            curve = [(epsilon, float(loss.delta(epsilon))) for epsilon in _epsilons()]
        case _:
            whole = compose([loss])
            if isinstance(whole, GaussianNoise):
                return Tradeoff(false_alarm, _gaussian(whole, false_alarm), advantage(whole))
            curve = [(epsilon, float(delta_at(whole, epsilon))) for epsilon in _epsilons()]
            with suppress(LossError):  # a claim has its corner at its own epsilon
                claim = basic(whole)
                curve.append((float(claim.epsilon) * (1 + 1e-12), float(claim.delta)))
    missed = np.zeros_like(false_alarm)
    for epsilon, delta in curve:
        missed = np.maximum(missed, _line(false_alarm, epsilon, delta))
    return Tradeoff(false_alarm, missed, advantage(loss))


@in_range
def advantage(loss: Loss | PrivacyLoss | tuple[Number, Number]) -> Fraction:
    """How much better than a coin the best attacker does: detections minus false alarms, at most.

    It is the delta at epsilon zero; for an (epsilon, delta) claim, delta + (1 - delta) tanh(epsilon/2).

    >>> round(float(advantage((1, 0))), 4)
    0.4621
    """
    match loss:
        case (epsilon, delta):
            return advantage(Approx(epsilon, delta))
        case PrivacyLoss():
            return loss.delta(0)
        case Approx(epsilon, delta):
            if epsilon > 100:
                return Fraction(1)
            large = exp_up(epsilon)
            return delta + (1 - delta) * (large - 1) / (large + 1)
        case _:
            return delta_at(loss, 0)


@in_range
def detected(loss: Loss, false_alarms: Number = Fraction(1, 2)) -> Fraction:
    """The most that any attacker detects with so many false alarms, rounded up.

    At one half it is also how often a guess about a fact of somebody's is right at most, if the same guess would be
    right half the time without their data, whatever else is known. Proof: docs/proofs/posterior.md, "Guesses".

    >>> round(float(detected(Approx(1, 0))), 4)  # 1 - 1/(2e)
    0.8161
    """
    alarms = exactly(false_alarms, "false_alarms")
    if not 0 <= alarms <= 1:
        raise InputError("false_alarms", false_alarms, "between 0 and 1")
    found = [Fraction(1), alarms + advantage(loss)]
    for epsilon, missed in _lines(loss):
        large = exp_up(epsilon)
        found += [large * alarms + missed, 1 - max(Fraction(0), 1 - missed - alarms) / large]
    return min(found)


def _lines(loss: Loss) -> Iterator[tuple[Fraction, Fraction]]:
    """Epsilons and deltas that are near the curve: a claim, and rho, where Gaussian noise has half false alarms."""
    with suppress(LossError):
        claim = basic(loss)
        if claim.epsilon <= _LARGEST_EPSILON:
            yield claim.epsilon, claim.delta
    with suppress(LossError):
        rho = round_up(zcdp(loss).rho)
        if rho <= _LARGEST_EPSILON:
            yield rho, delta_at(loss, rho)


def _epsilons() -> list[float]:
    return [0.0, *np.geomspace(1e-3, _LARGEST_EPSILON, _CURVE).tolist()]


def _line(false_alarm: Reals, epsilon: float, delta: float) -> Reals:
    kept = 1 - delta
    steep = kept - math.exp(min(epsilon, 700.0)) * false_alarm
    flat = math.exp(-epsilon) * (kept - false_alarm)
    return np.asarray(np.maximum(0.0, np.maximum(steep, flat)) * (1 - 1e-12), dtype=np.float64)


def _gaussian(noise: GaussianNoise, false_alarm: Reals) -> Reals:
    """Thresholds, joined by straight lines: between two of them the best attacker flips a coin."""
    reach = math.ceil(10 * noise.sigma)
    if reach + noise.shift > _THRESHOLDS:  # too many to visit: the lines of the privacy curve stay just below
        return _envelope(noise, false_alarm)
    corners = [(1.0, 0.0)]
    for threshold in range(-reach, reach + noise.shift + 1):
        alarm = gaussian_above(noise.sigma, threshold)[0]
        missed = gaussian_above(noise.sigma, noise.shift - threshold - 1)[0]  # P[X + shift <= t] = P[X > shift - t - 1]
        corners.append((alarm, missed))
    corners.append((0.0, 1 - gaussian_above(noise.sigma, reach)[1]))
    alarms, misses = np.array(corners[::-1]).T
    return np.asarray(np.interp(false_alarm, alarms, misses), dtype=np.float64)


def _envelope(noise: GaussianNoise, false_alarm: Reals) -> Reals:
    missed = np.zeros_like(false_alarm)
    for epsilon in _epsilons():
        missed = np.maximum(missed, _line(false_alarm, epsilon, float(delta_at(noise, epsilon))))
    return missed
