"""Boosted trees on one column each: an additive model that can be read, column by column."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.errors import InputError
from discreet.learn.estimators.box import Floats
from discreet.learn.estimators.columns import Columns, read_columns
from discreet.learn.estimators.rows import Rows, read_classes
from discreet.learn.estimators.scores import ScoreClassifier
from discreet.learn.estimators.stumps import Boosting, added_up, boosted, leaf_noise
from discreet.learn.estimators.till import Till

__all__ = ["DPBoostedTrees"]

_GAUSSIAN, _PURE = (20, 0.5), (5, 0.8)  # rounds and rate


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
        columns = read_columns(self.bounds, self.categories, features.shape[1])
        bins = self._whole("bins", 2, 4096)
        shape = self._shape(columns, bins, len(labels))
        rows = Rows(features, self._labels(targets, labels))
        noise = self.expected_noise(features.shape[1])

        def measure(rows: Rows, till: Till) -> dict[str, Any]:
            tables = boosted(binned(rows.features, columns, bins), np.asarray(rows.targets), shape, till)
            return {"tables": [pack(table) for table in tables]}

        kept = {"bins": bins, "rounds": shape.rounds, "rate": shape.rate, "leaves": shape.leaves}
        found = self._fitted(measure, {"classes": labels.tolist(), **columns.told(), **kept}, rows)
        self.classes_ = labels
        self.noise_ = noise
        self.shapes_ = [unpack(table) / 2**10 for table in found["tables"]]
        self._columns, self._bins = columns, bins
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On the sum of gradients in a leaf: a row adds at most 1."""
        columns = read_columns(self.bounds, self.categories, n_features)
        shape = self._shape(columns, self._whole("bins", 2, 4096), len(read_classes(self.classes)))
        return {"leaf": math.sqrt(leaf_noise(self._price(), shape).variance) / 2**12}

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
        scores = added_up(self.shapes_, binned(features, self._columns, self._bins))
        return scores[:, 0] if len(self.classes_) == 2 else scores


def binned(features: Floats, columns: Columns, bins: int) -> NDArray[np.int64]:
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
