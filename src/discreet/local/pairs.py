"""Two scrambled answers of the same people: how often pairs of categories go together, and one given the other.

Each answer was scrambled by itself, so given the true pair (v, w) the two reports are independent. A category's
unbiased score s has mean 1 for those who are in it and 0 for all others; so the product s_a t_b has mean 1 for those
who are in both a and b and 0 for everyone else, whatever the answers of others are: the inverse of the product of both
laws, without a matrix. Proof: docs/proofs/local.md, "Two questions".
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Integers
from discreet.core.signature import typed
from discreet.errors import InputError, Phrase
from discreet.local.estimate import Estimate
from discreet.local.mean import Mean
from discreet.local.protocol import Oracle, read_times
from discreet.mechanisms.inputs import read_confidence

__all__ = ["JointEstimate", "Ratios", "given", "joint", "unbiased_scores"]

Floats = NDArray[np.float64]
_CELLS = 1 << 22  # scores handled at a time


@dataclass(frozen=True, slots=True, eq=False)
class JointEstimate:
    """The share of people in every pair of categories: rows for the first answer, columns for the second."""

    shape: tuple[int, int]
    cells: Estimate

    @property
    def frequencies(self) -> Floats:
        """One number for each pair; unbiased, so a rare one may be below zero."""
        return self.cells.frequencies.reshape(self.shape)

    def interval(self, confidence: float = 0.95, *, together: bool = False) -> Floats:
        """(rows, columns, 2): lower and upper ends, of the people who answered."""
        return self.cells.interval(confidence, together=together).reshape(*self.shape, 2)


@typed
def joint(first: Oracle, second: Oracle, one: Any, two: Any, times: Integers | None = None) -> JointEstimate:
    """The share of every pair of categories, from the reports `one` and `two` of the same people, in the same order.

    >>> from discreet.local import GRR
    >>> people = joint(GRR(2, 4), GRR(2, 4), [0, 0, 1, 1, 0] * 200, [0, 1, 0, 1, 0] * 200)
    >>> people.frequencies.round(1).tolist()
    [[0.4, 0.2], [0.2, 0.2]]
    """
    left, right, often = _pairs(first, second, one, two, times)
    n = int(often.sum())
    sums, squares = _products(first, second, left, right, often)
    shares, contrasts = sums / n, float(first.hit - first.miss) * float(second.hit - second.miss)
    if first.miss and second.miss:  # scores are 0 and 1: their squares follow from the law
        before, after = (_marginal(m, _sums(m, r, often) / n) for m, r in ((first, left), (second, right)))
        (own, other), (mine, rest) = _squares(first), _squares(second)
        a, b = before[:, None], after[None, :]
        start = own * rest * a + other * mine * b + other * rest * (1 - a - b)
        slope = np.full(shares.shape, (own - other) * (mine - rest))
    else:
        start, slope = squares / n, np.zeros(shares.shape)
    spread = np.column_stack([np.maximum(start, 0).ravel(), slope.ravel(), np.full(shares.size, -1.0)])
    return JointEstimate(shares.shape, Estimate(n, shares.ravel(), spread, 1 / (n * contrasts)))


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Shares or means among those in each category of another answer: `top` / `bottom`, with what both vary by.

    Rows are what is estimated, columns the category it is given.
    """

    n: int
    top: Floats
    bottom: Floats
    squares: Floats
    products: Floats
    bottoms: Floats

    @property
    def values(self) -> Floats:
        """The ratios."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.top / self.bottom)

    def interval(self, confidence: float = 0.95) -> Floats:
        """(rows, columns, 2), by Fieller: every ratio R for which the mean of top - R bottom is not too far from zero.

        Where so few are in a category that none may be, nothing is known: from minus infinity to infinity.
        """
        z2 = NormalDist().inv_cdf(float(1 - read_confidence(confidence)) / 2) ** 2 / self.n
        a = self.bottom**2 - z2 * self.bottoms
        b = self.top * self.bottom - z2 * self.products
        c = self.top**2 - z2 * self.squares
        known = (a > 0) & (self.bottom > 0)
        root = np.sqrt(np.maximum(b * b - a * c, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([np.where(known, (b + sign * root) / a, sign * np.inf) for sign in (-1, 1)], axis=-1)
        return np.asarray(ends)


@typed
def given(first: Oracle | Mean, second: Oracle, one: Any, two: Any, times: Integers | None = None) -> Ratios:
    """Of the people in each category of the `second` answer: the share of each category, or the mean, of the first.

    >>> from discreet.local import GRR
    >>> people = given(GRR(2, 4), GRR(2, 4), [0, 0, 0, 0, 1, 0, 1] * 200, [0, 0, 0, 0, 0, 1, 1] * 200)
    >>> people.values[0].round(1).tolist()
    [0.8, 0.5]
    """
    left, right, often = _pairs(first, second, one, two, times)
    n, size = int(often.sum()), _width(first)
    total = np.zeros((3, size, second.categories))
    bottom, bottoms = np.zeros(second.categories), np.zeros(second.categories)
    for part in _parts(len(often), size + second.categories):
        x, d, w = unbiased_scores(first, left[part]), unbiased_scores(second, right[part]), often[part][:, None]
        total += np.stack([x.T @ (w * d), (x**2).T @ (w * d**2), x.T @ (w * d**2)])
        bottom += (w * d).sum(axis=0)
        bottoms += (w * d**2).sum(axis=0)
    top, squares, products = total / n
    return Ratios(n, top, bottom / n, squares, products, bottoms / n)


def unbiased_scores(mechanism: Oracle | Mean, reports: Any) -> Floats:
    """Scores whose mean is one for one's own category and zero for others; of a number, whose mean is the number."""
    if isinstance(mechanism, Mean):
        scales = np.array([float(scale) for scale in mechanism.scales])
        half, middle = (mechanism.upper - mechanism.lower) / 2, (mechanism.upper + mechanism.lower) / 2
        points = mechanism.scores(np.asarray(reports, dtype=np.int64)) @ scales
        return np.asarray(float(middle) + float(half) * points)[:, None]
    low, contrast = float(mechanism.miss), float(mechanism.hit - mechanism.miss)
    return np.asarray((mechanism.scores(reports) - low) / contrast)


