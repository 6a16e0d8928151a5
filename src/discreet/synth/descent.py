"""The calmest table that agrees with what was measured: least squares and entropy, weighed against each other.

Of all distributions p that potentials on the measured marginals can make, the one wanted has the least

    sum over cells (N p - y)^2 / (2 variance)  -  calm * N * entropy(p).

With `calm` near zero that is the least squares fit; with more, what noise alone may have made is drawn towards
independence. The dual has no constraints, is smooth and convex, and its gradient is what one calibration gives:

    F(theta) = N log Z(theta) - theta . y + (calm / 2) sum of variance * theta^2,
    dF = N p - y + calm * variance * theta.

At its minimum theta = (y - N p) / (calm * variance), the stationary point of the sum above. F is minimised by L-BFGS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from discreet.synth.calibrate import Floats
from discreet.synth.target import Target, merged

__all__ = ["CALM", "Target", "descend", "merged"]

CALM = 0.75
"""How much entropy counts against squared deviations, unless said otherwise."""
_MEMORY = 12
_STIFF = 4000
ROUNDS = 1
_CLOSE = 1e-4  # standard deviations: nearer to the minimum is not worth a step
Evaluate = Callable[[Sequence[Floats]], tuple[float, list[Floats]]]


def descend(
    evaluate: Evaluate,
    targets: Sequence[Target],
    start: Sequence[Floats],
    total: float,
    steps: int,
    calm: float,
) -> list[Floats]:
    """Potentials near the minimum of F, after at most so many calls of `evaluate`: log Z and the marginals."""
    shapes = [target.values.shape for target in targets]
    ends = np.cumsum([target.values.size for target in targets])
    values = np.concatenate([target.values.ravel() for target in targets])
    noise = np.concatenate([np.broadcast_to(one.variance, one.values.shape).ravel() for one in targets])
    small = _CLOSE * np.sqrt(noise)
    spread = np.maximum(calm * ROUNDS * np.sqrt(noise), total / _STIFF)

    def split(flat: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]

    center = np.zeros_like(values)
    first = 1 / max(Counter(column for target in targets for column in target.columns).values())

    def look(theta: Floats) -> tuple[float, Floats, Floats]:
        """F, its gradient, and the inverse of its curvature along each potential."""
        height, marginals = evaluate(split(theta))
        mass = np.concatenate([one.ravel() for one in marginals])
        pull = total * mass - values + spread * (theta - center)
        value = total * height - float(theta @ values) + float((theta - center) @ (spread * (theta - center))) / 2
        return value, pull, 1 / (total * mass * (1 - mass) + spread)

    theta = np.concatenate([one.ravel() for one in start])
    for _ in range(ROUNDS):
        left = steps // ROUNDS
        value, pull, soft = look(theta)
        past: list[tuple[Floats, Floats]] = []
        while left > 0 and bool((np.abs(pull) > small).any()):
            way = -_newton(pull, soft, past)
            slope = float(way @ pull)
            if slope >= 0:
                past, way = [], -soft * pull
                slope = float(way @ pull)
            length = 1.0 if past else first
            while left > 0:
                left -= 1
                ahead = theta + length * way
                found, then, softer = look(ahead)
                if found <= value + 1e-4 * length * slope + 1e-12 * abs(value):
                    break
                length /= 2 if length > 0.1 else 8
            else:
                break
            step, turn = ahead - theta, then - pull
            if float(step @ turn) > 0:
                past = [*past[-_MEMORY + 1 :], (step, turn)]
            if found >= value and length < 1e-6:
                break
            theta, value, pull, soft = ahead, found, then, softer
        center = theta
    return split(theta)


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
