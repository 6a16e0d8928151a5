"""Trees on one column at a time, whose shape chance decides and whose leaves noise blurs: the private part of boosting.

Scores of rows are whole steps and gradients come from a table, so what a row adds to a sum follows from that row and
from what was released, to the last bit. Proof: docs/proofs/estimators.md, "Boosting".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.learn.estimators.box import Floats
from discreet.learn.estimators.price import Noise, Price
from discreet.learn.estimators.till import Till, room
from discreet.noise.bits import words
from discreet.noise.replay import Replay

__all__ = ["Boosting", "boosted", "leaf_noise"]

Integers = NDArray[np.int64]

_COUNTS = Fraction(1, 10)  # of the price: histograms of the columns; the rest is for leaves
_FINE = 2**10  # steps of a score
_HIGHEST = 16 * _FINE  # scores beyond are cut
_UNIT = 2**12  # steps of a gradient
_CURVATURE = 0.15  # what a row adds to the second derivative, about
_DOUBT = 6.0  # leaves are drawn to zero by so many times the noise
_LARGEST = 1.0  # what one leaf may say
_EXP = np.exp(np.arange(-2 * _HIGHEST, 1) / _FINE)  # of differences of scores, from the largest one


@dataclass(frozen=True, slots=True)
class Boosting:
    """How trees are grown; all public."""

    sizes: tuple[int, ...]
    """How many bins each column has."""
    ordered: tuple[bool, ...]
    """Whether bins next to each other belong together: numbers, not categories."""
    classes: int
    rounds: int
    rate: float
    leaves: int

    @property
    def outputs(self) -> int:
        """Scores of a row: one for two classes, else one a class."""
        return 1 if self.classes == 2 else self.classes

    @property
    def moved(self) -> int:
        """How far a row moves the leaves of one tree, in units: in sum, and in squares too."""
        return 1 if self.outputs == 1 else 2


def leaf_noise(price: Price, shape: Boosting) -> Noise:
    """The noise on the leaves of one tree, in steps of a gradient."""
    share = (1 - _COUNTS) / (shape.rounds * len(shape.sizes))
    return price.noise(share, l1=shape.moved * _UNIT, l2_squared=shape.moved * _UNIT**2)


def boosted(codes: Integers, targets: Integers, shape: Boosting, till: Till) -> list[Integers]:
    """What each bin of each column adds to the scores, in steps of 1/1024: one table (bins, outputs) a column.

    `codes` are places of bins, one column each; rows with a target of -1 count for nothing.
    """
    codes, targets = codes[targets >= 0], targets[targets >= 0]
    many = len(shape.sizes)
    room(len(codes), _UNIT)
    exact = np.concatenate([np.bincount(codes[:, j], minlength=size) for j, size in enumerate(shape.sizes)])
    counted = till.sums(exact, share=_COUNTS, l1=many, l2_squared=many)
    counts = [np.maximum(part, 0).astype(float) for part in np.split(counted, np.cumsum(shape.sizes)[:-1])]
    share = (1 - _COUNTS) / (shape.rounds * many)
    noise = math.sqrt(leaf_noise(till.price, shape).variance) / _UNIT
    tables = [np.zeros((size, shape.outputs), dtype=np.int64) for size in shape.sizes]
    scores = np.zeros((len(codes), shape.outputs), dtype=np.int64)
    chance = Replay(repr(shape).encode())  # public: privacy does not rest on it, and equal settings grow alike
    for _ in range(shape.rounds):
        for place, column in enumerate(codes.T):
            leaf = _leaves(counts[place], shape.ordered[place], shape.leaves, chance)
            steps = gradients(scores, targets)
            here, sums = leaf[column], np.zeros((shape.leaves, shape.outputs), dtype=np.int64)
            np.add.at(sums, here, steps)
            moved = shape.moved
            told = till.sums(sums, share=share, l1=moved * _UNIT, l2_squared=moved * _UNIT**2) / _UNIT
            held = np.bincount(leaf, counts[place], minlength=shape.leaves)
            said = -shape.rate * told / (_CURVATURE * held + _DOUBT * noise + 1.0)[:, None]
            added = np.rint(np.clip(said, -_LARGEST, _LARGEST) * _FINE).astype(np.int64)
            tables[place] += added[leaf]
            scores = np.clip(scores + added[here], -_HIGHEST, _HIGHEST)
    return tables


def gradients(scores: Integers, targets: Integers) -> Integers:
    """Of the logistic loss, in whole steps: probability minus one for the class of the row, else the probability.

    One score: between -1 and 1. One score a class: those of other classes are at least zero and add up to at most 1,
    that of the row's own class is at least -1.
    """
    if scores.shape[1] == 1:
        likely = np.floor(_UNIT / (1.0 + _EXP_ONE[scores[:, 0] + _HIGHEST])).astype(np.int64)
        return np.asarray((likely - _UNIT * (targets == 1))[:, None])
    odds = _EXP[np.maximum(scores - scores.max(axis=1, keepdims=True), -2 * _HIGHEST) + 2 * _HIGHEST]
    whole = odds[:, 0].copy()
    for place in range(1, odds.shape[1]):  # one after another: the same sum wherever the row stands
        whole += odds[:, place]
    steps = np.floor(_UNIT * (odds / whole[:, None])).astype(np.int64)
    steps[np.arange(len(steps)), targets] -= _UNIT
    return np.asarray(steps)


_EXP_ONE = np.exp(-np.arange(-_HIGHEST, _HIGHEST + 1) / _FINE)


def _leaves(counts: Floats, ordered: bool, leaves: int, chance: Bits) -> Integers:
    """Which leaf each bin is in: cuts at random, evenly in (noisy) rows; categories in random order."""
    size = len(counts)
    order = np.arange(size) if ordered else np.argsort(words(chance, size), kind="stable")
    heights = np.cumsum(counts[order] + 1.0)
    cuts = np.sort((words(chance, leaves - 1) >> np.uint64(11)) * 2.0**-53) * heights[-1]
    leaf = np.zeros(size, dtype=np.int64)
    leaf[order] = np.searchsorted(cuts, heights - (counts[order] + 1.0) / 2, side="right")
    return leaf


def added_up(tables: Sequence[Floats], codes: Integers) -> Floats:
    """The scores of rows: what their bins say, summed over the columns."""
    return np.asarray(sum((table[codes[:, place]] for place, table in enumerate(tables)), np.zeros(())))
