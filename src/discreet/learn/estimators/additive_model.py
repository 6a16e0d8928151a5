"""Generalised additive models (explainable boosting): one term a column, with intervals, drawn and edited freely."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from attrs import define
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.errors import InputError, Phrase
from discreet.learn.estimators.additive_terms import STEP, UNIT, AdditiveShape, fit_terms, gradient_noise
from discreet.learn.estimators.base import PrivateEstimator, ScoreClassifier
from discreet.learn.estimators.boosted_trees import add_scores, bin_columns, gradients
from discreet.learn.estimators.columns import Columns, Floats, read_box, read_columns
from discreet.learn.estimators.rows import Rows, read_classes, read_targets
from discreet.learn.estimators.sums import SumMeter
from discreet.learn.estimators.term_plot import draw_term
from discreet.show import Picture, stack

__all__ = ["AdditiveTerms", "DPAdditiveModel", "DPAdditiveRegression"]

_GAUSSIAN, _PURE = 6, 2  # rounds
_MOST_BINS = 256


@define(kw_only=True, slots=False, eq=False, repr=False)
class AdditiveTerms(PrivateEstimator):
    """What classifiers and regressions of this kind share: terms, pictures of them, and edits.

    * `bounds`: (lower, upper) of number columns. * `categories`: {place of a column: how many codes it has}.
    * `bins` of each number column, of equal width. * `rounds` over all columns, fixed beforehand: 6 if None, and 2 for
      a pure price, whose noise grows with the rounds rather than with their root.
    """

    bounds: Any = None
    categories: Any = None
    bins: int = 64
    rounds: int | None = None

    def plot(self, column: Any = None, *, label: Any = None, level: float = 0.95) -> Picture:
        """What a column (by index or name) adds to the score, with intervals; all columns if None. Free.

        Of several classes, the score of `label`; of the last, if None. Intervals hold with probability `level` for a
        bin, not for all of them at once. They cover noise, sampling, and what smoothing may hide of a term that is
        about as large and as smooth as expected, the other terms being what they are.
        """
        check_is_fitted(self, "terms_")
        if not isinstance(level, (int, float)) or not 0 < level < 1:
            raise InputError("level", level, "between 0 and 1")
        output = self._output(label)
        if column is None:
            places = range(len(self.terms_))
            pictures = [self._picture(place, output, level) for place in places]
            return stack(f"{type(self).__name__}: terms", pictures, columns=2)
        return self._picture(self._place(column), output, level)

    def edit_term(self, column: Any, values: Any) -> Self:
        """Put other values in the place of a column's term: one a bin, or one a bin and class. Free.

        What is put there is yours: intervals no longer speak of it, and have no width. Values must not come
        from the private rows.
        """
        check_is_fitted(self, "terms_")
        place = self._place(column)
        shape = self.terms_[place].shape
        try:
            given = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.full(1, np.nan)
        if given.shape not in (shape, shape[:1]) or not np.isfinite(given).all():
            raise InputError("values", Phrase("others"), f"{shape[0]} finite numbers, one for each bin of the term")
        given = np.broadcast_to(given[:, None] if given.ndim == 1 else given, shape)
        self.terms_[place], self.term_errors_[place] = given.copy(), np.zeros(shape[0])
        return self

    def _picture(self, place: int, output: int, level: float) -> Picture:
        column = self._order()[place]
        name = self._names[column] if self._names is not None else f"column {column}"
        edges = None
        if place < len(self._columns.numbers):
            box = self._columns.box
            edges = np.linspace(box.lower[place], box.upper[place], self._bins + 1)
        return draw_term(
            name, self.terms_[place][:, output], self.term_errors_[place], edges, level, self._adds(output)
        )

    def _order(self) -> list[int]:
        """Places of columns in X, as terms are ordered: numbers first."""
        return [*self._columns.numbers, *self._columns.categories]

    def _place(self, column: Any) -> int:
        names = self._names
        if isinstance(column, str):
            if names is None or column not in names:
                raise InputError("column", column, "the name or index of a column", among=names or ())
            column = names.index(column)
        if isinstance(column, bool) or column not in self._order():
            raise InputError("column", column, f"the name of a column, or an index from 0 to {len(self.terms_) - 1}")
        return self._order().index(column)

    def _output(self, label: Any) -> int:
        """The place of the score that is drawn."""
        if label is not None:
            raise InputError("label", label, "left out: there is one score")
        return 0

    def _adds(self, output: int) -> str:
        """What a term does to the score that is drawn."""
        return "adds to the prediction"

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On the sum of gradients in a bin: a row adds at most 1."""
        columns = read_columns(self.bounds, self.categories, n_features, names=self._names)
        return {"gradient": math.sqrt(gradient_noise(self._price(), self._shape(columns)).variance) / UNIT}

    def _shape(self, columns: Columns) -> AdditiveShape:
        raise NotImplementedError

    def _sizes(self, columns: Columns) -> dict[str, Any]:
        bins = self._whole("bins", 2, _MOST_BINS)
        usual = _PURE if self._price().currency == "epsilon" else _GAUSSIAN
        return {
            "sizes": (*(bins + 1 for _ in columns.numbers), *(size + 1 for size in columns.sizes)),
            "ordered": (*(True for _ in columns.numbers), *(False for _ in columns.sizes)),
            "rounds": usual if self.rounds is None else self._whole("rounds", 1, 1000),
        }

    def _learn(self, rows: Rows, columns: Columns, slopes: Any, settings: dict[str, Any]) -> None:
        shape, bins = self._shape(columns), self._whole("bins", 2, _MOST_BINS)
        noise = self.expected_noise(rows.features.shape[1])

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            targets = np.asarray(rows.targets)
            known = targets != _NONE
            codes = bin_columns(rows.features[known], columns, bins)
            terms = fit_terms(codes, targets[known], slopes, shape, meter)
            return {
                "terms": [pack(term.values) for term in terms],
                "errors": [pack(np.rint(term.errors * UNIT).astype(np.int64)) for term in terms],
            }

        found = self._fitted(measure, {**settings, **columns.to_json(), "bins": bins, "rounds": shape.rounds}, rows)
        first, *terms = [unpack(table) / STEP for table in found["terms"]]
        doubt, *errors = [unpack(table) / UNIT for table in found["errors"]]
        self.noise_ = noise
        self.intercept_, self.intercept_error_ = first[0], float(doubt[0])
        self.terms_, self.term_errors_ = terms, errors
        self._columns, self._bins = columns, bins

    def _scores(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self, "terms_")
        features, _ = self._read(X, reset=False)
        return np.asarray(self.intercept_ + add_scores(self.terms_, bin_columns(features, self._columns, self._bins)))


