"""Totals from cells and direct answers: nearer than sums, as sure as they say, and as the law of the noise has it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.trees.bayes.totals import laplace_site, projected_totals


def world(stray, size=4000):
    """Cells that follow shares (up to a factor that strays), noisy ones, and noisy direct totals."""
    random = np.random.default_rng(5)
    share = random.dirichlet([8, 4, 2, 0.5, 0.2, 0.1], size)
    even = random.gamma(2, 30, size)
    cells = share * (even * random.gamma(2, 0.5, size))[:, None] * random.gamma(1 / stray, stray, (size, 6))
    noisy, direct = cells + random.laplace(0, 20, cells.shape), cells.sum(axis=1) + random.laplace(0, 30, size)
    found = projected_totals(noisy, np.full(size, 800.0), direct, np.full(size, 1800.0), share, even)
    return cells.sum(axis=1), noisy.sum(axis=1), *found


def test_totals_by_shares_are_nearer_than_sums_and_claim_no_more_than_holds():
    true, sums, totals, variance = world(0.05)
    error = np.sqrt(np.mean((totals - true) ** 2))
    assert error < 0.8 * np.sqrt(np.mean((sums - true) ** 2))
    assert 0.9 * error**2 < variance.mean()  # half of what cells say is kept for the cells themselves
    assert abs(np.mean(totals - true)) < 4 * error / np.sqrt(len(true))


def test_where_cells_stray_far_from_their_shares_that_is_learned():
    true, sums, totals, variance = world(4.0)
    assert np.mean((totals - true) ** 2) < 1.1 * variance.mean()
    assert np.mean(totals == sums) > np.mean(world(0.05)[1] == world(0.05)[2])


def test_totals_that_were_not_asked_are_left_out():
    size = 500
    cells = np.tile([100.0, 50.0], (size, 1))
    share, even = np.tile([2 / 3, 1 / 3], (size, 1)), np.full(size, 150.0)
    unasked = projected_totals(cells, np.full(size, 9.0), np.zeros(size), np.full(size, 1e18), share, even)
    assert unasked[0].round(6).tolist() == [150.0] * size


@pytest.mark.parametrize("answer", [-300.0, -20.0, 3.0, 40.0, 500.0])
@pytest.mark.parametrize("scale", [0.5, 10.0, 300.0])
@pytest.mark.parametrize("variance", [1.0, 400.0])
def test_a_belief_and_the_site_have_the_moments_of_belief_times_answer(answer, scale, variance):
    mean = 10.0
    target, doubt = laplace_site(np.array([answer]), scale, np.array([mean]), np.array([variance]))
    precision = 1 / variance + 1 / doubt[0]
    found = (mean / variance + target[0] / doubt[0]) / precision, 1 / precision
    at = np.linspace(-600, 600, 2_400_001)
    logs = -np.abs(answer - at) / scale - (at - mean) ** 2 / (2 * variance)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    exact = (weights * at).sum()
    spread = (weights * (at - exact) ** 2).sum()
    assert found[0] == pytest.approx(exact, abs=0.01 * np.sqrt(spread) + 1e-3)
    assert found[1] == pytest.approx(spread, rel=0.01)


def test_answers_beyond_all_reason_break_nothing():
    answer, mean = np.array([1e9, -1e9, 0.0, 1e9]), np.array([0.0, 1e9, 1e-9, -1e9])
    for scale in (1e-3, 1.0, 1e6):
        target, doubt = laplace_site(answer, scale, mean, np.array([1e-3, 1e6, 1e12, 5.0]))
        assert np.isfinite([target, doubt]).all()
        assert (doubt > 0).all()
