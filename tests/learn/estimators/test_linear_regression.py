"""Linear regression: least squares without noise, errors as large as they are said to be, noise as it was paid for."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN
from scipy import stats
from sklearn.linear_model import LinearRegression, Ridge

from chance import LEVEL, frequency_fits
from discreet.learn.estimators import DPLinearRegression
from discreet.learn.estimators import linear_regression as regression
from discreet.learn.estimators.plan import FitPrice
from discreet.mechanisms import Gaussian


def line(count=5000, seed=0):
    chance = np.random.default_rng(seed)
    features = chance.uniform([-1, 0, 10], [1, 5, 30], size=(count, 3))
    return features, 3 + features @ [2.0, -0.5, 0.1] + chance.normal(size=count) * 0.3


def test_regression_without_noise_is_least_squares():
    features, targets = line()
    model = DPLinearRegression(**CERTAIN, bounds=([-1, 0, 10], [1, 5, 30]), target_bounds=(0, 10)).fit(
        features, targets
    )
    plain = LinearRegression().fit(features, targets)
    assert np.allclose(model.coef_, plain.coef_, atol=2e-3)
    assert model.intercept_ == pytest.approx(plain.intercept_, abs=5e-3)
    assert model.n_rows_ == 5000
    around = features - features.mean(axis=0)
    errors = np.sqrt(np.diag(np.linalg.inv(around.T @ around)) * np.var(targets - plain.predict(features)))
    assert np.allclose(model.coef_error_, errors, rtol=0.02)


def test_a_fixed_ridge_is_ridge_regression():
    features, targets = line()
    features = features[:, :2] / [1, 5] * [1, 2] - [0, 1]  # in [-1, 1]
    model = DPLinearRegression(**CERTAIN, bounds=(-1, 1), target_bounds=(0, 10), ridge=500).fit(features, targets)
    plain = Ridge(500).fit(features, targets)
    assert np.allclose(model.coef_, plain.coef_, atol=2e-3)


def test_standard_errors_hold_what_they_say():
    """How far slopes are from the truth, in standard errors: noise outweighs sampling here."""
    features, targets = line(20_000)
    truth = LinearRegression().fit(features, targets).coef_
    settings = {"rho": 0.05, "bounds": ([-1, 0, 10], [1, 5, 30]), "target_bounds": (0, 10), "ridge": 0}
    inside, many = 0, 150
    for _ in range(many):
        model = DPLinearRegression(**settings).fit(features, targets)
        sampling = model.coef_error_[0] ** 2 - (0.3 / np.sqrt(20_000 / 3)) ** 2
        assert sampling > 0
        inside += int(abs(model.coef_[0] - truth[0]) < 1.5 * np.sqrt(sampling))
    assert frequency_fits(inside, many, stats.norm.cdf(1.5) - stats.norm.cdf(-1.5))


@pytest.mark.parametrize("right", [True, False])
def test_the_count_that_comes_out_has_the_noise_paid_for(monkeypatch, right):
    """From rows to a fitted attribute; with a quarter of the noise it must be told."""
    if not right:
        honest = FitPrice.noise
        monkeypatch.setattr(FitPrice, "noise", lambda self, *a, **b: Gaussian(honest(self, *a, **b).sigma / 4))
    features, targets = line(1000)
    model = DPLinearRegression(rho=0.5, bounds=([-1, 0, 10], [1, 5, 30]), target_bounds=(0, 10))
    errors = [model.fit(features, targets).n_rows_ - 1000 for _ in range(300)]
    sigma = regression.RADIUS**2 / (regression.RADIUS**2 // 6)  # sigma = RADIUS**2 steps, at rho = 1/2
    assert (stats.kstest(np.array(errors) / sigma, "norm").pvalue > LEVEL) == right


def test_shrinking_beats_plain_inversion_where_noise_is_large():
    features, targets = line(2000)
    settings = {"rho": 1e-4, "bounds": ([-1, 0, 10], [1, 5, 30]), "target_bounds": (0, 10)}
    scores = {
        ridge: np.median(
            [
                DPLinearRegression(**settings, ridge=ridge).fit(features, targets).score(features, targets)
                for _ in range(150)  # a median moves: of 40 it could be the other way round
            ]
        )
        for ridge in (None, 0)
    }
    assert scores[None] > scores[0]
