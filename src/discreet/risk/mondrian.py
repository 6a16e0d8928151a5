"""Cutting the table into boxes of k or more rows: coarser where people are rare, finer where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.risk.records import CodedColumn, classes_of

__all__ = ["Boxes", "boxes"]

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """`of` says in which box each row is; a box spans `low` to `high`, by column."""

    of: Codes
    low: Codes
    high: Codes


def boxes(columns: Sequence[CodedColumn], k: int, secret: CodedColumn | None = None, diverse: int = 1) -> Boxes:
    """Cut at the median of the column that spans most, while both halves stay large enough.

    Large enough: k rows, and `diverse` values of `secret` if that is given. Works on distinct combinations of values
    with their counts, so its time grows with these. Names are cut in their order, which is as good as any.
    """
    distinct = classes_of([*columns, secret] if secret is not None else columns)
    first = np.zeros(len(distinct.sizes), dtype=np.int64)
    first[distinct.of] = np.arange(len(distinct.of))
    values = np.stack([column.codes[first] for column in columns], axis=1)
    hidden = None if secret is None else secret.codes[first]
    spans = np.maximum(np.array([column.size - 1 for column in columns], dtype=float), 1)
    of = np.zeros(len(first), dtype=np.int64)
    low: list[Codes] = []
    high: list[Codes] = []
    waiting = [np.arange(len(first))]
    while waiting:
        rows = waiting.pop()
        inside = values[rows]
        lowest, highest = inside.min(axis=0), inside.max(axis=0)
        weights = distinct.sizes[rows]
        halves = None
        if weights.sum() >= 2 * k:
            for column in np.argsort(-(highest - lowest) / spans, kind="stable"):
                if highest[column] == lowest[column]:
                    break
                halves = _halves(inside[:, column], weights, k, None if hidden is None else hidden[rows], diverse)
                if halves is not None:
                    break
        if halves is None:
            of[rows] = len(low)
            low.append(lowest)
            high.append(highest)
        else:
            waiting += [rows[halves], rows[~halves]]
    return Boxes(of[distinct.of], np.array(low), np.array(high))


def _halves(values: Codes, weights: Codes, k: int, hidden: Codes | None, diverse: int) -> NDArray[np.bool_] | None:
    """Which rows go left: those up to the cut nearest the median that leaves enough on both sides."""
    base = int(values.min())
    counts = np.bincount(values - base, weights=weights)
    left = np.cumsum(counts)[:-1]
    total = counts.sum()
    allowed = (left >= k) & (total - left >= k) & (counts[:-1] > 0)
    if not allowed.any():
        return None
    cut = base + int(np.argmin(np.where(allowed, np.abs(left - total / 2), np.inf)))
    goes = np.asarray(values <= cut)
    if hidden is not None and min(len(np.unique(hidden[goes])), len(np.unique(hidden[~goes]))) < diverse:
        return None
    return goes
