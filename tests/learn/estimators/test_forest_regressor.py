"""A forest of random trees predicts numbers, and a row counts as one row in each of its trees, whatever its target."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np
from estimator_rows import CERTAIN
from sklearn.base import clone

from discreet.learn.estimators import DPRandomForestRegressor, forest_regressor
from discreet.learn.estimators.forest_regressor import UNIT, leaf_noise, leaf_parts, slope_sums, stretch, sum_leaves
from discreet.learn.estimators.plan import read_price
from discreet.learn.estimators.sums import SumMeter


def corners(count=4000, seed=1):
    """A number that follows from two columns together, and from a code."""
    chance = np.random.default_rng(seed)
    features = chance.uniform(0, 1, size=(count, 2))
    codes = chance.integers(0, 2, size=count)
    return np.column_stack([features, codes]), 10 * (features[:, 0] > features[:, 1]) * (codes == 1) + features[:, 0]


SETTINGS = {"bounds": (0, 1), "categories": {2: 2}, "target_bounds": (-5, 15), "examples": 4000}


def test_forests_predict_what_columns_tell_together():
    features, targets = corners()
    sharp = DPRandomForestRegressor(**CERTAIN, **SETTINGS, n_estimators=60, max_depth=8).fit(features, targets)
    noisy = DPRandomForestRegressor(epsilon=8, **SETTINGS).fit(features, targets)
    assert sharp.score(features, targets) > 0.85
    assert noisy.score(features, targets) > 0.4
    assert abs(noisy.mean_ - targets.mean()) < 1


def test_predictions_stay_within_the_bounds_of_the_target():
    features, targets = corners(200)
    model = DPRandomForestRegressor(epsilon="1/1000", **SETTINGS).fit(features, targets)
    guesses = model.predict(features)
    assert guesses.min() >= -5
    assert guesses.max() <= 15
    assert (model.leaf_values_.shape[0],) == (len(model.leaf_values_),) != (0,)


def test_the_slope_makes_up_for_trees_that_know_nothing_of_the_target(monkeypatch):
    features, targets = corners()
    model = DPRandomForestRegressor(**CERTAIN, **SETTINGS, n_estimators=60, max_depth=6)
    stretched = clone(model).fit(features, targets)
    monkeypatch.setattr(forest_regressor, "stretch", lambda *_: 1.0)
    plain = clone(model).fit(features, targets)
    assert 1 < stretched.slope_ <= 60
    assert stretched.score(features, targets) > plain.score(features, targets) + 0.05


def test_the_slope_is_least_squares_without_noise_and_none_where_noise_is_all():
    scores, targets = np.array([0.5, -0.25, 1.0]), np.array([0.25, -0.125, 0.5])
    sums = slope_sums(scores, targets) / 2**24
    assert stretch(sums, reach=1.0, trees=10, noise=1e-9) == pytest.approx(5, rel=1e-3)
    assert stretch(sums, reach=1.0, trees=10, noise=1e9) == pytest.approx(1, rel=1e-3)
    assert stretch(-sums, reach=1.0, trees=10, noise=1e-9) == 1
    assert stretch(sums, reach=0.1, trees=10, noise=1e-9) == 10


def test_both_parts_of_a_row_are_one_row():
    steps = np.arange(-UNIT // 2, UNIT // 2 + 1)
    parts = leaf_parts(steps)
    assert (parts >= 0).all()
    assert (parts.sum(axis=1) == UNIT).all()
    assert ((parts**2).sum(axis=1) <= UNIT**2).all()


def test_sums_by_leaf_are_exact():
    chance = np.random.default_rng(3)
    leaves, parts = chance.integers(0, 8, size=(500, 6)), leaf_parts(chance.integers(-4096, 4097, size=500))
    sums = sum_leaves(leaves, parts, 8)
    assert (sums.sum(axis=(1, 2)) == 500 * UNIT).all()
    assert sums[2, 5].tolist() == parts[leaves[:, 2] == 5].sum(axis=0).tolist()


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/8"}])
def test_published_sums_of_neighbours_differ_by_no_more_than_is_paid_for(price, monkeypatch):
    """Brute force through `fit`: the exact sums behind what is published, for every row that may be missing.

    The second release is compared where the first said the same: the meter hands out the sums of all rows.
    """
    features, targets = corners(40)
    model = DPRandomForestRegressor(**price, bounds=(0, 1), target_bounds=(0, 11), n_estimators=5, max_depth=3)
    seen = []

    def spy(self, values, noise):
        seen.append((values.copy(), noise))
        return seen[(len(seen) - 1) % 2][0]

    monkeypatch.setattr(SumMeter, "_noisy", spy)
    model.fit(features, targets)
    for row in range(40):
        model.fit(np.delete(features, row, axis=0), np.delete(targets, row))
    paid = float(model._price().amount) * (1 + 1e-12)
    (sums, leaf), (slope, last), *others = seen
    costs = []
    for (fewer, _), (other, _) in zip(others[::2], others[1::2], strict=True):
        moved = np.abs(sums - fewer).astype(float), np.abs(slope - other).astype(float)
        assert moved[0].sum() == 5 * UNIT
        if "epsilon" in price:
            costs.append(moved[0].sum() / float(leaf.scale) + moved[1].sum() / float(last.scale))
        else:
            costs.append((moved[0] ** 2).sum() / (2 * leaf.variance) + (moved[1] ** 2).sum() / (2 * last.variance))
    assert max(costs) <= paid
    assert max(costs) > 0.85 * paid  # it is not idle
    assert leaf.variance == leaf_noise(model._price(), 5).variance


def test_one_row_at_either_end_costs_as_much_as_a_row_of_a_class():
    price = read_price(1, None, None)
    noise = DPRandomForestRegressor(epsilon=1, bounds=(0, 1), target_bounds=(0, 1), n_estimators=9).expected_noise(3)
    assert noise["sum"] == pytest.approx(9 * np.sqrt(2) / 0.9, rel=1e-6)
    assert leaf_noise(price, 9).scale == 9 * UNIT * 10 / 9
