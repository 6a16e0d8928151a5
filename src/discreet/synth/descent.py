"""The calmest table that agrees with what was measured.

Wanted are potentials on the measured marginals whose model comes near to the noisy counts, without following their
noise. With N rows, probabilities p and counts y of a known variance, a round takes the step

    theta' = argmin  N log Z(theta) - theta . y + sum of (calm / 2) * (theta - theta_before)^2,

a convex problem without constraints whose gradient, N p - y + calm * (theta - theta_before), is what one calibration
gives; L-BFGS solves it. `calm` is in standard deviations of the noise. One round alone would leave a bias of calm
times theta in the counts; with a few rounds, each starting where the last ended, strong dependence is met in full
while noise has hardly been followed. (Each round is an implicit step of entropic mirror descent.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.marginals.counts import Columns
from discreet.synth.junction import Floats

__all__ = ["CALM", "Target", "average_targets", "descend"]

CALM = 1.5
"""How hard potentials are held back in the first round, in standard deviations of the noise for each unit."""
_MEMORY = 12
_STIFF = 4000  # of all rows, one part in so many: the least hold, or rounds would take too long
_ROUNDS = 3
_CLOSE = 1e-4  # standard deviations: nearer to the minimum is not worth a step
_STUCK = 1e-6
Evaluate = Callable[[Sequence[Floats]], tuple[float, list[Floats]]]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Counts, one axis a column, with the variance of each (or one for all)."""

    columns: Columns
    values: Floats
    variance: Floats

    def total(self) -> tuple[float, float]:
        """What the counts add up to, and its variance."""
        return float(self.values.sum()), float(np.broadcast_to(self.variance, self.values.shape).sum())


def average_targets(targets: Sequence[Target]) -> list[Target]:
    """One target for each set of columns: repeated measurements are averaged, the precise ones counting more.

    Least squares sees no difference: the sum of squares is the same up to a constant.
    """
    found: dict[Columns, list[Target]] = {}
    for target in targets:
        found.setdefault(target.columns, []).append(target)
    return [_average(group) for group in found.values()]


def _average(group: list[Target]) -> Target:
    if len(group) == 1:
        return group[0]
    precision = np.sum([np.broadcast_to(1 / one.variance, one.values.shape) for one in group], axis=0)
    values = np.sum([one.values / one.variance for one in group], axis=0) / precision
    return Target(group[0].columns, values, 1 / precision)


def descend(
    evaluate: Evaluate,
    targets: Sequence[Target],
    start: Sequence[Floats],
    total: float,
    steps: int,
    calm: float,
) -> list[Floats]:
    """Potentials after three rounds, with about so many calls of `evaluate`, which gives log Z and the marginals."""
    shapes = [target.values.shape for target in targets]
    ends = np.cumsum([target.values.size for target in targets])
    values = np.concatenate([target.values.ravel() for target in targets])
    noise = np.concatenate([np.broadcast_to(one.variance, one.values.shape).ravel() for one in targets])
    small = _CLOSE * np.sqrt(noise)
    spread = np.maximum(calm * _ROUNDS * np.sqrt(noise), total / _STIFF)

    center = np.zeros_like(values)

    def split(flat: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]

    def look(theta: Floats) -> tuple[float, Floats, Floats]:
        """What is to be least, its gradient, and the inverse of its curvature along each potential."""
        height, marginals = evaluate(split(theta))
        mass = np.concatenate([one.ravel() for one in marginals])
        away = theta - center
        value = total * height - float(theta @ values) + float(away @ (spread * away)) / 2
        return value, total * mass - values + spread * away, 1 / (total * mass * (1 - mass) + spread)

    # Potentials that share a column push the same cells: a first step, which knows nothing of that, is a short one.
    first = 1 / max(Counter(column for target in targets for column in target.columns).values())
    theta = np.concatenate([one.ravel() for one in start])
    for _ in range(_ROUNDS):
        center = theta = _least(look, theta, steps // _ROUNDS, small, first)
    return split(theta)


def _least(
    look: Callable[[Floats], tuple[float, Floats, Floats]], theta: Floats, steps: int, small: Floats, first: float
) -> Floats:
    """L-BFGS: where `look` is about least, after at most so many steps or with every slope `small`."""
    value, pull, soft = look(theta)
    past: list[tuple[Floats, Floats]] = []
    while steps > 0 and bool((np.abs(pull) > small).any()):
        way = -_newton(pull, soft, past)
        slope, length = float(way @ pull), 1.0 if past else first
        while steps > 0:
            steps -= 1
            ahead = theta + length * way
            found, then, softer = look(ahead)
            if found <= value + 1e-4 * length * slope + 1e-12 * abs(value):  # not so if it is not a number
                break
            length /= 2 if length > 0.1 else 8
        else:
            break
        step, turn = ahead - theta, then - pull
        if float(step @ turn) > 0:
            past = [*past[-_MEMORY + 1 :], (step, turn)]
        theta, value, pull, soft = ahead, found, then, softer
        if length < _STUCK:
            break
    return theta


def _newton(pull: Floats, soft: Floats, past: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The gradient times about the inverse of the curvature: the two loops of L-BFGS around the diagonal one."""
    way = pull.copy()
    factors = []
    for step, turn in reversed(past):
        share = float(step @ way) / float(step @ turn)
        way -= share * turn
        factors.append(share)
    if past:
        step, turn = past[-1]
        way *= float(step @ turn) / float(turn @ (soft * turn))
    way *= soft
    for (step, turn), share in zip(past, reversed(factors), strict=True):
        way += (share - float(turn @ way) / float(step @ turn)) * step
    return way
