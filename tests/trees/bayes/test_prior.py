"""Priors fitted under known noise: the law is right, the fit finds what is there, and a wrong law is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from noisy_sizes import NOISE, SHARES

import chance
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes.prior import Law, Prior, centred, grid, likelihoods


def fitted(noisy, noise, **how):
    edges, values = grid(int(noisy.max()), 7.0), np.arange(noisy.min(), noisy.max() + 1)
    seen = np.bincount(noisy - noisy.min(), minlength=len(values))[:, None].astype(float)
    likely = likelihoods(Law.of(noise), values, edges)
    return Prior.fit(edges, likely, seen, np.zeros(1, np.intp), **how), likely, seen


def mass(prior, low, high):
    """Of true counts from low to high."""
    inside = (prior.edges[:-1] >= low) & (prior.edges[1:] <= high + 1)
    return float(prior.weights[inside, 0].sum())


def finds(prior):
    """Whether all three sizes were found, with their shares."""
    found = [mass(prior, 0, 6), mass(prior, 10, 31), mass(prior, 80, 121)]
    return np.abs(np.array(found) - SHARES).max() < 0.03


@pytest.mark.parametrize("scale", ["1/3", 1, 7, "123/2"])
def test_the_law_is_the_mechanisms(scale):
    for noise, pmf in (
        (Laplace(scale), chance.laplace_pmf(Laplace(scale).scale)),
        (Gaussian(scale), chance.gaussian_pmf(Gaussian(scale).sigma)),
    ):
        law = Law.of(noise)
        noisy = np.arange(-40, 41)
        none, first, second = law.within(noisy, np.zeros_like(noisy), np.ones_like(noisy))
        np.testing.assert_allclose(none, np.maximum(pmf(noisy), 1e-14), rtol=1e-6, atol=2e-14)
        np.testing.assert_allclose(first, noisy * pmf(noisy), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(second, noisy**2 * pmf(noisy), rtol=1e-6, atol=1e-7)
        assert law.deviation**2 == pytest.approx(noise.variance, rel=1e-9)
        if noise.variance > 1:
            assert Law.with_variance(noise, noise.variance).deviation == pytest.approx(law.deviation, rel=1e-3)


def test_the_grid_reaches_beyond_what_was_seen_and_has_every_small_number():
    for most, deviation in ((0, 1.0), (50, 0.3), (10**4, 50.0), (3 * 10**8, 200.0)):
        edges = grid(most, deviation)
        assert edges[0] == 0
        assert edges[-1] > most
        assert (np.diff(edges) >= 1).all()
        assert len(edges) < 500
        assert edges[:4].tolist() == list(range(min(4, len(edges))))


def test_a_known_prior_is_found(sample):
    _, noisy = sample
    assert finds(fitted(noisy, NOISE, pseudo=0, steps=300)[0])


def test_a_fit_under_a_wrong_law_does_not_find_it(sample):
    _, noisy = sample
    assert not finds(fitted(noisy, Laplace(10), pseudo=0, steps=300)[0])


def test_more_steps_never_make_the_sample_less_likely(sample):
    _, noisy = sample
    before = -np.inf
    for steps in (1, 2, 5, 20, 60):
        prior, likely, seen = fitted(noisy, NOISE, pseudo=0, steps=steps)
        assert prior.weights.sum() == pytest.approx(1)
        assert prior.weights.min() >= 0
        now = float((seen * np.log(likely @ prior.weights)).sum())
        assert now >= before
        before = now


def test_a_group_without_observations_gets_what_its_pool_has(sample):
    _, noisy = sample
    edges, values = grid(int(noisy.max()), 7.0), np.arange(noisy.min(), noisy.max() + 1)
    seen = np.bincount(noisy - noisy.min(), minlength=len(values)).astype(float)
    likely = likelihoods(Law.of(NOISE), values, edges)
    prior = Prior.fit(edges, likely, np.column_stack([seen, 0 * seen]), np.zeros(2, np.intp))
    np.testing.assert_allclose(prior.weights.sum(axis=0), 1)
    assert finds(Prior(edges, prior.weights[:, 1:]))


def test_distributions_are_moved_to_a_mean_and_no_further():
    random, edges = np.random.default_rng(3), np.array([0, 1, 2, 4, 8, 16, 40])
    weights = random.dirichlet(np.ones(6), 5).T
    middle = (edges[:-1] + edges[1:] - 1) / 2
    means = np.array([0.01, 0.5, 3.0, 9.0, 25.0])
    found = centred(weights, edges, means)
    assert middle @ found == pytest.approx(means, rel=1e-6)
    assert found.sum(axis=0) == pytest.approx(1)
    assert centred(weights, edges, middle @ weights) == pytest.approx(weights)
    # Of all distributions with that mean none has a higher likelihood: along any direction that keeps it, less.
    for column in range(5):
        step = random.standard_normal(6)
        for kept in (np.ones(6), middle - middle.mean()):
            step -= kept * (step @ kept) / (kept @ kept)
        for size in (1e-4, -1e-4):
            other = found[:, column] + size * step * found[:, column].min()
            assert weights[:, column] @ np.log(other) <= weights[:, column] @ np.log(found[:, column]) + 1e-12
