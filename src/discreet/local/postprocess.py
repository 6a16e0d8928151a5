"""Shares that look like shares: non-negative and adding up to one, at the price of a bias. Off unless asked for."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = ["Consistency", "consistent"]

Consistency = Literal["simplex", "normalize", "threshold"]


def consistent(
    shares: NDArray[np.float64], how: Consistency = "simplex", *, errors: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Non-negative shares that add up to one, made from unbiased ones.

    >>> consistent(np.array([0.7, 0.5, -0.1])).round(2).tolist()
    [0.6, 0.4, 0.0]
    """
    match how:
        case "simplex":
            return _nearest(shares)
        case "normalize":
            kept = np.maximum(shares, 0)
            return kept / kept.sum() if kept.sum() > 0 else _even(len(shares))
        case "threshold":
            return _threshold(shares, errors)
        case _:
            raise InputError("how", how, among=get_args(Consistency))


def _nearest(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point of the simplex: one number is taken off every share, and what falls below zero is zero."""
    ordered = np.sort(shares)[::-1]
    off = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    kept = np.flatnonzero(ordered > off)[-1]
    return np.asarray(np.maximum(shares - off[kept], 0))


def _threshold(shares: NDArray[np.float64], errors: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Shares two standard errors above zero stay; the rest of one is spread evenly over the others."""
    if errors is None:
        raise InputError("errors", None, "the standard error of each share, for 'threshold'")
    kept = shares > 2 * errors
    total = float(shares[kept].sum())
    if total >= 1 or kept.all():
        return consistent(np.where(kept, shares, 0), "normalize")
    return np.where(kept, shares, (1 - total) / (~kept).sum())


def _even(count: int) -> NDArray[np.float64]:
    return np.full(count, 1 / count)
