"""Rows weighted until their marginals agree with noisy ones, as far as these can be told from noise.

A noisy count that differs from that of the rows by no more than noise says nothing: the rows are believed. One that
differs by far more is right. In between both are averaged, by how much of the difference noise explains. Only noisy
counts and public or synthetic rows are seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.marginals.counts import Bins, Columns
from discreet.marginals.meter import Noisy
from discreet.noise.replay import uniforms
from discreet.synth.sample import Codes

__all__ = ["Evidence", "counts_in", "drawn_rows", "evidence_of", "raked", "unexplained"]

Floats = NDArray[np.float64]

_ROUNDS = 12
_CLEAR = 4.0  # standard deviations: a count so far off is right by itself
_CHANCE = 2.0  # standard deviations of a sum of squares of noise
_MOST = 16.0  # by which a weight changes in one step


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Noisy counts of some columns, flat, with the variance of each; `bins` are those that codes are counted in."""

    columns: Columns
    shape: tuple[int, ...]
    values: Floats
    variance: Floats
    bins: tuple[NDArray[np.int64] | None, ...]

    def cells(self, codes: Codes) -> NDArray[np.int64]:
        """The cell that each row is in."""
        found = np.zeros(len(codes), dtype=np.int64)
        for column, size, bins in zip(self.columns, self.shape, self.bins, strict=True):
            one = codes[:, column]
            found = found * size + (one if bins is None else bins[one])
        return found


def evidence_of(answers: Iterable[tuple[Bins | None, Noisy]]) -> list[Evidence]:
    """What a meter measured, to calibrate weights to."""
    found = []
    for bins, noisy in answers:
        merged = tuple(None if bins is None else np.asarray(bins[column]) for column in noisy.columns)
        values = noisy.values.astype(np.float64).ravel()
        found.append(
            Evidence(noisy.columns, noisy.values.shape, values, np.full(len(values), float(noisy.variance)), merged)
        )
    return found


def counts_in(codes: Codes, weights: Floats, one: Evidence) -> Floats:
    """The weight in each cell."""
    found: Floats = np.bincount(one.cells(codes), weights=weights, minlength=len(one.values)).astype(np.float64)
    return found


def unexplained(codes: Codes, weights: Floats, evidence: Sequence[Evidence]) -> float:
    """How far weighted rows are from noisy counts, in a sum of squares, beyond what noise explains of it."""
    off = [counts_in(codes, weights, one) - one.values for one in evidence]
    variance = np.concatenate([one.variance for one in evidence]) if evidence else np.zeros(0)
    return _beyond(np.concatenate(off) if off else np.zeros(0), variance)


def _beyond(off: Floats, variance: Floats) -> float:
    """The sum of squares of differences, beyond what noise makes of it, on average and as it happens to."""
    chance = _CHANCE * float(np.sqrt(2 * (variance**2).sum()))
    return max(float((off**2).sum() - variance.sum()) - chance, 0.0)


def raked(codes: Codes, weights: Floats, evidence: Sequence[Evidence], total: float) -> Floats:
    """The weights, which add up to `total`, changed until they agree with what noisy counts say beyond noise.

    What is aimed at is fixed first, from the weights as they are: rounds do not follow the noise any farther.
    """
    found: Floats = weights * (total / weights.sum())
    aims = []
    for one in evidence:
        cells = one.cells(codes)
        have = np.bincount(cells, weights=found, minlength=len(one.values)).astype(np.float64)
        aims.append((cells, _believed(have, one, total)))
    for _ in range(_ROUNDS):
        for cells, aim in aims:
            have = np.bincount(cells, weights=found, minlength=len(aim)).astype(np.float64)
            ratio = np.divide(aim, have, out=np.ones(len(aim)), where=have > 0)
            found = found * np.clip(ratio, 1 / _MOST, _MOST)[cells]
        found = found * (total / found.sum())
    return found


def _believed(have: Floats, one: Evidence, total: float) -> Floats:
    """Counts between those of the rows and the noisy ones, none below zero, of `total` rows.

    The squared difference is that of noise, `variance`, and a true one, taken to be a multiple of the count: what all
    cells together show beyond noise says which.
    """
    off = one.values - have
    beyond = _beyond(off, one.variance) / max(float(have.sum()), 1.0)
    share = beyond * have / (beyond * have + one.variance)
    share[np.abs(off) > _CLEAR * np.sqrt(one.variance)] = 1.0
    aim = np.maximum(have + share * off, 0.0)
    return np.asarray(aim * (total / max(float(aim.sum()), 1e-9)))


def drawn_rows(codes: Codes, weights: Floats, count: int, bits: Bits) -> Codes:
    """So many rows, each as often as its weight says, up or down to a whole."""
    if count == 0 or len(codes) == 0:
        return codes[:0]
    edges = np.cumsum(weights)
    places = (np.arange(count) + uniforms(bits, 1)[0]) / count * edges[-1]
    chosen: Codes = codes[np.minimum(np.searchsorted(edges, places, side="right"), len(codes) - 1)]
    return chosen
