"""The bias that whole, non-negative numbers bring, made visible: what is published beside what is unbiased."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.trees.estimate import Estimate
from discreet.trees.gls import gls
from discreet.trees.measurement import Measurement

__all__ = ["Bias", "bias"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_EDGES = (0.0, 1.0, 10.0, 100.0, 1000.0, 10_000.0, np.inf)


@dataclass(frozen=True, slots=True)
class Bias:
    """How far published counts of one level and size lie above the unbiased estimate, on average.

    `least` and `most` bound the size that was to be expected of a cell: from the region's other cells and the mix of
    its parent, so that it is not a count's own noise that decides where it is sorted. `standard_error` treats the
    children of one parent as one observation, as they hang together; it is not a number where there is only one.
    """

    level: str
    what: str
    least: float
    most: float
    counts: int
    mean: float
    standard_error: float


def bias(estimate: Estimate, measured: Measurement) -> list[Bias]:
    """Published less unbiased, by level and size: of regions' totals, and of cells where a region has several.

    The best linear estimate has no bias, so the mean difference is the bias of what is published, up to its standard
    error. Among siblings it adds up to that of their parent: what small counts gain, large ones lose, or the parent
    gains with them. A method that lets the bias climb shows it at the root.
    """
    tree, unbiased = measured.tree, gls(measured)
    rows: list[Bias] = []
    for level, name in enumerate(tree.names):
        parents = tree.parents[level] if level else np.zeros(1, np.int64)
        totals = estimate.counts[level].sum(axis=1)
        above = estimate.counts[max(level - 1, 0)]
        over = (totals - unbiased.totals[level])[:, None]
        rows += _rows(name, "totals", over, np.zeros_like(over), parents, (0.0, np.inf))
        if measured.cells > 1:
            mix = above / np.maximum(above.sum(axis=1), 1)[:, None]
            odds = mix / np.maximum(1 - mix, 1e-9)
            expected = odds[parents] * (totals[:, None] - estimate.counts[level])
            over = estimate.counts[level] - unbiased.counts[level]
            rows += _rows(name, "cells", over, expected, parents, _EDGES)
    return rows


def _rows(name: str, what: str, over: Reals, expected: Reals, parents: Array, edges: tuple[float, ...]) -> list[Bias]:
    # Children of the root are each one observation, and so are the root's cells: there is nothing else.
    if len(parents) == 1:
        alike = np.arange(over.shape[1])[None, :]
    else:
        alike = (parents if parents[-1] else np.arange(len(parents)))[:, None]
    alike = np.broadcast_to(alike, over.shape)
    found = []
    for least, most in pairwise(edges):
        inside = (expected >= least) & (expected < most)
        number = int(inside.sum())
        if number:
            mean = float(over[inside].mean())
            off = np.bincount(alike[inside], weights=over[inside] - mean)
            seen = len(np.unique(alike[inside]))
            error = float(np.sqrt((off**2).sum() * seen / (seen - 1))) / number if seen > 1 else float("nan")
            found.append(Bias(name, what, least, most, number, mean, error))
    return found
