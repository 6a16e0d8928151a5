"""Components: those of PCA without noise, from the middle or from the origin."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("jax")


import numpy as np
from estimator_rows import CERTAIN, rows
from sklearn.decomposition import PCA

from discreet.learn.estimators import (
    DPPCA,
)


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


def test_components_from_the_origin_buy_a_count_or_take_the_declared_one():
    features, _ = rows(300)
    bought = DPPCA(rho=1, bounds=(-1, 1), centered=False).fit(features)
    assert bought.n_rows_ == pytest.approx(300, abs=100)
    declared = DPPCA(rho=1, bounds=(-1, 1), centered=False, examples=300).fit(features)
    assert declared.n_rows_ == 300
    assert declared.noise_["diagonal"] < bought.noise_["diagonal"]
    assert declared.explained_variance_[0] == pytest.approx(1 / 3, abs=0.15)
