"""How much a public covariate says is learned from noisy counts: all of it, some of it, or nothing."""

import numpy as np

from discreet.trees.bayes.covariate import guess

PLACE = np.repeat(np.arange(200), 10)
EVEN = np.full(2000, 40.0)


def people(seed):
    numbers = np.random.default_rng(seed)
    raw = numbers.gamma(1.0, 40.0, (200, 10))
    return (raw * 400 / raw.sum(axis=1, keepdims=True)).ravel(), numbers


def test_a_covariate_in_proportion_is_followed_through_noise():
    true, numbers = people(1)
    found = guess(true + numbers.normal(0, 60, 2000), np.full(2000, 3600.0), EVEN, true / 2.4, PLACE)
    assert np.abs(found - true).mean() < 0.1 * np.abs(EVEN - true).mean()
    np.testing.assert_allclose(np.bincount(PLACE, found), 400)


def test_one_that_has_nothing_to_do_with_counts_is_left_aside():
    true, numbers = people(2)
    for seed in range(5):
        other = np.random.default_rng(seed + 10).permutation(true)
        found = guess(true + numbers.normal(0, 60, 2000), np.full(2000, 3600.0), EVEN, other, PLACE)
        assert np.abs(found - EVEN).mean() < 0.15 * np.abs(other - EVEN).mean()


def test_children_without_any_share_evenly_and_columns_have_weights_of_their_own():
    true, numbers = people(3)
    noisy = np.stack([true, true], axis=1) + numbers.normal(0, 5, (2000, 2))
    public = np.stack([true, np.zeros(2000)], axis=1)
    found = guess(noisy, np.full(2000, 25.0), np.stack([EVEN, EVEN], axis=1), public, PLACE)
    assert np.abs(found[:, 0] - true).mean() < 2
    np.testing.assert_array_equal(found[:, 1], EVEN)
