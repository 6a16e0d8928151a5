"""Potentials whose model comes near to noisy marginals, and stops before it follows their noise.

With probabilities p of the model, counts y of a known variance and N rows, the error is

    sum of w * (p - y / N)^2 / 2,    w = 1 / (variance * (y + 300 deviations)), scaled so that the largest is one,

and a step moves every potential against w * (p - y / N). In the space of probabilities that is mirror descent with
entropy as its distance: steps are multiplicative, so cells that the start holds to be nearly empty stay so unless much
speaks against it. That large cells weigh less makes it quick, since they react most; that cells of up to 300 deviations
weigh the same keeps it from running after noise in the small ones. Noise of less than a row counts as one of a row:
where it is little, discrete noise falls exponentially with the price, and a count with a variance of a half would weigh
a millionth of one with next to none, and not be met in any number of steps. Momentum makes it quicker. Where the error
rises the last step is taken back and momentum dropped.

It is meant to be stopped early. Strong dependence is met in the first steps, noise is followed in the last: a minimum
that is reached in full is farther from the table than what came before it. The truth itself is about one variance away
from each noisy count, so a model that is nearer to them than that, with some allowance for what it must fit, has seen
what there is to see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.marginals.counts import Columns
from discreet.synth.junction import Floats

__all__ = ["Target", "average_targets", "descend"]

_MOMENTUM = 0.9
_WARMING = 3  # steps until half of it is used
_LONGER, _SHORTER = 1.15, 0.5
_BACK = 0.8  # a step shrinks by this when momentum, and not its length, may have been too much
_EVEN = 300  # deviations up to which small cells and empty ones weigh the same
_SMALL = 200  # and at least up to one part in so many of all rows
_STILL = 1e-12  # steps of no effect
_WHOLE = 1.0  # a variance below which counts weigh the same: rows are whole, and less noise tells nothing more
_ENOUGH = 0.65  # variances from the counts, in the mean: nearer is following noise
Evaluate = Callable[[Sequence[Floats]], list[Floats]]


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
    evaluate: Evaluate, targets: Sequence[Target], start: Sequence[Floats], total: float, steps: int
) -> list[Floats]:
    """Potentials after at most so many calls of `evaluate`, which gives the marginals' probabilities."""
    shapes = [target.values.shape for target in targets]
    ends = np.cumsum([target.values.size for target in targets])[:-1]
    values = np.concatenate([target.values.ravel() for target in targets]) / total
    weights = _weights(targets, total)
    noise = np.concatenate([np.broadcast_to(one.variance, one.values.shape).ravel() for one in targets]) / total**2
    joint = np.repeat([len(one.columns) > 1 for one in targets], [one.values.size for one in targets])
    judged = joint if joint.any() else np.ones_like(joint)
    many = int(judged.sum())

    def split(flat: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]

    def look(potentials: Floats) -> tuple[float, Floats, float]:
        """The error, its slopes, and how many variances away the counts of several columns are."""
        off = np.concatenate([one.ravel() for one in evaluate(split(potentials))]) - values
        slopes = weights * off
        error = float(off @ slopes) / 2
        return (error if math.isfinite(error) else math.inf), slopes, float((off**2 / noise) @ judged) / many

    potentials = np.concatenate([one.ravel() for one in start])
    error, slopes, away = look(potentials)
    moving, length, turn = np.zeros_like(potentials), 1.0, 0
    for _ in range(steps - 1):
        if length < _STILL or away <= _ENOUGH:
            break
        momentum = _MOMENTUM * turn / (turn + _WARMING)
        step = momentum * moving - length * slopes
        ahead, then, nearer = look(potentials + step)
        if ahead <= error:
            potentials += step
            moving, error, slopes, away = step, ahead, then, nearer
            length, turn = length * _LONGER, turn + 1
        else:
            length *= _BACK if turn else _SHORTER
            moving, turn = np.zeros_like(potentials), 0
    return split(potentials)


def _weights(targets: Sequence[Target], total: float) -> Floats:
    """How much each count says. One of a single code says how many rows there are, and nothing of the model."""
    found = []
    for target in targets:
        noise = np.sqrt(np.maximum(np.broadcast_to(target.variance, target.values.shape), _WHOLE))
        even = np.maximum(_EVEN * noise, total / _SMALL)
        found.append((1 / (noise**2 * (np.maximum(target.values, 0.0) + even))).ravel())
    most = max((float(one.max()) for one in found if one.size > 1), default=1.0)
    return np.concatenate([np.minimum(one / most, 1.0) for one in found])
