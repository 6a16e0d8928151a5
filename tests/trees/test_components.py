"""Margins as questions of their own: the best linear estimate, against dense linear algebra."""

import numpy as np
import pytest

from chance import mean_fits
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.components import Component, components, expanded, margin_of
from discreet.trees.covariance import Covariance, Weights
from discreet.trees.gls import gls, variances
from discreet.trees.intervals.typical import key_of, remeasure
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.record import measured_from, measured_to
from discreet.trees.topdown import topdown
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_columns({"state": list("aabbb"), "block": [f"{i}" for i in range(5)]})
SHAPE = (2, 3, 2)
CELLS = 12
ASKED = {
    "alike": [{(0,): Laplace(2), (0, 2): Laplace(4), (0, 1, 2): Laplace(9)}] * 3,
    "by level": [{(): Gaussian(1)}, {(1,): Laplace(3), (0, 1): Gaussian(2), (): Laplace(2)}, {(0, 1, 2): Laplace(5)}],
    "a level left out": [{(0, 1, 2): Laplace(5)}, {}, {(2,): Laplace(1), (1, 2): Laplace(3), (0, 1, 2): Gaussian(4)}],
}


def measured_of(asked, exact, random):
    levels = []
    for counts, queries in zip(TREE.sums(exact), asked, strict=True):
        level, margins = {}, []
        for axes, noise in queries.items():
            true = margin_of(counts, SHAPE, axes)
            values = true + random.integers(-9, 10, true.shape)
            if axes == ():
                level |= {"totals": values[:, 0], "totals_noise": noise}
            elif len(axes) == len(SHAPE):
                level |= {"counts": values, "noise": noise}
            else:
                margins.append(Margin(axes, values, noise))
        levels.append(Level(**level, margins=tuple(margins)))
    return Measurement(TREE, tuple(levels), shape=SHAPE)


def margin_matrix(axes):
    return margin_of(np.eye(CELLS), SHAPE, axes).T


def dense(measured):
    """The textbook: estimate and covariance of all (leaf, cell) numbers."""
    rows, seen, weight = [], [], []
    for level, asked in enumerate(measured.levels):
        up = np.array(TREE.sums(np.eye(TREE.leaves))[level])
        for one in asked.queries(measured.axes):
            rows.append(np.kron(up, margin_matrix(one.axes)))
            seen.append(one.values.ravel())
            weight.append(np.full(one.values.size, 1 / one.noise.variance))
    design, precision = np.vstack(rows), np.concatenate(weight)
    covariance = np.linalg.inv(design.T @ (design * precision[:, None]))
    return covariance @ design.T @ (precision * np.concatenate(seen)), covariance


@pytest.fixture(params=ASKED)
def measured(request):
    random = np.random.default_rng(3)
    return measured_of(ASKED[request.param], random.integers(0, 30, (TREE.leaves, CELLS)), random)


def test_it_is_what_dense_algebra_finds(measured):
    found, (leaves, covariance) = gls(measured), dense(measured)
    cells, totals = variances(measured)
    for level in range(TREE.depth):
        up = np.array(TREE.sums(np.eye(TREE.leaves))[level])
        for axes in ((), (0,), (1,), (0, 2), (0, 1, 2)):
            to = np.kron(up, margin_matrix(axes))
            values, variance = found.margin(level, axes, SHAPE)
            np.testing.assert_allclose(values.ravel(), to @ leaves, atol=1e-8)
            spread = np.diag(to @ covariance @ to.T).reshape(values.shape)
            np.testing.assert_allclose(np.broadcast_to(variance[:, None], spread.shape), spread, rtol=1e-9)
        np.testing.assert_allclose(found.variance[level], variance, rtol=1e-9)
        np.testing.assert_allclose(cells[level], found.variance[level], rtol=1e-9)
        np.testing.assert_allclose(totals[level], found.total_variance[level], rtol=1e-9)
        np.testing.assert_allclose(found.totals[level], np.kron(up, np.ones((1, CELLS))) @ leaves, atol=1e-8)


def test_any_sum_has_the_variance_that_dense_algebra_finds(measured):
    random = np.random.default_rng(4)
    terms = [(random.normal(size=TREE.leaves), random.normal(size=CELLS)) for _ in range(3)]
    one, two = Weights(tuple(terms[:2])), Weights(tuple(terms[1:]))
    _, covariance = dense(measured)
    expected = one.table().ravel() @ covariance @ two.table().ravel()
    assert Covariance(measured).between(one, two) == pytest.approx(expected, rel=1e-8)


def test_components_are_at_right_angles_and_keep_what_is_theirs():
    table = np.random.default_rng(5).normal(size=(1, CELLS))
    by_sex, by_both = (Component(SHAPE, (frozenset(columns),), ()) for columns in ((0,), (0, 1)))
    assert (by_sex.dimension, by_both.dimension, by_both.within((0,))) == (1, 2, 0)
    assert by_sex.project(table) @ by_both.project(table).T == pytest.approx(0)
    np.testing.assert_allclose(by_sex.project(by_sex.project(table)), by_sex.project(table))
    assert margin_of(expanded(np.array([[3, 4]]), (0,), SHAPE), SHAPE, (0,)).tolist() == [[18, 24]]


def test_without_margins_there_is_nothing_to_take_apart():
    assert components(Measurement(TREE, (Level(), Level(), Level(np.zeros((5, 12), np.int64), Laplace(1))))) == []


def test_records_hold_margins(measured):
    again = measured_from(measured_to(measured))
    assert again.shape == SHAPE
    assert key_of(again, "x") == key_of(measured, "x")
    np.testing.assert_allclose(gls(again).counts[-1], gls(measured).counts[-1])


def test_margins_are_measured_again_with_the_noise_they_have():
    asked = [{}, {}, {(0,): Gaussian(3), (0, 1, 2): Laplace(5)}]
    exact = np.zeros((TREE.leaves, CELLS), np.int64)
    measured, bits = measured_of(asked, exact, np.random.default_rng(6)), _bits()
    drawn = np.concatenate([remeasure(measured, exact, bits).levels[-1].margins[0].values for _ in range(300)])
    assert mean_fits(drawn.ravel() ** 2, 9.0, 2 * 9.0**2)


def test_whole_numbers_heed_margins_where_cells_may_not_be_negative():
    """A margin known exactly is kept, up to rounding, though cells that noise put below zero are moved to it."""
    random = np.random.default_rng(7)
    exact = np.zeros((TREE.leaves, CELLS), np.int64)
    exact[:, 0], exact[:, 11] = 40, 3
    margin = Margin((0,), margin_of(exact, SHAPE, (0,)), Gaussian("0.05"))
    noisy = exact + random.integers(-20, 21, exact.shape)
    root = Level(exact.sum(axis=0)[None, :], Gaussian("0.05"))
    with_margin = Measurement(TREE, (root, Level(), Level(noisy, Laplace(12), margins=(margin,))), shape=SHAPE)
    without = Measurement(TREE, (root, Level(), Level(noisy, Laplace(12))))
    errors = [
        np.abs(margin_of(topdown(one).counts[-1], SHAPE, (0,)) - margin.values).max() for one in (with_margin, without)
    ]
    assert errors[0] <= 3 < errors[1]


def _bits():
    from discreet.noise.replay import Replay

    return Replay(b"margins")
