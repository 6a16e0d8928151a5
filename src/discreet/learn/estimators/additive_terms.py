"""Terms of an additive model, one a column, each learned from noisy sums of gradients in its bins.

What was released of a column is weighed as a filter does: a term has a prior (smooth, about zero), each round measures
its gradient under known noise, and the step and what is left of doubt follow from both. Scores of rows are whole
steps, so what a row adds to a sum follows from that row and from what was released, to the last bit.
Proof: docs/proofs/estimators.md, "Terms of additive models".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.learn.estimators.boosted_trees import random_leaves
from discreet.learn.estimators.columns import Floats
from discreet.learn.estimators.plan import FitPrice, Noise
from discreet.learn.estimators.sums import SumMeter, room
from discreet.noise.replay import Replay

__all__ = ["AdditiveShape", "Term", "fit_terms", "gradient_noise"]

Integers = NDArray[np.int64]
Gradients = Callable[[Integers, Integers], Integers]

STEP = 2**10
"""Steps of a score."""
UNIT = 2**12
"""Steps of a gradient: how far one row moves one of them."""

HIGHEST = 16 * STEP  # scores beyond are cut
_COUNTS = Fraction(1, 10)  # of the price: histograms of the columns; the rest is for gradients
_LARGEST = 3.0  # what one step may add
_REACH = 0.5  # over which terms are alike: half of the bounds
_ROWS = 2.0  # a leaf holds so many times the noise, in rows, where there are as many
_MOST_LEAVES = 32
_TINY = 1e-9  # noise that is none, and leaves that hold nothing
_LEAST = 0.02  # of an even share of rows: what a bin holds at least


@dataclass(frozen=True, slots=True)
class AdditiveShape:
    """What is learned; all public."""

    sizes: tuple[int, ...]
    """How many bins each column has; the last of each is for what is missing or unknown."""
    ordered: tuple[bool, ...]
    """Whether bins next to each other are alike: numbers, not categories."""
    outputs: int
    """Scores of a row."""
    rounds: int
    amplitude: float
    """How large the scores are expected to be, all terms together."""
    curvature: float
    """What a row adds to the second derivative, about."""
    variance: float
    """Of a row's gradient, about."""

    @property
    def moved(self) -> int:
        """How far a row moves the gradients of one column, in units: in sum, and in squares too."""
        return 1 if self.outputs == 1 else 2

    @property
    def share(self) -> Fraction:
        """Of the price, for one column in one round; the intercept is a column of one bin."""
        return (1 - _COUNTS) / (self.rounds * (len(self.sizes) + 1))


@dataclass(slots=True, eq=False)
class Term:
    """What each bin adds to the scores, in steps, and how sure that is."""

    rows: Floats
    """About how many rows each bin holds."""
    doubt: Floats
    """The covariance of what is not known of it: noise, sampling, and what smoothing hides."""
    values: Integers

    def learn(self, leaf: Integers, noisy: Floats, noise: float, shape: AdditiveShape) -> Integers:
        """Take a step against noisy gradients of leaves, whose noise has this variance, and say which.

        `leaf` is the leaf of each bin. A leaf's gradient is that of its bins, summed: curvature times how far they are
        from the best, sampling, and noise. The same rows are sampled in every round: that counts once, in all of them.
        """
        held = np.zeros((len(noisy), len(self.rows)))
        held[leaf, np.arange(len(leaf))] = self.rows
        bend = shape.curvature * held
        pulled = bend @ self.doubt
        spread = pulled @ bend.T + np.diag(noise + shape.rounds * shape.variance * held.sum(axis=1) + _TINY)
        gain = np.linalg.solve(spread, pulled).T
        left = self.doubt - gain @ pulled
        self.doubt = (left + left.T) / 2
        step: Integers = np.rint(np.clip(-gain @ noisy, -_LARGEST, _LARGEST) * STEP).astype(np.int64)
        self.values += step
        return step

    @property
    def errors(self) -> Floats:
        """One standard deviation, in scores."""
        return np.sqrt(np.maximum(np.diag(self.doubt), 0.0))