def _pairs(first: Any, second: Any, one: Any, two: Any, times: Integers | None) -> tuple[Any, Any, NDArray[np.int64]]:
    left, right = (np.asarray(reports) for reports in (one, two))
    if len(left) != len(right) or not len(left):
        raise InputError(
            "reports", Phrase(f"{len(left)} and {len(right)} of them"), "two lists of the same length, at least one"
        )
    for mechanism, reports in ((first, left), (second, right)):
        mechanism.tally(reports)  # refuses what the mechanism cannot have made
    often = np.ones(len(left), dtype=np.int64) if times is None else read_times(times, len(left))
    if not often.sum():
        raise InputError("times", Phrase("none"), "at least one report")
    return left, right, often


def _width(mechanism: Oracle | Mean) -> int:
    return mechanism.categories if isinstance(mechanism, Oracle) else 1


def _parts(count: int, width: int) -> list[slice]:
    step = max(1, _CELLS // width)
    return [slice(start, start + step) for start in range(0, count, step)]


def _products(first: Oracle, second: Oracle, left: Any, right: Any, often: Any) -> tuple[Floats, Floats]:
    sums = np.zeros((first.categories, second.categories))
    squares = np.zeros_like(sums)
    for part in _parts(len(often), first.categories + second.categories):
        x, y, w = unbiased_scores(first, left[part]), unbiased_scores(second, right[part]), often[part][:, None]
        sums += x.T @ (w * y)
        squares += (x**2).T @ (w * y**2)
    return sums, squares


def _sums(mechanism: Oracle, reports: Any, often: NDArray[np.int64]) -> Floats:
    return mechanism.tally(reports, often).first.astype(np.float64)


def _marginal(mechanism: Oracle, means: Floats) -> Floats:
    """Shares as they can be, to say how much scores vary: cut off at 0 and 1."""
    low, contrast = float(mechanism.miss), float(mechanism.hit - mechanism.miss)
    return np.clip((means - low) / contrast, 0, 1)


def _squares(mechanism: Oracle) -> tuple[float, float]:
    """The mean squared unbiased score of one's own category, and of another: scores are 0 and 1."""
    hit, miss = float(mechanism.hit), float(mechanism.miss)
    contrast2 = (hit - miss) ** 2
    return (hit * (1 - miss) ** 2 + (1 - hit) * miss**2) / contrast2, miss * (1 - miss) / contrast2
