"""The nearest non-negative point with given sums: against another solver, and where sums cannot be met."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

from discreet.flows.mobility.projection import nearest


def case(seed, rows=4, columns=5):
    """A table with row and column sums, noisy values of it and how far each may be off."""
    random = np.random.default_rng(seed)
    truth = random.poisson(random.choice([0.2, 2, 40], rows * columns)).astype(float)
    down = np.kron(np.eye(rows), np.ones(columns))
    across = np.kron(np.ones(rows), np.eye(columns))
    sums = np.vstack([down, across])
    return sums, sums @ truth, truth + random.laplace(0, 8, truth.shape), random.uniform(0.5, 20, truth.shape)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_a_general_solver_finds(seed):
    sums, values, noisy, spread = case(seed)
    found = nearest(noisy, spread, sparse.csr_array(sums), values)
    np.testing.assert_allclose(sums @ found, values, atol=1e-4)
    assert found.min() >= 0
    heavy = 1e5  # the other solver has no equations: they are squares that weigh much
    matrix = np.vstack([np.diag(1 / np.sqrt(spread)), heavy * sums])
    other = lsq_linear(matrix, np.concatenate([noisy / np.sqrt(spread), heavy * values]), (0, np.inf), tol=1e-14).x
    np.testing.assert_allclose(found, other, atol=1e-2)


def test_a_point_that_meets_its_sums_stays_where_it_is():
    sums, values, _, spread = case(1)
    truth = nearest(np.zeros(sums.shape[1]), spread, sparse.csr_array(sums), values)
    np.testing.assert_allclose(nearest(truth, spread, sparse.csr_array(sums), values), truth, atol=1e-6)


def test_many_sums_are_solved_without_a_full_matrix(monkeypatch):
    from discreet.flows.mobility import projection

    sums, values, noisy, spread = case(2)
    full = nearest(noisy, spread, sparse.csr_array(sums), values)
    monkeypatch.setattr(projection, "_DENSE", 1)
    np.testing.assert_allclose(nearest(noisy, spread, sparse.csr_array(sums), values), full, atol=1e-4)


def test_sums_that_nothing_meets_leave_a_point_without_negative_numbers():
    sums = sparse.csr_array([[1.0, 1.0], [1.0, 1.0]])
    found = nearest(np.array([1.0, 2.0]), np.ones(2), sums, np.array([3.0, 5.0]))
    assert found.min() >= 0
    assert np.isfinite(found).all()
