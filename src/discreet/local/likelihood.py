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
_ROUNDS = 200
_JOIN = 50  # columns that may join in a round
_LEAST_STRIDE = 1e-9
_CELLS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Likeliest:
    """Shares, and a bound on how much larger the logarithm of the likelihood could be."""

    shares: Floats
    gap: float


@typed
def likeliest(mechanism: Oracle, reports: Any, times: Integers | None = None) -> Likeliest:
    """The likeliest shares of the categories: where expectation maximisation would end.

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
        hint = "Leave out likeliest shares: unbiased ones have no such limit."
        raise InputError("reports", Phrase(f"{len(reports):,} of them"), allowed, hint)
    scores = mechanism.scores(reports)
    if isinstance(mechanism, (OUE, SUE)):
        hit, miss = float(mechanism.hit), float(mechanism.miss)
        return np.where(scores == 1, hit / miss, (1 - hit) / (1 - miss))
    return np.where(scores == 1, float(mechanism.ratio), 1.0)  # of all others a report has one of two probabilities


def likeliest_shares(table: Floats, times: Floats, *, gap: float = _GAP) -> Likeliest:
    """The mixture of the columns that makes rows, each so many times, likeliest.

    The constrained Newton method (Wang 2007): only columns that may have a share are worked on. In each round the
    steepest others join them, the logarithm is replaced by its square approximation, whose best shares are found by
    nonnegative least squares, and a step towards these is taken that makes the reports likelier.
    """
    n, columns = float(times.sum()), table.shape[1]
    if not len(table) or n <= 0:
        raise InputError("reports", Phrase("none"), "at least one report")
    weights = np.sqrt(times / n)
    shares, steep = np.zeros(columns), table.T @ (times / table.mean(axis=1)) / n
    shares[np.argsort(-steep)[:_JOIN]] = 1 / min(_JOIN, columns)
    best, left = shares, np.inf
    for _ in range(_ROUNDS):
        mixed = table @ shares
        steep = table.T @ (times / mixed) / n
        if (above := n * (float(steep.max()) - 1)) < left:  # concave: no shares are likelier by more than this
            best, left = shares, above
        if left <= gap:
            break
        joining = np.argsort(-steep)[:_JOIN]
        at = np.union1d(np.flatnonzero(shares), joining[steep[joining] > 1])
        target = _best_of_square(table[:, at] / mixed[:, None], weights)
        if target is None:
            break
        move = np.zeros(columns)
        move[at] = target - shares[at]
        stride = _stride(table @ move / mixed, times / n, float(steep @ move))
        if not stride:
            break
        shares = np.maximum(shares + stride * move, 0)
        shares /= shares.sum()
    return Likeliest(best, max(0.0, left))


def _best_of_square(slopes: Floats, weights: Floats) -> Floats | None:
    """The shares with the least square sum of weights (slopes shares - 2): of those that add up to one, by scaling."""
    from scipy.optimize import nnls

    small = np.linalg.qr((slopes - 2) * weights[:, None], mode="r")  # the same squares with fewer rows
    added = np.vstack([small, np.ones(slopes.shape[1])])
    try:
        found, _ = nnls(added, np.append(np.zeros(len(small)), 1.0), maxiter=30 * slopes.shape[1])
    except RuntimeError:  # it went round in circles: the caller stops where it is
        return None
    return np.asarray(found / found.sum())


def _stride(change: Floats, parts: Floats, slope: float) -> float:
    """How far to go, a whole step or halves of it, so that a third of what the slope promises is gained; 0: nowhere."""
    stride = 1.0
    with np.errstate(divide="ignore"):
        while stride > _LEAST_STRIDE:
            if float(parts @ np.log1p(stride * change)) >= stride * slope / 3:
                return stride
            stride /= 2
    return 0.0
