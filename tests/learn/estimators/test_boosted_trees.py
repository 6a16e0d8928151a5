"""Boosted trees learn shapes that no line has, by gradients that are whole and bounded."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")


import numpy as np
from estimator_rows import CERTAIN

from discreet.learn.estimators import (
    DPBoostedTrees,
    boosted_trees,
)


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


def test_gradients_are_whole_and_bounded():
    """For every score: in units of 2**12, as far as declared and no farther, and close to the real ones."""
    chance, unit = np.random.default_rng(4), 2**12
    ends = np.array([-(2**14), 2**14])
    scores = np.concatenate([np.arange(-(2**14), 2**14 + 1), ends, ends])[:, None]
    targets = chance.integers(0, 2, size=len(scores))
    steps = boosted_trees.gradients(scores, targets)
    real = 1 / (1 + np.exp(-scores[:, 0] / 1024)) - targets
    assert np.abs(steps).max() <= unit
    assert np.abs(steps[:, 0] / unit - real).max() <= 1 / unit
    scores = chance.integers(-(2**14), 2**14, size=(20_000, 5))
    scores[:1000] //= 500
    targets = chance.integers(0, 5, size=len(scores))
    steps = boosted_trees.gradients(scores, targets)
    assert np.abs(steps).sum(axis=1).max() <= 2 * unit
    assert (steps**2).sum(axis=1).max() <= 2 * unit**2
    odds = np.exp((scores - scores.max(axis=1, keepdims=True)) / 1024)
    real = odds / odds.sum(axis=1, keepdims=True) - np.eye(5)[targets]
    assert np.abs(steps / unit - real).max() <= 1.001 / unit
    alone = np.concatenate([boosted_trees.gradients(scores[i : i + 1], targets[i : i + 1]) for i in range(300)])
    assert (steps[:300] == alone).all()
