"""The shares under which the reports that came are likeliest: never negative, and one in all.

Such shares are nearer to the truth than unbiased ones where many are small; they are biased, and the intervals of the
unbiased estimate are not around them. The likelihood is concave in the shares, so how far a vector is from the largest
likelihood can be bounded: the search stops when it is below `gap`, and says so if it could not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Integers
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase
from discreet.local.protocol import Oracle, read_times
from discreet.local.unary import OUE, SUE

__all__ = ["Likeliest", "likeliest", "likeliest_shares", "rates"]

Floats = NDArray[np.float64]
_GAP = 0.01  # of a logarithm: what a likelihood ratio test would never see
_STEPS = 4000
_CELLS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Likeliest:
    """Shares, and a bound on how much larger the logarithm of the likelihood could be."""

    shares: Floats
    gap: float


@typed
def likeliest(mechanism: Oracle, reports: Any, times: Integers | None = None) -> Likeliest:
    """The likeliest shares of the categories, by expectation maximisation.

    >>> from discreet.local import GRR
    >>> likeliest(GRR(3, epsilon=1), [0] * 90 + [1] * 10).shares.round(2).tolist()
    [1.0, 0.0, 0.0]
    """
    table = rates(mechanism, reports)
    often = np.ones(len(table)) if times is None else read_times(times, len(table)).astype(np.float64)
    return likeliest_shares(table, often)


def rates(mechanism: Oracle, reports: Any) -> Floats:
    """How likely each report (rows) is for each category (columns), up to a factor for each report."""
    if len(reports) * mechanism.categories > _CELLS:
        allowed = f"at most {_CELLS // mechanism.categories:,} different ones for {mechanism.categories:,} categories"
        raise InputError("reports", Phrase(f"{len(reports):,} of them"), allowed)
    scores = mechanism.scores(reports)
    if isinstance(mechanism, (OUE, SUE)):
        hit, miss = float(mechanism.hit), float(mechanism.miss)
        return np.where(scores == 1, hit / miss, (1 - hit) / (1 - miss))
    return np.where(scores == 1, float(mechanism.ratio), 1.0)  # of all others a report has one of two probabilities


def likeliest_shares(table: Floats, times: Floats, *, gap: float = _GAP) -> Likeliest:
    """The mixture of the columns that makes rows, each so many times, likeliest.

    Expectation maximisation, each third step leaping ahead (squared extrapolation) where that is likelier.
    """
    n = float(times.sum())
    if not len(table) or n <= 0:
        raise InputError("reports", Phrase("none"), "at least one report")

    def slopes(shares: Floats) -> Floats:
        return np.asarray(table.T @ (times / (table @ shares)) / n)

    def likelihood(shares: Floats) -> float:
        with np.errstate(divide="ignore"):
            return float(times @ np.log(table @ shares))

    shares = np.full(table.shape[1], 1 / table.shape[1])
    left = np.inf
    for _ in range(_STEPS):
        steep = slopes(shares)
        left = n * (float(steep.max()) - 1)  # concave: no shares are likelier by more than this
        if left <= gap:
            break
        once = shares * steep
        twice = once * slopes(once)
        move, bend = once - shares, twice - 2 * once + shares
        size = float(np.sqrt((bend**2).sum()))
        leap = min(-1.0, -float(np.sqrt((move**2).sum())) / size) if size > 1e-15 else -1.0
        ahead = np.maximum(shares - 2 * leap * move + leap**2 * bend, 0)
        ahead /= ahead.sum()
        shares = ahead if likelihood(ahead) >= likelihood(twice) else twice
    return Likeliest(shares, max(0.0, left))
