"""Least squares from noisy sufficient statistics: one release, any ridge afterwards."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Self

import numpy as np
from attrs import define
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.packing import pack, unpack
from discreet.errors import InputError
from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.estimators.columns import Box, Floats, read_box
from discreet.learn.estimators.rows import Rows, read_targets
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

__all__ = ["DPLinearRegression"]

_LEAST = 1e-12  # a variance that counts as none
# A row is (constant, features, target), at most RADIUS long in all: features twice as long as each of the others.
_ONE = math.isqrt(RADIUS**2 // 6)
_FEATURES = math.isqrt(RADIUS**2 - 2 * _ONE**2)
_SHORTEST = 1e-3


@define(kw_only=True, slots=False, eq=False, repr=False)
class DPLinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Linear regression with an intercept, on features and targets within declared bounds.

    One matrix is released: the second moments of the rows (1, features, target), scaled to [-1, 1]. Coefficients, their
    standard errors and everything else follow from it. Directions that noise drowns are shrunk: the amount is chosen
    from the known noise and the released matrix (empirical Bayes), unless `ridge` is given.

    * `bounds`, `target_bounds`: (lower, upper), numbers or one number a feature.
    * `norm`: declared length that scaled rows are cut to. The default cuts nothing. Noise grows with its square: for
      one-hot features with `origin=0`, say the number of ones in a row, square-rooted.
    * `origin`: where features are measured from; the middle of the bounds unless given.
    * `ridge`: a fixed penalty on the scaled slopes, or None.

    Guarantee: see `PrivateEstimator`; the norms are in docs/proofs/estimators.md, "Second moments".

    Fitted: `coef_`, `intercept_`, `coef_error_` (one standard error each: sampling and noise), `n_rows_` (noisy),
    `noise_` (standard deviations, in rows), `loss_`, `privacy_`.
    """

    bounds: Any = None
    target_bounds: Any = None
    norm: float | None = None
    origin: Any = None
    ridge: float | None = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's name
        """Release the statistics and solve. Every call spends."""
        self._price()
        features, targets = self._read_pair(X, y)
        box = read_box(self.bounds, features.shape[1], origin=self.origin, names=self._names)
        target = read_box(self.target_bounds, 1, "target_bounds")
        norm, ridge = self._norm(len(box)), self._ridge()
        size = len(box) + 2
        one, radius = _ONE, _FEATURES
        noise = self.expected_noise(len(box))

        def measure(rows: Rows, meter: SumMeter) -> dict[str, Any]:
            def pieces() -> Any:
                for part in blocks(len(rows.features)):
                    here = whole_rows(fine(box.scaled(rows.features[part])), norm * FINE, radius)
                    goal = np.rint(target.scaled(np.asarray(rows.targets)[part, None]) * one)
                    yield np.column_stack([np.full(len(here), float(one)), here, goal])

            exact = second_moments(pieces(), size, len(rows.features))
            return {"moments": pack(meter.moments(exact, share=Fraction(1), squared=RADIUS**2))}

        settings = {"bounds": box.to_json(), "target_bounds": target.to_json(), "norm": norm}
        found = self._fitted(measure, settings, Rows(features, read_targets(targets, self._mode())))
        unit = np.full(size, norm / radius)
        unit[[0, -1]] = 1 / one
        self.noise_ = noise
        self._solve(np.outer(unit, unit) * unpack(found["moments"]), box, target, ridge)
        return self

    def expected_noise(self, n_features: int) -> dict[str, float]:
        """On the count, on sums of products of two features, and of a feature and the target, all scaled to 1."""
        unit = self._norm(n_features) / _FEATURES
        on, off = moment_noise(self._price(), Fraction(1), n_features + 2, RADIUS**2)
        steps = math.sqrt(off.variance)
        return {"count": math.sqrt(on.variance) / _ONE**2, "products": steps * unit**2, "joint": steps * unit / _ONE}

    def _norm(self, features: int) -> float:
        if self.norm is None:
            return math.sqrt(features)
        if (
            isinstance(self.norm, bool)
            or not isinstance(self.norm, (int, float))
            or not _SHORTEST <= self.norm < math.inf
        ):
            raise InputError("norm", self.norm, f"a length of {_SHORTEST} or more: scaled rows are cut to it")
        return min(float(self.norm), math.sqrt(features))

    def _ridge(self) -> float | None:
        if self.ridge is not None and not (isinstance(self.ridge, (int, float)) and 0 <= self.ridge < math.inf):
            raise InputError("ridge", self.ridge, "zero or more, or None")
        return self.ridge

    def _solve(self, moments: Floats, box: Box, target: Box, ridge: float | None) -> None:
        """Post-processing: what the released matrix says."""
        count = max(moments[0, 0], 1.0)
        means, level = np.clip(moments[0, 1:-1] / count, -1, 1), float(np.clip(moments[0, -1] / count, -1, 1))
        spread = moments[1:-1, 1:-1] - count * np.outer(means, means)
        joint = moments[1:-1, -1] - count * level * means
        values, vectors = np.linalg.eigh((spread + spread.T) / 2)
        values, turned = np.maximum(values, 0.0), vectors.T @ joint
        noise, inner = self.noise_["joint"] ** 2, self.noise_["products"] ** 2
        if ridge is None:
            gain = _shrunk(values, turned, noise, inner)
        else:
            lifted = values + ridge
            gain = np.divide(1.0, lifted, out=np.zeros_like(lifted), where=lifted > 0)
        slopes = vectors @ (gain * turned)
        left = moments[-1, -1] - count * level * level - 2 * slopes @ joint + slopes @ spread @ slopes
        variance = float(np.clip(left / count, 1e-12, 1.0))
        # Of joint - spread @ slopes: noise of both, in which off-diagonal entries stand twice; and sampling.
        both = np.outer(slopes, slopes)
        off = (noise + inner * slopes @ slopes) * np.eye(len(slopes)) + inner * (both - np.diag(np.diag(both)))
        inverse = (vectors * gain) @ vectors.T
        errors = inverse @ (off + variance * (vectors * values) @ vectors.T) @ inverse
        reach = np.where(box.reach > 0, box.reach, 1.0)
        self._ends = (float(target.lower[0]), float(target.upper[0]))
        self.n_rows_ = float(count)
        self.coef_ = np.where(box.reach > 0, slopes / reach, 0.0) * target.reach[0]
        self.coef_error_ = np.sqrt(np.maximum(np.diag(errors), 0.0)) / reach * target.reach[0]
        centre = float(target.origin[0] + target.reach[0] * level)
        self.intercept_ = centre - float(self.coef_ @ box.unscaled(means))

    def predict(self, X: Any) -> Floats:  # noqa: N803
        """What the line says, within the target's bounds; free."""
        check_is_fitted(self, "coef_")
        features, _ = self._read(X, reset=False)
        return np.asarray(np.clip(features @ self.coef_ + self.intercept_, *self._ends))


def _shrunk(values: Floats, turned: Floats, noise: float, inner: float) -> Floats:
    """Gains w / (w^2 + v / t) for eigenvalues w: the posterior mean of slopes with prior variance t under noise v.

    Along an eigenvector, joint = w * slope + noise of variance v = noise + inner * |slopes|^2. The prior variance that
    makes what was released most likely is looked for on a grid; v follows from the slopes it gives, so twice is enough.
    """
    variance, gain = max(noise, _LEAST), np.zeros_like(values)
    for _ in range(3):
        priors = np.geomspace(1e-8, 1e2, 101)[:, None]
        widths = values**2 * priors + variance
        best = float(priors[np.argmin((np.log(widths) + turned**2 / widths).sum(axis=1)), 0])
        gain = values / (values**2 + variance / best)
        variance = max(noise, _LEAST) + inner * float(((gain * turned) ** 2).sum())
    return gain
