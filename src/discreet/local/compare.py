"""Whether two groups differ: tests and intervals for differences of frequencies or means."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.errors import InputError, Phrase
from discreet.local.estimate import Of
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Difference", "difference"]

Floats = NDArray[np.float64]


class Measured(Protocol):
    """An estimate: values (frequencies or means) and their variances."""

    @property
    def values(self) -> Floats: ...

    def variance(self, of: Of = "respondents") -> Floats: ...


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """First group minus second, for each category."""

    values: Floats
    errors: Floats

    @property
    def z(self) -> Floats:
        """How many standard errors each difference is from zero."""
        return np.asarray(np.divide(self.values, self.errors, out=np.zeros_like(self.values), where=self.errors > 0))

    def p_values(self, *, together: bool = True) -> Floats:
        """The chance of a difference so large if there is none; corrected (Holm) for looking at all categories."""
        law = NormalDist()
        alone = np.array([2 * law.cdf(-abs(z)) for z in self.z])
        if not together:
            return alone
        order = np.argsort(alone)
        stepped = np.maximum.accumulate(alone[order] * np.arange(len(alone), 0, -1))
        out = np.empty_like(alone)
        out[order] = np.minimum(stepped, 1)
        return out

    def interval(self, confidence: float = 0.95, *, together: bool = False) -> Floats:
        """Rows (lower, upper) of each difference."""
        miss = float(1 - read_confidence(confidence)) / (len(self.values) if together else 1)
        half = -NormalDist().inv_cdf(miss / 2) * self.errors
        return np.column_stack([self.values - half, self.values + half])


@typed
def difference(first: Measured, second: Measured, of: Of = "population") -> Difference:
    """What two groups differ by. Each group may have had a mechanism and an epsilon of its own.

    >>> from discreet.local import GRR
    >>> north, south = (GRR(2, epsilon=4).estimate([1] * ones + [0] * (5000 - ones)) for ones in (2000, 1000))
    >>> difference(north, south).p_values().max() < 1e-9
    np.True_
    """
    if len(first.values) != len(second.values):
        allowed = f"an estimate of {len(first.values)} categories, as the first is"
        raise InputError("second", Phrase(f"{len(second.values)} categories"), allowed)
    errors = np.sqrt(first.variance(of) + second.variance(of))
    return Difference(first.values - second.values, errors)
