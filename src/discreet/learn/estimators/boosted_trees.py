"""Boosted trees on one column each: an additive model that can be read, column by column.

Chance decides the shape of a tree, and noise blurs its leaves. Scores of rows are whole steps and gradients come from a
table, so what a row adds to a sum follows from that row and from what was released, to the last bit.
Proof: docs/proofs/estimators.md, "Boosting".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.core.mechanism import Bits
from discreet.core.packing import pack, unpack
from discreet.errors import InputError
from discreet.learn.estimators.base import ScoreClassifier
from discreet.learn.estimators.columns import Columns, Floats, read_columns
from discreet.learn.estimators.plan import FitPrice, Noise
from discreet.learn.estimators.rows import Rows, read_classes
from discreet.learn.estimators.sums import SumMeter, room
from discreet.noise.bits import words
from discreet.noise.replay import Replay

__all__ = [
    "Boosting",
    "DPBoostedTrees",
    "add_scores",
    "bin_columns",
    "boost",
    "gradients",
    "leaf_noise",
    "random_leaves",
]

_GAUSSIAN, _PURE = (20, 0.5), (5, 0.8)  # rounds and rate
Integers = NDArray[np.int64]

_COUNTS = Fraction(1, 10)  # of the price: histograms of the columns; the rest is for leaves
_FINE = 2**10  # steps of a score
_HIGHEST = 16 * _FINE  # scores beyond are cut
_UNIT = 2**12  # steps of a gradient
_CURVATURE = 0.15  # what a row adds to the second derivative, about
_DOUBT = 6.0  # leaves are drawn to zero by so many times the noise
_LARGEST = 1.0  # what one leaf may say
_EXP = np.exp(np.arange(-2 * _HIGHEST, 1) / _FINE)  # of differences of scores, from the largest one
_EXP_ONE = np.exp(-np.arange(-_HIGHEST, _HIGHEST + 1) / _FINE)


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPBoostedTrees(ScoreClassifier):
    """Gradient boosting in rounds over the columns, one small tree on one column at a time (an explainable boosting
    machine with noise).

    Columns are cut into declared bins and counted once, with noise. A tree puts bins together in `leaves` leaves at
    random, so its shape costs nothing; each leaf gets a noisy sum of gradients. Sums of many trees smooth both out.

    * `classes`: the labels, or how many there are. * `bounds`: (lower, upper) of number columns.
    * `categories`: {place of a column: how many codes it has}. * `bins` of each number column, of equal width.
    * `rounds`, `rate`, `leaves`: fixed beforehand. More rounds fit better and have more noise: 20 at a rate of 0.5 if
      None; 5 at 0.8 for a pure price, whose noise grows with the rounds rather than with their root.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Boosting".

    Fitted: `classes_`, `shapes_` (for each column, numbers first: what each of its bins adds to the scores; the last
    bin is for what is missing or unknown), `noise_` (standard deviation of a leaf's sum, in rows), `loss_`, `privacy_`.
    """

    classes: Any = None
    bounds: Any = None
    categories: Any = None
    bins: int = 64
    rounds: int | None = None
    rate: float | None = None
    leaves: int = 8

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Count the columns and grow the trees. Every call spends."""
        self._price()
        labels = read_classes(self.classes)
        features, targets = self._read_pair(X, y)
        columns = read_columns(self.bounds, self.categories, features.shape[1], names=self._names)
        bins = self._whole("bins", 2, 4096)
        shape = self._shape(columns, bins, len(labels))
        rows = Rows(features, self._labels(targets, labels))
        noise = self.expected_noise(features.shape[1])

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            tables = boost(bin_columns(rows.features, columns, bins), np.asarray(rows.targets), shape, meter)
            return {"tables": [pack(table) for table in tables]}

        kept = {"bins": bins, "rounds": shape.rounds, "rate": shape.rate, "leaves": shape.leaves}
        found = self._fitted(measure, {"classes": labels.tolist(), **columns.to_json(), **kept}, rows)
        self.classes_ = labels
        self.noise_ = noise
        self.shapes_ = [unpack(table) / _FINE for table in found["tables"]]
        self._columns, self._bins = columns, bins
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On the sum of gradients in a leaf: a row adds at most 1."""
        columns = read_columns(self.bounds, self.categories, n_features, names=self._names)
        shape = self._shape(columns, self._whole("bins", 2, 4096), len(read_classes(self.classes)))
        return {"leaf": math.sqrt(leaf_noise(self._price(), shape).variance) / _UNIT}

    def _shape(self, columns: Columns, bins: int, classes: int) -> Boosting:
        rounds, rate = _PURE if self._price().currency == "epsilon" else _GAUSSIAN
        if self.rate is not None:
            rate = self.rate
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= 1:
            raise InputError("rate", rate, "more than 0 and at most 1")
        rounds = rounds if self.rounds is None else self._whole("rounds", 1, 10_000)
        sizes = (*(bins + 1 for _ in columns.numbers), *(size + 1 for size in columns.sizes))
        ordered = (*(True for _ in columns.numbers), *(False for _ in columns.sizes))
        return Boosting(sizes, ordered, classes, rounds, float(rate), self._whole("leaves", 2, 1024))

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self, "shapes_")
        features, _ = self._read(X, reset=False)
        scores = add_scores(self.shapes_, bin_columns(features, self._columns, self._bins))
        return scores[:, 0] if len(self.classes_) == 2 else scores


def bin_columns(features: Floats, columns: Columns, bins: int) -> NDArray[np.int64]:
    """Places of bins: numbers in equal widths from bound to bound, then categories; the last bin is for the rest."""
    numbers = features[:, list(columns.numbers)]
    missing = np.isnan(numbers)
    lower, width = columns.box.lower, columns.box.upper - columns.box.lower
    shares = (columns.box.clipped(numbers) - lower) / np.where(width > 0, width, 1.0)  # clipped first: no overflow
    places = np.floor(np.clip(shares, 0.0, 1.0) * bins).astype(np.int64)
    codes = [np.where(missing, bins, np.minimum(places, bins - 1))]
    for place, size in enumerate(columns.sizes):
        code = columns.codes(features, place)
        codes.append(np.where(code < 0, size, code)[:, None])
    return np.concatenate(codes, axis=1)


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


def leaf_noise(price: FitPrice, shape: Boosting) -> Noise:
    """The noise on the leaves of one tree, in steps of a gradient."""
    share = (1 - _COUNTS) / (shape.rounds * len(shape.sizes))
    return price.noise(share, l1=shape.moved * _UNIT, l2_squared=shape.moved * _UNIT**2)


def boost(codes: Integers, targets: Integers, shape: Boosting, meter: SumMeter) -> list[Integers]:
    """What each bin of each column adds to the scores, in steps of 1/1024: one table (bins, outputs) a column.

    `codes` are places of bins, one column each; rows with a target of -1 count for nothing.
    """
    codes, targets = codes[targets >= 0], targets[targets >= 0]
    many = len(shape.sizes)
    room(len(codes), _UNIT)
    exact = np.concatenate([np.bincount(codes[:, j], minlength=size) for j, size in enumerate(shape.sizes)])
    counted = meter.sums(exact, share=_COUNTS, l1=many, l2_squared=many)
    counts = [np.maximum(part, 0).astype(float) for part in np.split(counted, np.cumsum(shape.sizes)[:-1])]
    share = (1 - _COUNTS) / (shape.rounds * many)
    noise = math.sqrt(leaf_noise(meter.price, shape).variance) / _UNIT
    tables = [np.zeros((size, shape.outputs), dtype=np.int64) for size in shape.sizes]
    scores = np.zeros((len(codes), shape.outputs), dtype=np.int64)
    chance = Replay(repr(shape).encode())  # public: privacy does not rest on it, and equal settings grow alike
    for _ in range(shape.rounds):
        for place, column in enumerate(codes.T):
            leaf = random_leaves(counts[place], shape.ordered[place], shape.leaves, chance)
            steps = gradients(scores, targets)
            here, sums = leaf[column], np.zeros((shape.leaves, shape.outputs), dtype=np.int64)
            np.add.at(sums, here, steps)
            moved = shape.moved
            noisy = meter.sums(sums, share=share, l1=moved * _UNIT, l2_squared=moved * _UNIT**2) / _UNIT
            held = np.bincount(leaf, counts[place], minlength=shape.leaves)
            said = -shape.rate * noisy / (_CURVATURE * held + _DOUBT * noise + 1.0)[:, None]
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


def random_leaves(counts: Floats, ordered: bool, leaves: int, chance: Bits) -> Integers:
    """Which leaf each bin is in: cuts at random, evenly in (noisy) rows; categories in random order."""
    size = len(counts)
    order = np.arange(size) if ordered else np.argsort(words(chance, size), kind="stable")
    heights = np.cumsum(counts[order] + 1.0)
    cuts = np.sort((words(chance, leaves - 1) >> np.uint64(11)) * 2.0**-53) * heights[-1]
    leaf = np.zeros(size, dtype=np.int64)
    leaf[order] = np.searchsorted(cuts, heights - (counts[order] + 1.0) / 2, side="right")
    return leaf


def add_scores(tables: Sequence[Floats], codes: Integers) -> Floats:
    """The scores of rows: what their bins say, summed over the columns."""
    return np.asarray(sum((table[codes[:, place]] for place, table in enumerate(tables)), np.zeros(())))
