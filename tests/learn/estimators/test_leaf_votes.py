"""Leaves are drawn to the nodes above them by what noise explains, and not beyond."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

import numpy as np

from discreet.learn.estimators.leaf_votes import class_shares, leaf_shares

CHANCE = np.random.default_rng(0)


def grown(depth=4, rows=40_000.0):
    """Counts in the leaves of a tree whose children are like their parents, more or less."""
    counts = np.array([[0.5, 0.3, 0.2]]) * rows
    for _ in range(depth):
        left = CHANCE.beta(3, 3, size=(len(counts), 1)) * CHANCE.uniform(0.6, 1.4, size=counts.shape)
        left = np.clip(left, 0.05, 0.95)
        counts = np.stack([counts * left, counts * (1 - left)], axis=1).reshape(-1, 3)
    return np.rint(counts)[None]


COUNTS = grown()


def test_without_noise_shares_are_those_of_the_counts():
    overall, shares = leaf_shares(COUNTS, 0.0)
    assert np.allclose(overall, COUNTS[0].sum(axis=0) / COUNTS.sum(), atol=1e-9)
    full = COUNTS[0].sum(axis=1) > 200
    assert np.allclose(shares[0][full], (COUNTS[0] / COUNTS[0].sum(axis=1, keepdims=True))[full], atol=0.06)


def test_under_noise_that_drowns_all_a_leaf_says_what_all_rows_say():
    overall, shares = leaf_shares(COUNTS, 1e12)
    assert np.allclose(shares, overall, atol=1e-3)


@pytest.mark.parametrize("scale", [50.0, 300.0, 1000.0])
def test_drawing_to_parents_is_nearer_the_truth_than_the_noisy_counts(scale):
    truth = COUNTS[0] / COUNTS[0].sum(axis=1, keepdims=True)
    ours, plain = [], []
    for _ in range(30):
        noisy = COUNTS + CHANCE.laplace(scale=scale, size=COUNTS.shape)
        _, shares = leaf_shares(noisy, 2 * scale**2)
        cut = np.maximum(noisy[0], 1.0)
        ours.append(((shares[0] - truth) ** 2).mean())
        plain.append(((cut / cut.sum(axis=1, keepdims=True) - truth) ** 2).mean())
    assert np.mean(ours) < np.mean(plain)


def test_shares_are_above_zero_and_add_up_whatever_the_noise_is():
    for variance in (0.0, 1.0, 1e6):
        noisy = CHANCE.normal(size=(5, 8, 4)) * 1e3
        rows, overall = class_shares(noisy, variance)
        _, shares = leaf_shares(noisy, variance)
        assert rows > 0
        assert overall.sum() == pytest.approx(1)
        assert (shares > 0).all()
        assert np.allclose(shares.sum(axis=2), 1)
