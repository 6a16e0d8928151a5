"""Estimates of several groups: whether two differ, and one for a population whose groups were asked unevenly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase
from discreet.local.estimate import Of
from discreet.local.protocol import Oracle
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Difference", "PooledEstimate", "difference", "pooled", "stratified", "weighted"]

Floats = NDArray[np.float64]
_GROUPS = 10_000  # of different weights
_FEW = 20  # people: too few to tell by themselves how much they differ


class AnyEstimate(Protocol):
    """An estimate of so many people: values (frequencies or means) and their variances."""

    @property
    def n(self) -> float: ...

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
def difference(first: AnyEstimate, second: AnyEstimate, of: Of = "population") -> Difference:
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


@dataclass(frozen=True, slots=True, eq=False)
class PooledEstimate:
    """A weighted sum of estimates from groups that share no respondent."""

    n: float
    frequencies: Floats
    respondents: Floats
    population: Floats

    @property
    def values(self) -> Floats:
        """The same, by the name that means share."""
        return self.frequencies

    def variance(self, of: Of = "respondents") -> Floats:
        """Of each frequency."""
        if of not in ("respondents", "population"):
            raise InputError("of", of, among=("respondents", "population"))
        return self.respondents if of == "respondents" else self.population

    def interval(self, confidence: float = 0.95, of: Of = "population") -> Floats:
        """Rows (lower, upper), by the normal approximation."""
        half = -NormalDist().inv_cdf(float(1 - read_confidence(confidence)) / 2) * np.sqrt(self.variance(of))
        return np.column_stack([self.frequencies - half, self.frequencies + half])


@typed
def stratified(estimates: Sequence[AnyEstimate], shares: Sequence[Number]) -> PooledEstimate:
    """Estimates of groups, put together by the groups' known shares of the population.

    >>> from discreet.local import GRR
    >>> young, old = GRR(2, epsilon=4).estimate([0, 1, 1, 1] * 500), GRR(2, epsilon=2).estimate([0, 0, 0, 1] * 900)
    >>> both = stratified([young, old], shares=["1/4", "3/4"])
    >>> both.frequencies.round(2).tolist()
    [0.68, 0.32]
    """
    parts = np.array([float(_share(share)) for share in shares])
    if not len(estimates) or len(parts) != len(estimates):
        raise InputError(
            "shares", Phrase(f"{len(parts)} of them"), f"one share for each of {len(estimates)} groups, at least one"
        )
    if abs(parts.sum() - 1) > 1e-9:
        raise InputError("shares", Phrase(f"a sum of {parts.sum():g}"), "shares that add up to one")
    return pooled(estimates, parts)


@typed
def weighted(mechanism: Oracle, reports: Any, weights: Sequence[float] | Floats) -> PooledEstimate:
    """An estimate in which each respondent stands for `weight` people. Weights are public: they tell of a person.

    Respondents of one weight are a group, so there may be up to 10,000 different ones.
    """
    heavy = np.asarray(weights, dtype=np.float64)
    if heavy.ndim != 1 or len(heavy) != len(reports) or not len(heavy):
        raise InputError(
            "weights", Phrase(f"an array of shape {heavy.shape}"), f"one weight for each of {len(reports)} reports"
        )
    if not np.isfinite(heavy).all() or heavy.min() <= 0:
        raise InputError("weights", Phrase("one that is not"), "finite and more than zero each")
    sizes, group, counts = np.unique(heavy, return_inverse=True, return_counts=True)
    if len(sizes) > _GROUPS:
        raise InputError(
            "weights", Phrase(f"{len(sizes)} different ones"), f"at most {_GROUPS:,} different numbers", "Round them."
        )
    order = np.argsort(group, kind="stable")
    ordered = reports[order] if isinstance(reports, np.ndarray) else [reports[place] for place in order]
    ends = np.cumsum(counts)
    found = [mechanism.estimate(ordered[end - count : end]) for end, count in zip(ends, counts, strict=True)]
    return pooled(found, sizes * counts / (sizes @ counts))


def pooled(estimates: Sequence[AnyEstimate], parts: Floats) -> PooledEstimate:
    """The sum of `parts` times the estimates of groups that share no respondent.

    How much people of a population differ is not seen in groups of very few, of one not at all: such groups are taken
    together, and what varies between them counts (collapsed strata, which says too much where they truly differ).
    """
    if len({len(one.values) for one in estimates}) > 1:
        raise InputError("estimates", Phrase("different ones"), "of the same categories in every group")
    pairs = list(zip(parts, estimates, strict=True))
    few = [(part, one) for part, one in pairs if one.n < _FEW]
    many = [(part, one) for part, one in pairs if one.n >= _FEW]
    within = [np.sum([part**2 * one.variance("population") for part, one in some], axis=0) for some in (many, few)]
    return PooledEstimate(
        sum(one.n for one in estimates),
        np.sum([part * one.values for part, one in pairs], axis=0),
        np.sum([part**2 * one.variance("respondents") for part, one in pairs], axis=0),
        np.asarray(within[0] + (np.maximum(within[1], _between(few)) if len(few) > 1 else within[1])),
    )


def _between(groups: Sequence[tuple[float, AnyEstimate]]) -> Floats:
    """The variance of a weighted sum, by how far its groups are from what they have in common."""
    parts = np.array([part for part, _ in groups])[:, None]
    values = np.stack([one.values for _, one in groups])
    total = parts.sum()
    middle = (parts * values).sum(axis=0) / total if total else values.mean(axis=0)
    return np.asarray((parts**2 * (values - middle) ** 2).sum(axis=0) * len(groups) / (len(groups) - 1))


def _share(value: Number) -> Fraction:
    share = as_written(value, "shares")
    if not 0 <= share <= 1:
        raise InputError("shares", value, "between 0 and 1")
    return share