def gradient_noise(price: FitPrice, shape: AdditiveShape) -> Noise:
    """The noise on the sums of gradients of one column in one round, in steps of a gradient."""
    return price.noise(shape.share, l1=shape.moved * UNIT, l2_squared=shape.moved * UNIT**2)


def fit_terms(
    codes: Integers, targets: Integers, gradients: Gradients, shape: AdditiveShape, meter: SumMeter
) -> list[Term]:
    """The intercept, a term of one bin, and one term a column.

    `gradients` maps scores and targets to whole steps: each row's at most `shape.moved` units in sum and in squares.
    """
    room(len(codes), UNIT)
    noise = gradient_noise(meter.price, shape).variance / UNIT**2
    terms = _prior_terms(codes, shape, meter)
    chance = Replay(repr(shape).encode())  # public: privacy does not rest on it
    every = np.column_stack([np.zeros(len(codes), dtype=np.int64), codes])
    scores = np.zeros((len(codes), shape.outputs), dtype=np.int64)
    for _ in range(shape.rounds):
        for term, column, ordered in zip(terms, every.T, (False, *shape.ordered), strict=True):
            most = min(len(term.rows), _MOST_LEAVES)
            leaves = int(np.clip(term.rows.sum() / (_ROWS * math.sqrt(noise) + 1), min(2, most), most))
            leaf = random_leaves(term.rows, ordered, leaves, chance)
            sums = np.zeros((leaves, shape.outputs), dtype=np.int64)
            np.add.at(sums, leaf[column], gradients(scores, targets))
            moved = shape.moved
            noisy = meter.sums(sums, share=shape.share, l1=moved * UNIT, l2_squared=moved * UNIT**2)
            step = term.learn(leaf, noisy / UNIT, noise, shape)
            scores = np.clip(scores + step[column], -HIGHEST, HIGHEST)
    return terms


def _prior_terms(codes: Integers, shape: AdditiveShape, meter: SumMeter) -> list[Term]:
    """Terms before anything but the histograms is known."""
    many = len(shape.sizes)
    exact = np.concatenate([np.bincount(codes[:, place], minlength=size) for place, size in enumerate(shape.sizes)])
    counted = meter.sums(exact, share=_COUNTS, l1=many, l2_squared=many)
    noise = meter.price.noise(_COUNTS, l1=many, l2_squared=many).variance
    parts = np.split(counted.astype(float), np.cumsum(shape.sizes)[:-1])
    total = max(float(np.mean([part.sum() for part in parts])), 10.0)
    size = shape.amplitude / math.sqrt(many)
    first = np.array([[(0.15 * shape.amplitude) ** 2]])
    terms = [Term(np.array([total]), first, np.zeros((1, shape.outputs), dtype=np.int64))]
    for part, ordered in zip(parts, shape.ordered, strict=True):
        rows = _smoothed_counts(part, total, noise, ordered)
        alike = likeness(len(part), ordered, _REACH)
        if ordered:  # and a straight line
            line = np.linspace(-1, 1, len(part) - 1)
            alike[:-1, :-1] += np.outer(line, line)
        centred = np.eye(len(part)) - rows / rows.sum()  # terms add nothing on the whole: that is the intercept
        prior = size**2 * centred @ alike @ centred.T
        terms.append(Term(rows, prior, np.zeros((len(part), shape.outputs), dtype=np.int64)))
    return terms


def _smoothed_counts(counted: Floats, total: float, noise: float, ordered: bool) -> Floats:
    """Rows in each bin: noisy counts, drawn to their neighbours and to even shares by what noise explains."""
    even = total / len(counted)
    signal = (1.5 * even) ** 2 * likeness(len(counted), ordered, 0.15)
    drawn = even + signal @ np.linalg.solve(signal + (noise + even) * np.eye(len(counted)), counted - even)
    kept = np.maximum(drawn, _LEAST * even)
    return np.asarray(kept * total / kept.sum())


def likeness(size: int, ordered: bool, reach: float) -> Floats:
    """How alike bins are, 1 being the same: those of numbers by how near they are, others not at all."""
    alike = np.eye(size)
    if ordered:
        middle = np.arange(size - 1) / (size - 1)
        alike[:-1, :-1] = np.exp(-np.abs(middle[:, None] - middle) / reach)
    return alike
