"""Clusters are found where they are, and stay within bounds where noise drowns all."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN
from sklearn.cluster import KMeans

from discreet.learn.estimators import DPKMeans


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
