"""Naive Bayes: that of Gaussians without noise, and counts of categories."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN
from sklearn.naive_bayes import GaussianNB

from discreet.learn.estimators import DPNaiveBayes


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
