"""Estimators find what is there: exactly without noise, nearly with some, and their errors are as large as they say."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from chance import LEVEL, frequency_fits
from discreet.learn.estimators import DPPCA, DPBoostedTrees, DPKMeans, DPLinearRegression, DPNaiveBayes
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


def test_components_without_noise_are_those_of_pca():
    chance = np.random.default_rng(1)
    features = np.clip(chance.normal(size=(4000, 5)) @ np.diag([3, 2, 1, 0.5, 0.1]) + [1, 0, -1, 0, 0], -20, 20)
    model = DPPCA(3, **CERTAIN, bounds=(-20, 20)).fit(features)
    plain = PCA(3).fit(features)
    assert np.allclose(np.abs((model.components_ * plain.components_).sum(axis=1)), 1, atol=1e-4)
    assert np.allclose(model.explained_variance_, plain.explained_variance_, rtol=5e-3)
    assert np.allclose(model.explained_variance_ratio_, plain.explained_variance_ratio_, atol=2e-3)
    assert np.allclose(model.mean_, plain.mean_, atol=5e-3)
    assert np.allclose(
        model.inverse_transform(model.transform(features)),
        plain.inverse_transform(plain.transform(features)),
        atol=0.02,
    )
    assert list(model.get_feature_names_out()) == ["dppca0", "dppca1", "dppca2"]


def test_components_from_the_origin_and_cut_rows():
    chance = np.random.default_rng(2)
    features = chance.normal(size=(3000, 4)) * [2, 1, 0.5, 0.2]
    features[0] = [0, 0, 0, 9]  # one row alone cannot turn the axes: it is cut
    model = DPPCA(1, rho=1, bounds=(-10, 10), norm=2.0, centered=False).fit(features)
    assert abs(model.components_[0, 0]) > 0.99
    assert (model.mean_ == 0).all()


def test_bayes_without_noise_is_gaussian_bayes():
    chance = np.random.default_rng(3)
    targets = chance.integers(0, 3, size=6000)
    features = np.clip(chance.normal(size=(6000, 2)) + np.array([[0, 0], [2, 0], [0, 3]])[targets], -10, 10)
    model = DPNaiveBayes(**CERTAIN, bounds=(-10, 10), classes=3).fit(features, targets)
    plain = GaussianNB().fit(features, targets)
    assert np.allclose(model.theta_, plain.theta_, atol=0.01)
    assert np.allclose(model.var_, plain.var_, rtol=0.03)
    assert (model.predict(features) == plain.predict(features)).mean() > 0.995
    noisy = DPNaiveBayes(epsilon=4, bounds=(-10, 10), classes=3).fit(features, targets)
    assert noisy.score(features, targets) > plain.score(features, targets) - 0.05


def test_bayes_counts_categories():
    chance = np.random.default_rng(4)
    targets = chance.integers(0, 2, size=5000)
    codes = np.where(chance.uniform(size=5000) < 0.8, targets, 2).astype(float)
    features = np.column_stack([codes, chance.uniform(size=5000)])
    model = DPNaiveBayes(**CERTAIN, bounds=(0, 1), categories={0: 4}, classes=2).fit(features, targets)
    assert model.shares_[0].shape == (2, 4)
    assert np.allclose(model.shares_[0][0], [0.8, 0, 0.2, 0], atol=0.02)
    assert model.score(features, targets) > 0.85
    unknown = np.array([[7.0, 0.5], [2.0, 0.5]])
    assert np.allclose(*model.predict_proba(unknown), atol=0.05)


def test_clusters_are_found():
    chance = np.random.default_rng(5)
    middles = chance.uniform(-8, 8, size=(6, 3))
    features = np.clip(middles[chance.integers(0, 6, size=20_000)] + chance.normal(size=(20_000, 3)) * 0.4, -10, 10)
    plain = -KMeans(6, n_init=5, random_state=0).fit(features).score(features)
    exact = DPKMeans(6, **CERTAIN, bounds=(-10, 10)).fit(features)
    assert -exact.score(features) < 1.02 * plain
    noisy = DPKMeans(6, rho=0.02, bounds=(-10, 10)).fit(features)
    assert -noisy.score(features) < 1.5 * plain
    assert abs(noisy.n_rows_.sum() - 20_000) < 2000
    assert (exact.fit_predict(features) == exact.predict(features)).all()


def test_clusters_where_noise_drowns_all_are_still_within_bounds():
    features = np.random.default_rng(6).uniform(size=(50, 2))
    model = DPKMeans(4, rho=1e-6, bounds=(0, 1)).fit(features)
    assert model.cluster_centers_.shape == (4, 2)
    assert ((model.cluster_centers_ >= 0) & (model.cluster_centers_ <= 1)).all()


def test_trees_learn_shapes_that_no_line_has():
    chance = np.random.default_rng(7)
    features = chance.uniform(-1, 1, size=(8000, 2))
    codes = chance.integers(0, 4, size=8000)
    targets = ((np.abs(features[:, 0]) > 0.5) ^ (codes == 2)).astype(int)
    rows = np.column_stack([features, codes])
    settings = {"bounds": (-1, 1), "categories": {2: 4}, "classes": 2}
    sharp = DPBoostedTrees(**CERTAIN, **settings, rounds=60).fit(rows, targets)
    noisy = DPBoostedTrees(rho=0.05, **settings).fit(rows, targets)
    best = 0.75  # without pairs of columns
    assert sharp.score(rows, targets) >= best - 0.02
    assert noisy.score(rows, targets) > 0.7
    assert [len(shape) for shape in noisy.shapes_] == [65, 65, 5]
    edge, middle = noisy.shapes_[0][[2, 61], 0].mean(), noisy.shapes_[0][32, 0]
    assert edge > middle + 1


def test_trees_of_many_classes():
    chance = np.random.default_rng(8)
    features = chance.uniform(-1, 1, size=(6000, 2))
    targets = np.array(["low", "middle", "high"])[np.digitize(features[:, 0], [-0.3, 0.4])]
    model = DPBoostedTrees(rho=0.2, bounds=(-1, 1), classes=["low", "middle", "high"]).fit(features, targets)
    assert model.score(features, targets) > 0.9
    assert model.predict_proba(features).shape == (6000, 3)
