"""Noisy counts that a model should come near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.marginals.counts import Columns
from discreet.synth.calibrate import Floats

__all__ = ["Target", "merged"]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Counts, one axis a column, with the variance of each (or one for all)."""

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