_NONE = -(2**62)  # the target of a row that counts for nothing


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPAdditiveModel(AdditiveTerms, ScoreClassifier):
    """An additive classifier that can be read, drawn and edited: the log-odds are a sum of one term a column.

    Columns are cut into declared bins and counted once, with noise. Then each column in turn, in a few rounds, gets
    noisy sums of gradients in its bins, and a step that weighs them against what is expected of a term: about zero, and
    smooth. How sure a term is follows from the same sums.

    * `classes`: the labels, or how many there are. For the others see `AdditiveTerms`.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Terms of additive models".

    Fitted: `classes_`, `intercept_` and `terms_` (for each column, numbers first: what each of its bins adds to the
    scores; the last bin is for what is missing or unknown), `term_errors_` and `intercept_error_` (standard deviations:
    noise, sampling and smoothing), `noise_` (standard deviation of a bin's sum, in rows), `loss_`, `privacy_`.
    """

    classes: Any = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Count the columns and learn the terms. Every call spends."""
        self._price()
        labels = read_classes(self.classes)
        features, targets = self._read_pair(X, y)
        columns = read_columns(self.bounds, self.categories, features.shape[1], names=self._names)
        places = self._labels(targets, labels)
        rows = Rows(features, np.where(places < 0, _NONE, places))
        self._learn(rows, columns, gradients, {"classes": labels.tolist()})
        self.classes_ = labels
        return self

    def _shape(self, columns: Columns) -> AdditiveShape:
        classes = len(read_classes(self.classes))
        bend = 0.2 if classes == 2 else (classes - 1) / classes**2
        outputs = 1 if classes == 2 else classes
        return AdditiveShape(**self._sizes(columns), outputs=outputs, amplitude=2.0, curvature=bend, variance=bend)

    def _output(self, label: Any) -> int:
        if label is None:
            return int(self.terms_[0].shape[1] - 1)
        if label not in self.classes_.tolist() or (len(self.classes_) == 2 and label != self.classes_[1]):
            allowed = "one of the classes; of two, the second, whose log-odds the score is"
            raise InputError("label", label, allowed, among=self.classes_.tolist())
        return 0 if len(self.classes_) == 2 else self.classes_.tolist().index(label)

    def _adds(self, output: int) -> str:
        two = len(self.classes_) == 2
        return f"adds to the {'log-odds' if two else 'score'} of {self.classes_[-1 if two else output]}"

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPAdditiveRegression(RegressorMixin, AdditiveTerms):  # type: ignore[misc]
    """An additive regression that can be read, drawn and edited: the prediction is a sum of one term a column.

    Learned as `DPAdditiveModel` is, by the gradient of half the squared error of targets that are scaled to [-1, 1] by
    their bounds; a row counts as one that is off by at most 1.

    * `target_bounds`: (lower, upper) of y. For the others see `AdditiveTerms`.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Terms of additive models".

    Fitted: as of `DPAdditiveModel`, in units of y; `noise_` is of a sum of scaled gradients.
    """

    target_bounds: Any = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Count the columns and learn the terms. Every call spends."""
        self._price()
        features, targets = self._read_pair(X, y)
        columns = read_columns(self.bounds, self.categories, features.shape[1], names=self._names)
        target = read_box(self.target_bounds, 1, "target_bounds")
        steps = target.steps(read_targets(targets, self._mode())[:, None], -(STEP.bit_length() - 1))[:, 0]
        self._learn(Rows(features, steps), columns, residuals, {"target_bounds": target.to_json()})
        reach = float(target.reach[0])
        self.intercept_ = target.origin + reach * self.intercept_
        self.intercept_error_ *= reach
        self.terms_ = [reach * term for term in self.terms_]
        self.term_errors_ = [reach * error for error in self.term_errors_]
        self._ends = (float(target.lower[0]), float(target.upper[0]))
        return self

    def _shape(self, columns: Columns) -> AdditiveShape:
        return AdditiveShape(**self._sizes(columns), outputs=1, amplitude=0.7, curvature=1.0, variance=0.1)

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The sum of the terms, within the target's bounds; free."""
        return np.asarray(np.clip(self._scores(X)[:, 0], *self._ends))


def residuals(scores: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far scores are above targets, both in steps of a score: at most one unit, in steps of a gradient."""
    return np.asarray(np.clip(scores - targets[:, None], -STEP, STEP) * (UNIT // STEP))
