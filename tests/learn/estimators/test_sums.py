"""What estimators ask of the meter moves no farther than they say, whichever row is added or removed."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from fractions import Fraction

import numpy as np
from estimator_rows import farthest

from chance import fits, gaussian_pmf, laplace_pmf
from discreet.errors import InputError
from discreet.learn import estimators
from discreet.learn.estimators import (
    additive_model,
    boosted_trees,
    forest_regressor,
    kmeans,
    linear_regression,
    naive_bayes,
    pca,
    random_forest,
)
from discreet.learn.estimators.forest_regressor import leaf_parts, slope_sums
from discreet.learn.estimators.plan import read_price
from discreet.learn.estimators.random_forest import count_leaves
from discreet.learn.estimators.sums import FINE, RADIUS, SumMeter, fine, moment_noise, room, second_moments, whole_rows

BOX = ([-1, 0, -5], [1, 10, 5])
ESTIMATORS = {
    "regression": estimators.DPLinearRegression(rho=1, bounds=BOX, target_bounds=(0, 2)),
    "regression, cut": estimators.DPLinearRegression(rho=1, bounds=BOX, target_bounds=(0, 2), norm=0.7, origin=0),
    "pca": estimators.DPPCA(rho=1, bounds=BOX),
    "pca, cut": estimators.DPPCA(rho=1, bounds=BOX, norm=2.0, centered=False),
    "bayes": estimators.DPNaiveBayes(rho=1, bounds=BOX, classes=2, malformed="absorb"),
    "bayes, codes": estimators.DPNaiveBayes(rho=1, bounds=BOX, classes=2, categories={1: 4}, malformed="absorb"),
    "kmeans": estimators.DPKMeans(3, rho=1, bounds=BOX),
    "trees": estimators.DPBoostedTrees(rho=1, bounds=BOX, classes=2, rounds=2, leaves=3, malformed="absorb"),
    "trees, codes": estimators.DPBoostedTrees(
        rho=1, bounds=BOX, classes=3, categories={1: 4}, rounds=2, malformed="absorb"
    ),
    "additive": estimators.DPAdditiveModel(rho=1, bounds=BOX, classes=2, rounds=2, malformed="absorb"),
    "additive, codes": estimators.DPAdditiveModel(
        rho=1, bounds=BOX, classes=3, categories={1: 4}, rounds=2, malformed="absorb"
    ),
    "additive regression": estimators.DPAdditiveRegression(rho=1, bounds=BOX, target_bounds=(-1, 2), rounds=2),
    "forest": estimators.DPRandomForest(rho=1, bounds=BOX, classes=2, malformed="absorb"),
    "forest, codes": estimators.DPRandomForest(rho=1, bounds=BOX, classes=3, categories={1: 4}, malformed="absorb"),
    "forest regression": estimators.DPRandomForestRegressor(
        rho=1, bounds=BOX, target_bounds=(-1, 2), malformed="absorb"
    ),
}


def table(seed, count=40):
    """Rows inside, on and far outside the bounds, some of them corners."""
    chance = np.random.default_rng(seed)
    features = chance.normal(size=(count, 3)) * [1, 8, 4]
    corners = np.array([[(-1) ** i, 10 * (j % 2), 5 * (-1) ** j] for i in range(2) for j in range(4)], dtype=float)
    features[: len(corners)] = corners
    features[8] = 1e300
    return features, chance.integers(0, 2, size=count)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_row_moves_the_sums_farther_than_declared(name):
    worst = np.zeros(2)
    for removed in range(12):
        features, targets = table(removed)
        targets = targets if "pca" not in name and "kmeans" not in name else None
        worst = np.maximum(worst, farthest(ESTIMATORS[name], features, targets, removed))
    assert (worst <= 1).all()
    assert worst[1] > 0.4  # the bound is near what is reached: it is not idle


def _too_long(steps, norm, radius):
    return np.rint(steps * radius / norm)


@pytest.mark.parametrize(
    ("name", "module", "attribute", "broken"),
    [
        ("regression, cut", linear_regression, "whole_rows", _too_long),
        ("pca, cut", pca, "whole_rows", _too_long),
        ("kmeans", kmeans, "whole_rows", lambda steps, norm, radius: np.rint(4 * steps * radius / norm)),
        ("trees", boosted_trees, "gradients", lambda scores, targets: np.full_like(scores, 2**12 + 1)),
        ("additive", additive_model, "gradients", lambda scores, targets: np.full_like(scores, 2**12 + 1)),
        ("additive regression", additive_model, "residuals", lambda scores, targets: 8 * (scores - targets[:, None])),
        ("forest", random_forest, "count_leaves", lambda *given: 2 * count_leaves(*given)),
        ("forest regression", forest_regressor, "leaf_parts", lambda steps: 2 * leaf_parts(steps)),
        ("forest regression", forest_regressor, "slope_sums", lambda *given: 40 * slope_sums(*given)),
        ("bayes", naive_bayes, "norms", lambda columns: (2**12, 2**24)),
    ],
)
def test_rows_that_are_not_cut_are_found(monkeypatch, name, module, attribute, broken):
    monkeypatch.setattr(module, attribute, broken)
    features, targets = table(0)
    targets = targets if "pca" not in name and "kmeans" not in name else None
    worst = np.max([farthest(ESTIMATORS[name], features, targets, removed) for removed in range(12)], axis=0)
    assert worst[1] > 1


def test_a_row_in_steps_follows_from_that_row_alone():
    chance = np.random.default_rng(1)
    rows = fine(chance.uniform(-1.2, 1.2, size=(501, 37)))
    whole = whole_rows(rows, 2.0 * FINE, 1000)
    alone = np.concatenate([whole_rows(row[None], 2.0 * FINE, 1000) for row in rows])
    assert (whole == alone).all()
    assert (whole[::-1] == whole_rows(rows[::-1], 2.0 * FINE, 1000)).all()
    lengths = (whole**2).sum(axis=1)
    assert lengths.max() <= 1000**2 < 1.01 * lengths.max()


@pytest.mark.parametrize("width", [1, 2, 300])
def test_rows_of_full_length_stay_within_it(width):
    chance = np.random.default_rng(2)
    rows = chance.normal(size=(2000, width))
    rows = fine(rows / np.abs(rows).max())
    whole = whole_rows(rows, 1.0, 2**14)  # every row is longer than one fine step
    assert ((whole**2).sum(axis=1) <= 2**28).all()
    straight = np.einsum("ij,ij->i", whole, rows) / np.sqrt((rows**2).sum(axis=1)) / 2**14
    assert straight.min() > 0.99 or width == 1


def test_products_are_exact():
    chance = np.random.default_rng(3)
    rows = chance.integers(-(2**14), 2**14, size=(20_000, 3)).astype(float)
    exact = [[sum(int(a) * int(b) for a, b in zip(x, y, strict=True)) for y in rows.T] for x in rows.T]
    parts = (rows[start : start + 8192] for start in range(0, len(rows), 8192))
    assert second_moments(parts, 3, len(rows)).tolist() == exact


def test_more_rows_than_fit_64_bits_are_refused():
    room(2**34, 2**28)
    with pytest.raises(InputError, match="at most"):
        room(2**34 + 1, 2**28)


@pytest.mark.parametrize("right", [True, False])
def test_the_meter_adds_the_noise_it_was_paid_for(right):
    """Twice the share is paid where it is wrong: the law must be told apart."""
    share = Fraction(1, 4) * (1 if right else 2)
    nothing = np.zeros(20_000, dtype=np.int64)
    pure = SumMeter(read_price(1, None, None)).sums(nothing, share=share, l1=50, l2_squared=1)
    assert fits(pure, laplace_pmf(200)) == right
    spread = SumMeter(read_price(None, None, 2)).sums(nothing, share=share, l1=1, l2_squared=900)
    assert fits(spread, gaussian_pmf(30)) == right


@pytest.mark.parametrize("right", [True, False])
def test_noise_on_second_moments(right):
    price, size = read_price(None, None, "1/2"), 150
    noisy = SumMeter(price).moments(
        np.zeros((size, size), dtype=np.int64), share=Fraction(1, 1 if right else 2), squared=40
    )
    assert (noisy == noisy.T).all()
    on, off = moment_noise(price, Fraction(1), size, 40)
    assert on.sigma == 40
    assert 0 <= off.sigma**2 - 800 < 1e-6
    assert fits(noisy[np.triu_indices(size, 1)], gaussian_pmf(off.sigma)) == right
    many = np.concatenate(
        [
            np.diagonal(SumMeter(price).moments(np.zeros((size, size), dtype=np.int64), share=Fraction(1), squared=40))
            for _ in range(20)
        ]
    )
    assert fits(many, gaussian_pmf(on.sigma))
    assert not fits(many, gaussian_pmf(off.sigma))


def test_the_meter_refuses_more_than_its_price():
    meter = SumMeter(read_price(1, None, None))
    meter.sums(np.zeros(1, dtype=np.int64), share=Fraction(2, 3), l1=1, l2_squared=1)
    with pytest.raises(InputError, match="left"):
        meter.sums(np.zeros(1, dtype=np.int64), share=Fraction(1, 2), l1=1, l2_squared=1)


_INNER = 16  # the variance that rounding has in the proof


def _length(row, on, off):
    """How far a row moves second moments, squared, in units of real noise narrower by what rounding takes."""
    squares = [int(value) ** 2 for value in row]
    total = sum(Fraction(one * one) for one in squares) / (on**2 - _INNER)
    pairs = (sum(squares) ** 2 - sum(one * one for one in squares)) // 2
    return total + Fraction(pairs) / (off**2 - _INNER)


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(10**6)])
def test_second_moments_cost_no_more_than_real_noise_a_little_narrower(rho):
    """docs/proofs/estimators.md, "Second moments beside training": what composes them with a run of descent."""
    on, off = (noise.sigma for noise in moment_noise(read_price(None, None, rho), Fraction(1), 4, RADIUS**2))
    chance = np.random.default_rng(0)
    drawn = whole_rows(np.rint(chance.normal(size=(50, 4)) * FINE), FINE / 10, RADIUS)
    even, single = [RADIUS // 2] * 4, [RADIUS, 0, 0, 0]
    most = 2 * rho / (1 - Fraction(1, 10**9)) ** 2
    assert all(_length(row, on, off) <= most for row in [*drawn.tolist(), even, single])
    assert _length(single, on, off) > most * (1 - Fraction(1, 10**5))  # it is not idle
    assert _length(even, on, off * Fraction(99, 100)) > most  # less noise off the diagonal is caught


def test_the_margin_is_needed_where_noise_is_least():
    on, off = (noise.sigma for noise in moment_noise(read_price(None, None, 10**6), Fraction(1), 4, RADIUS**2))
    assert _length([RADIUS // 2] * 4, on, off) > 2 * 10**6


@pytest.mark.parametrize("inner", [0.4, 0.5, 0.7])
def test_real_noise_rounded_at_random_is_the_discrete_gaussian_as_nearly_as_proved(inner):
    def apart(inner, outer=1.3):
        real = np.linspace(-30, 30, 60_001)
        whole = np.arange(-40, 41)[:, None]
        kernel = np.exp(-((whole - real) ** 2) / (2 * inner**2))
        law = (np.exp(-(real**2) / (2 * outer**2)) * kernel / kernel.sum(axis=0)).sum(axis=1)
        ideal = np.exp(-(whole[:, 0] ** 2) / (2 * (inner**2 + outer**2)))
        near = np.abs(whole[:, 0]) <= 6
        ratio = (law / law.sum() / (ideal / ideal.sum()))[near]
        return max(ratio.max(), 1 / ratio.min())

    uneven = 2 * sum(np.exp(-2 * np.pi**2 * inner**2 * place**2) for place in (1, 2, 3))
    assert 1 < apart(inner) <= (1 + uneven) / (1 - uneven)
    assert apart(inner / 2) > (1 + uneven) / (1 - uneven)
