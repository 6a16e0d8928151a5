"""Naive Bayes from noisy sums for each class: bell curves for numbers, tables for categories."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.estimators.columns import Columns, Floats, read_columns
from discreet.learn.estimators.rows import Rows, read_classes
from discreet.learn.estimators.sums import SumMeter, total

__all__ = ["DPNaiveBayes"]

_EXPONENT = -12
_UNIT = 2**12  # steps in 1
_NARROWEST = 1e-4  # the least variance of a column scaled to [-1, 1]


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPNaiveBayes(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Classes distinguished by each column alone: Gaussian for numbers, a table of shares for categories.

    One vector is released for each declared class: how many rows, for each number column the sums of x and x^2 (scaled
    to [-1, 1]), for each category column a count of every code. A row is in one class only.

    * `classes`: the labels, or how many there are. Declared, never read from y.
    * `bounds`: (lower, upper) of number columns. `categories`: {place of a column: how many codes it has}.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Sums by class".

    Fitted: `classes_`, `class_prior_`, `theta_`, `var_` (means and variances of number columns), `shares_` (one table a
    category column), `n_rows_` (noisy, one a class), `noise_` (standard deviation of a count), `loss_`, `privacy_`.
    """

    classes: Any = None
    bounds: Any = None
    categories: Any = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Release the sums. Every call spends."""
        self._price()
        labels = read_classes(self.classes)
        features, targets = self._read_pair(X, y)
        columns = read_columns(self.bounds, self.categories, features.shape[1], names=self._names)
        rows = Rows(features, self._labels(targets, labels))
        l1, l2_squared = norms(columns)

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            exact = sums(rows, columns, len(labels))
            return {"sums": pack(meter.sums(exact, share=Fraction(1), l1=l1, l2_squared=l2_squared))}

        noise = self.expected_noise(features.shape[1])
        found = self._fitted(measure, {"classes": labels.tolist(), **columns.to_json()}, rows)
        self.classes_ = labels
        self.noise_ = noise
        self._columns = columns
        self._learn(unpack(found["sums"]) / _UNIT, columns, noise["count"])
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On each count, and on each sum of a column scaled to [-1, 1] or of its squares."""
        l1, l2_squared = norms(read_columns(self.bounds, self.categories, n_features, names=self._names))
        noise = self._price().noise(Fraction(1), l1=l1, l2_squared=l2_squared)
        return {"count": math.sqrt(noise.variance) / _UNIT}

    def _learn(self, noisy: Floats, columns: Columns, noise: float) -> None:
        """Post-processing. A class that noise drowns is drawn to what all classes have in common."""
        many = len(columns.numbers)
        # The count, and every table's sum, say how many rows a class has; noise on a table's sum grows with its size.
        tables = np.split(noisy[:, 1 + 2 * many :], np.cumsum(columns.sizes)[:-1], axis=1) if columns.sizes else []
        weights = np.array([1.0, *(1.0 / size for size in columns.sizes)])
        says = np.column_stack([noisy[:, 0], *(table.sum(axis=1) for table in tables)])
        counts = np.maximum(says @ weights / weights.sum(), 1.0)
        self.n_rows_ = counts
        self.class_prior_ = counts / counts.sum()
        first, second = noisy[:, 1 : 1 + many], noisy[:, 1 + many : 1 + 2 * many]
        overall = np.clip(first.sum(axis=0) / counts.sum(), -1, 1)
        width = np.clip(second.sum(axis=0) / counts.sum() - overall**2, _NARROWEST, 1.0)
        # As many imagined rows as noise is worth: its variance over the variance of the column.
        drawn = noise**2 / np.maximum(width, _NARROWEST) / counts[:, None]
        means = np.clip((first + drawn * overall) / (counts[:, None] + drawn), -1, 1)
        spread = (second + drawn * (width + overall**2)) / (counts[:, None] + drawn) - means**2
        self._means, self._spread = means, np.clip(spread, _NARROWEST + 2 * noise / counts[:, None], 1.0)
        box = columns.box
        self.theta_ = box.unscaled(means)
        self.var_ = self._spread * box.reach**2
        self.shares_ = [_shares(table, counts, noise) for table in tables]

    def _scores(self, features: Floats) -> Floats:
        columns = self._columns
        scores = np.log(self.class_prior_)[None, :] + np.zeros((len(features), 1))
        if columns.numbers:
            scaled = columns.box.scaled(features[:, list(columns.numbers)])
            for place, (means, spread) in enumerate(zip(self._means, self._spread, strict=True)):
                apart = (scaled - means) ** 2 / spread
                scores[:, place] -= 0.5 * (np.log(spread) + apart).sum(axis=1)
        for place, shares in enumerate(self.shares_):
            codes = columns.codes(features, place)
            logs = np.concatenate([np.log(shares), np.zeros((len(shares), 1))], axis=1)  # an unknown code says nothing
            scores += logs[:, codes].T
        return np.asarray(scores)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """How likely each class is; free."""
        check_is_fitted(self, "classes_")
        features, _ = self._read(X, reset=False)
        scores = self._scores(features)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class; free."""
        likely = self.predict_proba(X)
        return np.asarray(self.classes_[likely.argmax(axis=1)])


def norms(columns: Columns) -> tuple[int, int]:
    """How far one row moves the sums of its class, in steps: in sum, and in squares.

    The count moves by 1, x and x^2 by at most 1 each, and one cell of every table by 1.
    """
    moved = 1 + 2 * len(columns.numbers) + len(columns.sizes)
    return moved * _UNIT, moved * _UNIT**2


def sums(rows: Rows, columns: Columns, classes: int) -> NDArray[np.int64]:
    """One line a class: the count, sums of x, sums of x^2, and the tables, all in steps. Exact."""
    targets = np.asarray(rows.targets)
    scaled = columns.box.steps(rows.features[:, list(columns.numbers)], _EXPONENT)
    squares = scaled * scaled // _UNIT  # at most _UNIT, a function of the row alone
    codes = [columns.codes(rows.features, place) for place in range(len(columns.sizes))]
    lines = []
    for place in range(classes):
        here = targets == place
        tables = [
            _UNIT * np.bincount(code[here & (code >= 0)], minlength=size)
            for code, size in zip(codes, columns.sizes, strict=True)
        ]
        count = np.array([_UNIT * int(here.sum())])
        lines.append(np.concatenate([count, total(scaled[here], _UNIT), total(squares[here], _UNIT), *tables]))
    return np.stack(lines).astype(np.int64)


def _shares(table: Floats, counts: Floats, noise: float) -> Floats:
    """Shares of codes in each class. What all classes have in common is kept; what a class has beyond that is shrunk by
    how much of it noise explains."""
    overall = np.maximum(table.sum(axis=0), 0.0) + 1.0
    overall = overall / overall.sum()
    common = counts[:, None] * overall
    apart = table - common
    signal = np.maximum((apart**2).mean(axis=1, keepdims=True) - noise**2, 0.0)
    filled = np.maximum(common + apart * signal / (signal + noise**2 + 1e-12), 0.0) + (1.0 + noise / 4) * overall
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))
