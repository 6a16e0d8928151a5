"""A forest of random trees learns what no single column tells, and a row counts once in each of its trees."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN
from sklearn.base import clone
from sklearn.datasets import load_iris

from discreet.learn.estimators import DPRandomForest
from discreet.learn.estimators.plan import read_price
from discreet.learn.estimators.random_forest import count_leaves, count_noise, usual_shape
from discreet.learn.estimators.sums import SumMeter


def halves(count=6000, seed=1):
    """Two columns that tell nothing each, and all together; and one code that flips the answer."""
    chance = np.random.default_rng(seed)
    features = chance.uniform(-1, 1, size=(count, 2))
    codes = chance.integers(0, 2, size=count)
    return np.column_stack([features, codes]), (features[:, 0] > features[:, 1]) ^ (codes == 1)


def test_forests_learn_what_columns_tell_together():
    features, targets = halves()
    settings = {"bounds": (-1, 1), "categories": {2: 2}, "classes": [False, True], "max_depth": 8, "n_estimators": 40}
    sharp = DPRandomForest(**CERTAIN, **settings).fit(features, targets)
    noisy = DPRandomForest(epsilon=8, **settings).fit(features, targets)
    assert sharp.score(features, targets) > 0.9
    assert noisy.score(features, targets) > 0.8
    assert noisy.predict_proba(features).shape == (6000, 2)


def test_iris_under_a_small_pure_epsilon():
    features, targets = load_iris(return_X_y=True)
    model = DPRandomForest(epsilon=2, bounds=([4, 2, 1, 0], [8, 5, 7, 3]), classes=3, examples=150)
    scores = [
        clone(model).set_params(random_state=seed).fit(features, targets).score(features, targets) for seed in range(9)
    ]
    assert np.median(scores) > 0.7
    assert np.exp(model.fit(features, targets).votes_).shape[2] == 3


def test_every_row_counts_once_in_each_tree():
    chance = np.random.default_rng(3)
    leaves, targets = chance.integers(0, 8, size=(500, 6)), chance.integers(-1, 3, size=500)
    counts = count_leaves(leaves, targets, 8, 3)
    assert (counts.sum(axis=(1, 2)) == (targets >= 0).sum()).all()
    assert counts[2, 5, 1] == ((leaves[:, 2] == 5) & (targets == 1)).sum()


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/8"}])
def test_published_votes_of_neighbours_differ_by_no_more_than_is_paid_for(price, monkeypatch):
    """Brute force through `fit`: the exact counts behind what is published, for every row that may be missing."""
    features, targets = halves(60)
    model = DPRandomForest(**price, bounds=(-1, 1), classes=[False, True], n_estimators=5, max_depth=3)
    seen = []
    monkeypatch.setattr(SumMeter, "_noisy", lambda self, values, noise: seen.append((values.copy(), noise)) or values)
    model.fit(features, targets)
    for row in range(60):
        model.fit(np.delete(features, row, axis=0), np.delete(targets, row))
    (whole, noise), *others = seen
    for counts, _ in others:
        moved = np.abs(whole - counts)
        assert moved.sum() == 5
        epsilon, rho = moved.sum() / float(noise.scale if "epsilon" in price else 1), 5 / (2 * noise.variance)
        assert (epsilon if "epsilon" in price else rho) <= float(model._price().amount) * (1 + 1e-12)
    assert noise.variance == count_noise(model._price(), 5).variance


def test_more_rows_and_larger_prices_make_larger_forests():
    shapes = [usual_shape(read_price(epsilon, None, None), 2000, 10) for epsilon in (0.1, 1, 10)]
    assert shapes == sorted(shapes)
    assert usual_shape(read_price(1, None, None), 50_000, 2) > usual_shape(read_price(1, None, None), 500, 2)
    assert usual_shape(read_price(1, 1e-6, None), 2000, 10)[0] > usual_shape(read_price(1, None, None), 2000, 10)[0]
    assert DPRandomForest(epsilon=1, classes=2, bounds=(0, 1)).expected_noise(3)["count"] > 5
