"""A scaler that looks at no row: columns go from declared bounds to a range."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from attrs import define
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discreet.errors import InputError
from discreet.learn.estimators.columns import Box, Floats, read_box

__all__ = ["BoundsScaler"]


@define(kw_only=True, slots=False, eq=False, repr=False)
class BoundsScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns scaled from declared `bounds` to `feature_range`, values beyond cut to them. Free: no value is learned.

    Scalers that look at the data (`StandardScaler`, `MinMaxScaler`) tell of it without noise, and no estimator behind
    them can make up for that. In a pipeline put this one first and give what follows `bounds=feature_range`.

    * `bounds`: (lower, upper), numbers or one number a column, or {name: (lower, upper)} for columns with names.
    * `feature_range`: where bounds go, (-1, 1) unless given.

    Guarantee: `fit` keeps how many columns there are and their names, and nothing of any row.
    """

    bounds: Any = None
    feature_range: Any = (-1, 1)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Read the bounds for these columns. No value of X is looked at, but for whether all are numbers."""
        validate_data(self, X, dtype=np.float64, ensure_all_finite=False)
        names = [str(name) for name in self.feature_names_in_] if hasattr(self, "feature_names_in_") else None
        box = read_box(self.bounds, self.n_features_in_, names=names)
        self._range()
        self.data_min_, self.data_max_ = box.lower, box.upper
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Each value on its own; NaN stays what it is."""
        check_is_fitted(self, "data_min_")
        low, high = self._range()
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        box = self._box()
        parts = (np.clip(values, box.lower, box.upper) - box.lower) / self._width(box)
        return np.asarray(low + (high - low) * parts)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Back to the units of the bounds."""
        check_is_fitted(self, "data_min_")
        low, high = self._range()
        values = check_array(X, dtype=np.float64, ensure_all_finite=False)
        box = self._box()
        return np.asarray(box.lower + (values - low) / (high - low) * self._width(box))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _box(self) -> Box:
        return Box(self.data_min_, self.data_max_, self.data_min_)

    def _width(self, box: Box) -> Floats:
        """One for a column whose bounds are equal: it is constant, and goes to the lower end."""
        return np.where(box.upper > box.lower, box.upper - box.lower, 1.0)

    def _range(self) -> tuple[float, float]:
        try:
            low, high = (float(end) for end in self.feature_range)
        except (TypeError, ValueError):
            low = high = 0.0
        if not -1e100 <= low < high <= 1e100:
            raise InputError("feature_range", self.feature_range, "a pair (low, high) of numbers, low less than high")
        return low, high
