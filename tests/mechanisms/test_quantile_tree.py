"""Quantiles by a tree: the moves of every unit, the best linear estimate, intervals that hold."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from chance import at_most, fits, gaussian_pmf, laplace_pmf, mean_fits
from discreet.accounting import pure, zcdp
from discreet.core.loss import GaussianNoise, LaplaceNoise, Repeated
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace, QuantileTree, quantile_tree
from discreet.mechanisms.quantile_tree import rising
from mechanisms.test_quantile_exponential import SHAPES, misses, quantile


def design(tree):
    """One row for each node, one column for each leaf, from the definition."""
    size = tree.children**tree.levels
    rows = []
    for level in range(tree.levels):
        width = tree.children**level
        rows += [[float(start <= leaf < start + width) for leaf in range(size)] for start in range(0, size, width)]
    return np.array(rows)


@pytest.mark.parametrize(("bins", "branching", "rows"), [(9, 3, 1), (8, 2, 2), (10, 4, 3), (5, 16, 2)])
def test_the_price_is_that_of_the_worst_unit(bins, branching, rows):
    laplace = QuantileTree(bins, epsilon=1, branching=branching, rows=rows)
    gaussian = QuantileTree(bins, rho=1, branching=branching, rows=rows)
    matrix = design(laplace)
    l1, l2 = 0.0, 0.0
    for where in itertools.combinations_with_replacement(range(bins), rows):
        moved = matrix @ np.bincount(where, minlength=matrix.shape[1])
        l1, l2 = max(l1, moved.sum()), max(l2, (moved**2).sum())
    assert l1 / float(laplace.noise.scale) == pytest.approx(1)
    assert l2 / (2 * float(gaussian.noise.sigma) ** 2) == pytest.approx(1)
    assert pure(laplace.loss()).epsilon == 1
    assert zcdp(gaussian.loss()).rho <= 1
    if laplace.levels > 1:
        assert l1 / float(Laplace.for_epsilon(1, rows).scale) > 1.9  # a price for one level only is caught


def test_loss():
    tree = QuantileTree(1000, epsilon=1, rows=2)
    assert (tree.levels, tree.children) == (3, 10)
    assert tree.loss() == Repeated(LaplaceNoise(6, 2), 3)
    assert QuantileTree(10, rho="1/2").loss() == GaussianNoise(1, 1)
    assert (QuantileTree(2**20, epsilon=1).levels, QuantileTree(2**20, epsilon=1).children) == (5, 16)
    assert (QuantileTree(1, epsilon=1).levels, QuantileTree(1, epsilon=1).children) == (1, 2)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/8"}])
def test_counts_have_the_noise_and_half_of_it_is_caught(price):
    bins = 4000  # one level: every leaf is a count with noise of its own
    tree = QuantileTree(bins, **price, branching=bins)
    counts = np.arange(bins) % 7
    noise = np.rint(np.diff(tree.measure(counts).ranks, prepend=0)) - counts
    pmf = laplace_pmf(tree.noise.scale) if "epsilon" in price else gaussian_pmf(tree.noise.sigma)
    assert fits(noise, pmf)
    half = (
        QuantileTree(bins, epsilon=2, branching=bins)
        if "epsilon" in price
        else QuantileTree(bins, rho="1/2", branching=bins)
    )
    assert not fits(np.rint(np.diff(half.measure(counts).ranks, prepend=0)) - counts, pmf)


@pytest.mark.parametrize(("bins", "branching"), [(9, 3), (16, 2), (14, 4), (6, 16)])
@pytest.mark.parametrize("q", [0.0, 0.3, 1.0])
def test_energy_is_that_of_the_best_linear_estimate(bins, branching, q):
    tree = QuantileTree(bins, epsilon=1, branching=branching)
    matrix = design(tree)
    covariance = np.linalg.inv(matrix.T @ matrix)
    for j in range(bins):
        asked = (np.arange(matrix.shape[1]) <= j) - q
        assert tree.energy(q)[j] == pytest.approx(asked @ covariance @ asked, rel=1e-9)


def test_measure_is_the_least_squares_solution(monkeypatch):
    tree, seen = QuantileTree(14, epsilon=1, branching=4), []

    class Recorded(Laplace):
        __slots__ = ()

        def release(self, values, *, bits=None):
            seen.append(super().release(values, bits=bits))
            return seen[-1]

    monkeypatch.setattr(QuantileTree, "noise", property(lambda _: Recorded(4)))
    curve = tree.measure(np.arange(14))
    solved = np.linalg.lstsq(design(tree), np.concatenate(seen).astype(float), rcond=None)[0]
    np.testing.assert_allclose(curve.ranks, np.cumsum(solved)[:14], atol=1e-8)
    assert curve.total == pytest.approx(solved.sum())


def test_no_weight_is_above_the_largest():
    for bins, branching in ((27, 3), (16, 2), (60, 4)):
        tree = QuantileTree(bins, epsilon=1, branching=branching)
        matrix = design(tree)
        estimate = np.linalg.inv(matrix.T @ matrix) @ matrix.T
        for q in (0.0, 0.5, 0.99):
            asked = np.tril(np.ones((len(estimate), len(estimate)))) - q
            assert np.abs(asked @ estimate).max() <= tree._largest + 1e-12


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/200"}])
def test_ranks_are_unbiased_with_the_stated_variance(price):
    tree, trials = QuantileTree(30, **price, branching=3), 3000
    counts = np.arange(30)
    curves = [tree.measure(counts) for _ in range(trials)]
    for j, q in ((3, 0.5), (17, 0.2), (29, 0.9)):
        ahead = np.array([c.ranks[j] - q * c.total for c in curves]) - (np.cumsum(counts)[j] - q * counts.sum())
        variance = tree.energy(q)[j] * tree.noise.variance
        assert mean_fits(ahead, 0, variance)
        assert mean_fits(ahead**2, variance, 6 * variance**2)
        assert not mean_fits((1.3 * ahead) ** 2, variance, 6 * variance**2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/100"}])
def test_intervals_and_errors_hold(shape, price):
    counts, trials = SHAPES[shape], 250
    tree = QuantileTree(200, **price, branching=6)
    curves = [tree.measure(counts) for _ in range(trials)]
    for q in (Fraction(1, 2), Fraction(1, 20)):
        answers = [curve.quantiles(q, 0.8)[0] for curve in curves]
        true = quantile(counts, q)
        assert at_most(sum(not a.lower <= true <= a.upper for a in answers), trials, 0.2)
        assert all(0 <= a.lower <= a.at <= a.upper <= 199 for a in answers)
        error = tree.error(0.8, q=q)
        assert at_most(sum(misses(counts, q)[a.at] > error for a in answers), trials, 0.2)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/100"}])
def test_intervals_of_too_little_noise_are_caught(monkeypatch, price):
    counts, trials = np.full(200, 4), 500
    tree = QuantileTree(200, **price, branching=6)
    curves = [tree.measure(counts) for _ in range(trials)]
    noise = tree.noise
    less = Laplace(noise.scale / 8) if isinstance(noise, Laplace) else Gaussian(noise.sigma / 8)
    monkeypatch.setattr(QuantileTree, "noise", property(lambda _: less))
    answers = [curve.quantiles("1/2", 0.8)[0] for curve in curves]
    assert not at_most(sum(not a.lower <= 99 <= a.upper for a in answers), trials, 0.2)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/10"}])
def test_intervals_are_calibrated_and_narrower_than_those_guaranteed(price):
    counts, trials, true = np.full(1000, 2), 400, 499
    tree = QuantileTree(1000, **price)
    curves = [tree.measure(counts) for _ in range(trials)]
    usual = [curve.quantiles("1/2")[0] for curve in curves]
    sure = [curve.quantiles("1/2", guaranteed=True)[0] for curve in curves]
    assert at_most(sum(not a.lower <= true <= a.upper for a in usual), trials, 0.055)
    narrow = [curve.quantiles("1/2", 0.7)[0] for curve in curves]
    assert not at_most(sum(not a.lower <= true <= a.upper for a in narrow), trials, 0.055)
    width = np.mean([a.upper - a.lower for a in usual])
    assert width * 1.25 < np.mean([a.upper - a.lower for a in sure])  # one that is half as wide again is noticed
    assert all(g.lower <= a.lower <= a.at <= a.upper <= g.upper for a, g in zip(usual, sure, strict=True))
    beyond = curves[0].quantiles("1/2", 0.999)[0]
    assert beyond == curves[0].quantiles("1/2", 0.999, guaranteed=True)[0]


def test_pooled_numbers_never_fall_and_are_nearest():
    random = np.random.default_rng(4)
    for size in (1, 2, 7, 40):
        values = random.normal(0, 3, size)
        found = rising(values)
        assert (np.diff(found) >= -1e-12).all()
        np.testing.assert_allclose(found, isotonic_regression(values).x)


def test_intervals_narrow_with_the_price_and_the_rows():
    def width(rows, epsilon):
        answers = [QuantileTree(1000, epsilon=epsilon).release(np.full(1000, rows), 0.5)[0] for _ in range(20)]
        return np.mean([a.upper - a.lower for a in answers])

    assert width(1, 1) > 3 * width(10, 1)
    assert width(1, 1) > 3 * width(1, 10)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "1/8"}])
def test_no_rows_are_an_honest_interval(price):
    trials = 300
    tree = QuantileTree(100, **price)
    answers = [tree.release(np.zeros(100, dtype=int), "1/2", confidence=0.9)[0] for _ in range(trials)]
    assert at_most(sum((a.lower, a.upper) != (0, 99) for a in answers), trials, 0.05)
    assert len({a.at for a in answers}) > 10  # no bin is a default


def test_constants_and_ties_are_found():
    for shape in ("constant", "edge"):
        answer = QuantileTree(200, epsilon=3).release(SHAPES[shape], [0.2, 0.5, 0.8])
        assert {a.at for a in answer} == {int(np.argmax(SHAPES[shape]))}


def test_error_is_for_the_noisiest_unless_told():
    tree = QuantileTree(1000, epsilon=1)
    worst = tree.error(0.95)
    assert all(tree.error(0.95, q=q) <= worst for q in (0.01, 0.5, 0.99))
    assert tree.error(0.95, q=0.5) < tree.error(0.95, q=0.01)
    assert QuantileTree(1000, epsilon=2).error(0.95) < 0.6 * worst


def test_a_million_bins():
    counts = np.zeros(2**20, dtype=np.int64)
    counts[::7] = 3
    tree = QuantileTree(2**20, epsilon=1)
    answer = tree.release(counts, [0.01, 0.5, 0.9], confidence=0.9999999999999)
    assert all(a.lower <= quantile(counts, a.q) <= a.upper for a in answer)
    assert all(a.upper - a.lower < 8000 for a in answer)


def test_shares_are_inverse_variances():
    for width, levels in ((2, 6), (16, 5)):
        variance = Fraction(1)
        for share in quantile_tree._shares(width, levels)[1:]:
            variance = 1 / (1 + 1 / (width * variance))
            assert share == pytest.approx(float(variance))


@pytest.mark.parametrize("price", [{}, {"epsilon": 1, "rho": 1}, {"rho": 0}, {"epsilon": 1, "branching": 1}])
def test_parameters_are_checked(price):
    with pytest.raises(InputError):
        QuantileTree(10, **price)
    with pytest.raises(InputError, match="bins"):
        QuantileTree(2**25, epsilon=1)
    with pytest.raises(InputError, match="confidence"):
        QuantileTree(4, epsilon=1).release([1, 2, 3, 4], 0.5, confidence=1)
    with pytest.raises(InputError, match="counts"):
        QuantileTree(4, epsilon=1).release([1, 2, 3], 0.5)
