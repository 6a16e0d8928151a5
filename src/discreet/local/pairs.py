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
from discreet.local.estimate import Estimate, score_ends
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
    found = _shares(first, second, *_pairs(first, second, one, two, times))
    start, slope = _mean_squares(first, second, found)
    spread = np.column_stack([start.ravel(), np.full(start.size, slope), np.full(start.size, -1.0)])
    contrasts = float(first.hit - first.miss) * float(second.hit - second.miss)
    return JointEstimate(start.shape, Estimate(found.n, found.both.ravel(), spread, 1 / (found.n * contrasts)))


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Shares or means among those in each category of another answer: `top` / `bottom`, with what both vary by.

    Rows are what is estimated, columns the category it is given. `spread` holds q0, q1 and q2 (first axis): the mean
    square of a person's part in top - R bottom is q0 + q1 R + q2 R^2, if R is the truth. `bottoms` is that in bottom.
    """

    n: int
    top: Floats
    bottom: Floats
    spread: Floats
    bottoms: Floats
    jump: float = 0.0  # of `top` when one report more supports both: half of it corrects for steps

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
        q0, q1, q2 = self.spread
        known = (self.bottom > 0) & (self.bottom**2 > z2 * np.maximum(self.bottoms, q2))
        size = np.where(known, self.bottom, 1.0)  # both sides are divided by it
        part = z2 / size**2
        ends = score_ends(self.top / size, self.jump / 2 / size, 1 - part * q2, part * q1 / 2, part * q0)
        return np.asarray(np.where(known[..., None], ends, np.array([-np.inf, np.inf])))


@typed
def given(first: Oracle | Mean, second: Oracle, one: Any, two: Any, times: Integers | None = None) -> Ratios:
    """Of the people in each category of the `second` answer: the share of each category, or the mean, of the first.

    >>> from discreet.local import GRR
    >>> people = given(GRR(2, 4), GRR(2, 4), [0, 0, 0, 0, 1, 0, 1] * 200, [0, 0, 0, 0, 0, 1, 1] * 200)
    >>> people.values[0].round(1).tolist()
    [0.8, 0.5]
    """
    found = _shares(first, second, *_pairs(first, second, one, two, times))
    bottom, block = np.clip(found.second, 0, 1), np.clip(found.blocks, 0, 1)
    mine, rest = _squares(second)
    middle, mates = found.first[:, None], found.beside - found.both
    if isinstance(first, Oracle):
        q0, slope = _mean_squares(first, second, found)
        middle, mates = np.clip(middle, 0, 1), np.clip(mates, 0, 1)
        jump = 1 / (found.n * float(first.hit - first.miss) * float(second.hit - second.miss))
    else:  # how much a number is scrambled depends on it: the mean square is estimated
        q0, slope, jump = found.squares, 0.0, 0.0
    bottoms = rest + (mine - rest) * block
    q1 = slope * bottom - 2 * (rest * middle + (mine - rest) * mates)
    q2 = bottoms - 2 * (mine - rest) * bottom
    return Ratios(found.n, found.both, found.second, np.stack(np.broadcast_arrays(q0, q1, q2)), bottoms, jump)


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


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """Unbiased shares of people: in a category of the `first` answer, of the `second`, of `both`.

    Categories may share blocks, whose people are scrambled alike: `block` and `blocks` are the shares in the block of
    each category of either answer, `beside` in the first category and the second's block, `inside` in both blocks. Of
    a number `first` and `both` are means of it, and `squares` those of its score and the second's, squared.
    """

    n: int
    first: Floats
    second: Floats
    both: Floats
    block: Floats
    blocks: Floats
    beside: Floats
    inside: Floats
    squares: Floats


def _shares(first: Oracle | Mean, second: Oracle, left: Any, right: Any, often: NDArray[np.int64]) -> _Shares:
    size, width = _width(first), second.categories
    ones, twos, pairs = np.zeros((2, size)), np.zeros((2, width)), np.zeros((4, size, width))
    for part in _parts(len(often), size + width):
        w = often[part][:, None]
        x, y = unbiased_scores(first, left[part]), unbiased_scores(second, right[part])
        near, block = (
            x if isinstance(first, Mean) else _block_scores(first, left[part]),
            _block_scores(second, right[part]),
        )
        ones += np.stack([(w * x).sum(axis=0), (w * near).sum(axis=0)])
        twos += np.stack([(w * y).sum(axis=0), (w * block).sum(axis=0)])
        pairs += np.stack([x.T @ (w * y), x.T @ (w * block), near.T @ (w * block), (x**2).T @ (w * y**2)])
    n = int(often.sum())
    (one, own), (two, blocks), (both, beside, inside, squares) = ones / n, twos / n, pairs / n
    return _Shares(n, one, two, both, own, blocks, beside, inside, squares)


def _block_scores(mechanism: Oracle, reports: Any) -> Floats:
    """Scores whose mean is one for those in the block of a category, and zero for others."""
    own, other = (float(one) for one in mechanism.squares)
    squares = mechanism.scores(reports).astype(np.float64) ** 2
    return np.ones_like(squares) if own == other else (squares - other) / (own - other)


def _mean_squares(first: Oracle, second: Oracle, found: _Shares) -> tuple[Floats, float]:
    """The mean square of both scores of a pair of categories: so much, and a slope for the share in both.

    It is what the law of scrambling says of these shares, and not what happened: nobody's report may have been
    scrambled, and some of the next might be.
    """
    own, other = _squares(first)
    mine, rest = _squares(second)
    a, b = np.clip(found.block, 0, 1)[:, None], np.clip(found.blocks, 0, 1)[None, :]
    mates = np.clip(found.inside - found.both, 0, 1)  # in both blocks, and not in both categories
    slope = (own - other) * (mine - rest)
    return np.maximum(own * rest * a + other * mine * b + other * rest * (1 - a - b) + slope * mates, 0), slope


def _squares(mechanism: Oracle) -> tuple[float, float]:
    """The mean squared unbiased score of a category of one's own block, and of another."""
    hit, miss = float(mechanism.hit), float(mechanism.miss)
    own, other = (float(one) for one in mechanism.squares)
    contrast2 = (hit - miss) ** 2
    return (own - 2 * miss * hit + miss**2) / contrast2, (other - miss**2) / contrast2
