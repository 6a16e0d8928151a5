"""Generalised least squares on the tree against dense linear algebra."""

import numpy as np
import pytest

from chance import mean_fits
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.gls import gls
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_columns(
    {
        "state": list("aaaaabbbbc"),
        "county": ["a1", "a1", "a2", "a2", "a2", "b1", "b2", "b2", "b2", "c1"],
        "block": [f"{i}" for i in range(10)],
    }
)
CELLS = 3


def above(level):
    """The matrix that adds the leaves up to the regions of `level`."""
    return np.array(TREE.sums(np.eye(TREE.leaves))[level])


def dense(measured):
    """The textbook: estimate and covariance of all (leaf, cell) numbers from all that was measured."""
    rows, seen, precision = [], [], []
    for level, asked in enumerate(measured.levels):
        matrix = above(level)
        if asked.counts is not None:
            rows.append(np.kron(matrix, np.eye(CELLS)))
            seen.append(asked.counts.ravel())
            precision.append(np.full(asked.counts.size, 1 / asked.noise.variance))
        if asked.totals is not None:
            rows.append(np.kron(matrix, np.ones((1, CELLS))))
            seen.append(asked.totals)
            precision.append(np.full(len(asked.totals), 1 / asked.totals_noise.variance))
    design, weight = np.vstack(rows), np.concatenate(precision)
    covariance = np.linalg.inv(design.T @ (design * weight[:, None]))
    return covariance @ design.T @ (weight * np.concatenate(seen)), covariance


def measure(asked, random, truth=None):
    levels = []
    for level, (counts, totals) in enumerate(asked):
        size = TREE.sizes[level]
        exact = np.zeros((size, CELLS), np.int64) if truth is None else TREE.sums(truth)[level]
        levels.append(
            Level(
                None if counts is None else exact + random.integers(-50, 50, (size, CELLS)),
                counts,
                None if totals is None else exact.sum(axis=1) + random.integers(-50, 50, size),
                totals,
            )
        )
    return Measurement(TREE, tuple(levels))


ASKED = {
    "all levels": [(Laplace(5), None), (Laplace(3), None), (Laplace(8), None), (Laplace(2), None)],
    "leaves only": [(None, None)] * 3 + [(Laplace(2), None)],
    "a level left out": [(Laplace(5), None), (None, None), (Gaussian(4), None), (Laplace(2), None)],
    "totals too": [(Laplace(20), Laplace(1)), (Laplace(3), Laplace(4)), (None, None), (Laplace(2), Gaussian(2))],
    "totals instead": [(None, Laplace(1)), (None, Laplace(3)), (Laplace(3), None), (Laplace(2), None)],
}


@pytest.mark.parametrize("name", ASKED)
def test_it_is_what_dense_algebra_finds(name):
    measured = measure(ASKED[name], np.random.default_rng(1))
    found = gls(measured)
    leaves, covariance = dense(measured)
    for level in range(TREE.depth):
        to_cells = np.kron(above(level), np.eye(CELLS))
        to_totals = np.kron(above(level), np.ones((1, CELLS)))
        np.testing.assert_allclose(found.counts[level].ravel(), to_cells @ leaves, atol=1e-8)
        np.testing.assert_allclose(found.totals[level], to_totals @ leaves, atol=1e-8)
        spread = np.diag(to_cells @ covariance @ to_cells.T).reshape(-1, CELLS)
        np.testing.assert_allclose(np.repeat(found.variance[level][:, None], CELLS, 1), spread, rtol=1e-9)
        np.testing.assert_allclose(
            found.total_variance[level], np.diag(to_totals @ covariance @ to_totals.T), rtol=1e-9
        )
        # The covariance of two cells of a region that the docstring states.
        within = (found.variance[level] - found.total_variance[level] / CELLS**2) / (1 - 1 / CELLS)
        stated = found.total_variance[level] / CELLS**2 - within / CELLS
        block = (to_cells @ covariance @ to_cells.T)[np.arange(0, spread.size, CELLS), np.arange(1, spread.size, CELLS)]
        np.testing.assert_allclose(stated, block, atol=1e-9)


def test_wrong_weights_are_caught():
    """The twin of the test above: levels weighted as if their noise were all the same."""
    asked = ASKED["all levels"]
    measured = measure(asked, np.random.default_rng(2))
    leaves, _ = dense(measured)
    wrong = gls(Measurement(TREE, tuple(Level(level.counts, Laplace(1)) for level in measured.levels)))
    assert np.abs(wrong.counts[-1].ravel() - leaves).max() > 0.1


def test_estimates_add_up_and_so_do_totals():
    found = gls(measure(ASKED["totals too"], np.random.default_rng(3)))
    for level in range(TREE.depth - 1):
        np.testing.assert_allclose(TREE.add(level, found.counts[level + 1]), found.counts[level], atol=1e-8)
    for counts, totals in zip(found.counts, found.totals, strict=True):
        np.testing.assert_allclose(counts.sum(axis=1), totals, atol=1e-8)


def test_it_is_unbiased_and_its_variance_is_true():
    truth = np.random.default_rng(4).integers(0, 30, (TREE.leaves, CELLS))
    exact = TREE.sums(truth)
    errors = []
    laws = [(Laplace(20), Laplace(1)), (Laplace(3), Laplace(4)), (None, None), (Laplace(2), Gaussian(2))]
    for _ in range(400):
        levels = tuple(
            Level(
                None if noise is None else noise.release(level.ravel()).reshape(level.shape),
                noise,
                None if of_totals is None else of_totals.release(level.sum(axis=1)),
                of_totals,
            )
            for level, (noise, of_totals) in zip(exact, laws, strict=True)
        )
        found = gls(Measurement(TREE, levels))
        errors.append([found.counts[1][0, 0] - exact[1][0, 0], found.totals[2][1] - exact[2][1].sum()])
    for error, variance in zip(np.array(errors).T, (found.variance[1][0], found.total_variance[2][1]), strict=True):
        assert mean_fits(error, 0.0, variance)
        assert 0.45 < error.var() / variance < 2
