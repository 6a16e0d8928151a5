"""Principal components of a noisy covariance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define, field
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.errors import InputError
from discreet.learn.estimators.base import PrivateEstimator, read_array
from discreet.learn.estimators.columns import Box, Floats, read_box
from discreet.learn.estimators.rows import COUNT_SHARE, Rows, read_examples
from discreet.learn.estimators.sums import (
    FINE,
    RADIUS,
    SumMeter,
    blocks,
    fine,
    moment_noise,
    second_moments,
    whole_rows,
)

__all__ = ["DPPCA"]

_CONSTANT = 0.5
"""How long the constant is beside a row of full length, where the mean is bought too: noise grows by a quarter."""


@define(slots=False, eq=False, repr=False)
class DPPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Principal components of rows within declared bounds, cut to a declared length.

    The second moments of the rows, measured from `origin`, are released once; components are eigenvectors of that.

    * `n_components`: how many to keep; all of them if None.
    * `bounds`: (lower, upper), numbers or one number a feature. `origin`: the middle of them unless given.
    * `norm`: the length that rows, measured from the origin, are cut to, in the units of the data; by default the
      longest there can be. Noise grows with its square: a norm that most rows reach loses little and buys much.
    * `centered`: take the (noisy) mean off, as PCA does. False saves a fifth of the noise; the components are then
      those of distances from the origin.
    * `examples`: where not centered, about how many rows there are, as the public knows: variances are divided by it.
      None buys a noisy count for a fiftieth of the price. (The mean comes with a noisy count already.)

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Second moments".

    Fitted: `components_`, `mean_`, `explained_variance_`, `explained_variance_ratio_`, `n_components_`, `n_rows_`
    (noisy, or as declared), `noise_`, `loss_`, `privacy_`.
    """

    n_components: int | None = None
    bounds: Any = field(default=None, kw_only=True)
    norm: float | None = field(default=None, kw_only=True)
    origin: Any = field(default=None, kw_only=True)
    centered: bool = field(default=True, kw_only=True)
    examples: int | None = field(default=None, kw_only=True)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Release the second moments and find their axes. Every call spends."""
        self._price()
        features, _ = self._read(X, reset=True)
        width = features.shape[1]
        kept = self._kept(width)
        box = read_box(self.bounds, width, origin=self.origin, names=self._names)
        norm = self._norm(box)
        one, radius = self._lengths()
        declared, counted = read_examples(self.examples), self._counted()
        size, reach = width + bool(one), float(box.reach.max()) or 1.0
        noise = self.expected_noise(width)

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            def pieces() -> Any:
                for part in blocks(len(rows.features)):
                    steps = fine((box.clipped(rows.features[part]) - box.origin) / reach)
                    here = whole_rows(steps, norm / reach * FINE, radius)
                    yield np.column_stack([here, np.full(len(here), float(one))]) if one else here

            exact = second_moments(pieces(), size, len(rows.features))
            measured = {"moments": pack(meter.moments(exact, share=1 - counted, squared=RADIUS**2))}
            if counted:
                many = np.array([len(rows.features)])
                measured["rows"] = pack(meter.sums(many, share=counted, l1=1, l2_squared=1))
            return measured

        settings = {"bounds": box.to_json(), "norm": norm, "centered": bool(one), "examples": declared}
        found = self._fitted(measure, settings, Rows(features))
        unit = (norm / radius) ** 2
        self.noise_ = noise
        moments = unpack(found["moments"]).astype(np.float64)
        self.mean_ = box.origin.copy()
        if one:
            count = max(moments[-1, -1] / one**2, 1.0)
            shift = np.clip(moments[:-1, -1] / one / count * norm / radius, -box.reach, box.reach)
            self.mean_ += shift
            moments = moments[:-1, :-1] - count * np.outer(shift, shift) / unit
        else:
            count = max(float(unpack(found["rows"])[0]), 1.0) if declared is None else declared
        self.n_rows_ = float(count)
        self._axes(unit * moments / count, kept)
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On sums of squares of a feature and on sums of products of two, in the units of the data."""
        one, radius = self._lengths()
        unit = (self._norm(read_box(self.bounds, n_features, origin=self.origin, names=self._names)) / radius) ** 2
        on, off = moment_noise(self._price(), 1 - self._counted(), n_features + bool(one), RADIUS**2)
        return {"diagonal": unit * math.sqrt(on.variance), "others": unit * math.sqrt(off.variance)}

    def _counted(self) -> Fraction:
        """The share of the price that a count of rows takes."""
        return Fraction(0) if self._centered() or read_examples(self.examples) is not None else COUNT_SHARE

    def _lengths(self) -> tuple[int, int]:
        """How long the constant and the features of a row are: at most RADIUS in all."""
        constant = _CONSTANT if self._centered() else 0.0
        one = math.floor(RADIUS * constant / math.hypot(1.0, constant))
        return one, math.isqrt(RADIUS**2 - one**2)

    def _axes(self, covariance: Floats, kept: int) -> None:
        """Post-processing: eigenvectors of what was released, each with its largest entry above zero."""
        values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1].T
        largest = vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)]
        vectors = vectors * np.where(largest < 0, -1.0, 1.0)[:, None]
        total = float(values.sum())
        self.components_ = vectors[:kept].copy()
        self.explained_variance_ = values[:kept].copy()
        self.explained_variance_ratio_ = self.explained_variance_ / (total if total > 0 else 1.0)
        self.n_components_ = kept
        self._n_features_out = kept

    def _kept(self, width: int) -> int:
        kept = width if self.n_components is None else self.n_components
        if isinstance(kept, bool) or not isinstance(kept, (int, np.integer)) or not 1 <= kept <= width:
            raise InputError("n_components", kept, f"a whole number from 1 to the {width} features, or None")
        return int(kept)

    def _centered(self) -> bool:
        if not isinstance(self.centered, (bool, np.bool_)):
            raise InputError("centered", self.centered, "True or False")
        return bool(self.centered)

    def _norm(self, box: Box) -> float:
        longest, shortest = float(np.linalg.norm(box.reach)), float(box.reach.max()) / 1000
        if self.norm is None:
            return longest if longest > 0 else 1.0
        if isinstance(self.norm, bool) or not isinstance(self.norm, (int, float)) or not 0 < self.norm < math.inf:
            raise InputError("norm", self.norm, "a length above zero: rows are cut to it")
        if self.norm < shortest:
            raise InputError("norm", self.norm, f"at least {shortest:g}, a thousandth of the widest bounds")
        return min(float(self.norm), longest) if longest > 0 else float(self.norm)

    def transform(self, X: Any) -> Floats:  # noqa: N803
        """Coordinates along the components; free, and not cut."""
        check_is_fitted(self, "components_")
        features, _ = self._read(X, reset=False)
        return np.asarray((features - self.mean_) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803
        """Back to the features, as far as the components reach."""
        check_is_fitted(self, "components_")
        return np.asarray(read_array(X, "X") @ self.components_ + self.mean_)
