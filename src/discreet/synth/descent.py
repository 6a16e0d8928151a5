"""Entropic mirror descent with momentum: potentials whose probabilities are nearest to what was measured.

The distance is the sum of squared deviations over twice their variances. A step takes the deviations, divided by
variance, off the potentials: the gradient step of this distance in the geometry of relative entropy. Steps are carried
on (Nesterov), and momentum is dropped whenever the distance grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.synth.calibrate import Floats
from discreet.synth.counts import Columns

__all__ = ["Target", "descend", "merged"]

_PATIENCE = 1e-9  # relative gain below which nothing more is to be had


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Counts that a model should come near: one axis a column, with the variance of each."""

    columns: Columns
    values: Floats
    variance: Floats

    def total(self) -> tuple[float, float]:
        """What the counts add up to, and its variance."""
        return float(self.values.sum()), float(np.broadcast_to(self.variance, self.values.shape).sum())


def merged(targets: Sequence[Target]) -> list[Target]:
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
    probabilities: Callable[[Sequence[Floats]], list[Floats]],
    targets: Sequence[Target],
    start: Sequence[Floats],
    total: float,
    steps: int,
) -> list[Floats]:
    """Potentials near the least distance, after at most so many evaluations of `probabilities`."""
    weights = [1 / target.variance for target in targets]
    best, previous = list(start), list(start)
    ahead = list(start)
    lowest, least = np.inf, np.inf
    pace = 1 / (total * max(float(np.max(weight)) for weight in weights))
    carried = 0
    for _ in range(steps):
        guess = probabilities(ahead)
        off = [total * mass - target.values for mass, target in zip(guess, targets, strict=True)]
        pull = [one * weight for one, weight in zip(off, weights, strict=True)]
        distance = sum(float(np.vdot(one, two)) for one, two in zip(off, pull, strict=True)) / 2
        if not distance <= least * (1 + 1e-12):  # farther, or not a number: go back, and more carefully
            if carried <= 1:
                pace /= 2
            ahead, previous, carried, least = list(best), list(best), 0, np.inf
            continue
        gain, least = least - distance, distance
        if distance < lowest:
            lowest, best = distance, list(ahead)
        if gain < _PATIENCE * distance:
            break
        current = [one - pace * step for one, step in zip(ahead, pull, strict=True)]
        carry = carried / (carried + 3)
        ahead = [now + carry * (now - then) for now, then in zip(current, previous, strict=True)]
        previous, carried = current, carried + 1
        pace *= 1.02
    return best
