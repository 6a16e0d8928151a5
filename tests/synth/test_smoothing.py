"""Counts of neighbouring codes help each other where they are alike, and are left alone where they are not."""

import numpy as np
import pytest

from discreet.synth.smoothing import calm_counts, smooth_counts

CODES = np.arange(100)
TOGETHER = CODES // 20  # five bins


def squared_error(truth, estimate, deviation=10.0, runs=40):
    """The mean of squared errors of an estimate of noisy counts, as a part of the noise's variance."""
    chance = np.random.default_rng(4)
    off = [estimate(truth + chance.normal(0, deviation, len(truth))) - truth for _ in range(runs)]
    return float(np.mean(np.square(off))) / deviation**2


def smoothed(counts):
    return smooth_counts(counts, 10.0, TOGETHER)


def means(counts):
    """What bins alone say."""
    return (np.bincount(TOGETHER, weights=counts) / 20)[TOGETHER]


def test_counts_that_change_slowly_lose_most_of_their_noise():
    slope = 400 * np.exp(-CODES / 25)
    assert squared_error(slope, smoothed) < 0.25
    assert squared_error(slope, means) > 4  # a bin is not flat


def test_counts_that_go_up_and_down_are_left_as_they_are():
    jagged = np.where(CODES % 2 == 0, 200.0, 0.0)
    assert squared_error(jagged, smoothed) < 1.3


def test_every_part_of_a_column_is_smoothed_as_it_can_bear():
    both = np.where(CODES < 50, np.where(CODES % 2 == 0, 200.0, 0.0), 50.0)
    chance = np.random.default_rng(5)
    off = np.mean([(smoothed(both + chance.normal(0, 10, 100)) - both) ** 2 for _ in range(40)], axis=0) / 100
    assert off[:35].mean() < 1.3
    assert off[65:].mean() < 0.3


def test_a_code_that_stands_out_and_one_with_a_bin_of_its_own_keep_their_counts():
    counts = np.full(100, 20.0)
    counts[30], counts[70] = 300, 5000
    bins = np.where(CODES < 70, 0, np.where(CODES > 70, 2, 1))
    found = smooth_counts(counts, 10.0, bins)
    assert (found[30], found[70]) == (300, 5000)
    np.testing.assert_allclose(found[71:], 20, atol=0.5)  # the heavy neighbour is not taken into any mean


@pytest.mark.parametrize("bins", [np.arange(100), np.zeros(100, dtype=np.int64)])
@pytest.mark.parametrize("deviation", [0.0, 1e-3])
def test_without_noise_counts_stay(bins, deviation):
    counts = np.random.default_rng(6).integers(0, 500, 100).astype(float)
    np.testing.assert_allclose(smooth_counts(counts, deviation, bins), counts, atol=0.01)


def test_one_code():
    np.testing.assert_array_equal(smooth_counts(np.array([5.0]), 2.0, np.array([0])), [5.0])


def calmed(counts):
    """What a bin alone says, of codes whether or not they have an order."""
    return np.concatenate([calm_counts(counts[one == TOGETHER], 10.0)[0] for one in range(5)])


@pytest.mark.parametrize("low", [20.0, 60.0])
def test_round_values_are_not_noisier_than_without_their_neighbours(low):
    heaped = np.where(CODES % 5 == 0, 6 * low, low)
    assert squared_error(heaped, smoothed) < min(1.1 * squared_error(heaped, calmed), 0.95)


def test_a_code_that_is_empty_among_full_ones_stays_empty():
    """4.5 deviations below its neighbours, where sums over neighbours do not see it yet."""
    level = np.full(100, 45.0)
    level[50] = 0
    np.testing.assert_array_equal(smoothed(level)[50], 0)
    assert np.ptp(smoothed(level)[:20]) < 1


def test_how_far_calmed_counts_follow_themselves_is_the_mean_of_the_derivatives():
    counts = np.array([30.0, 62.0, 41.0, 55.0, 20.0, 500.0])
    calm, own = calm_counts(counts, 10.0)
    slopes = []
    for place in range(len(counts)):
        moved = counts.copy()
        moved[place] += 1e-6
        slopes.append((calm_counts(moved, 10.0)[0][place] - calm[place]) / 1e-6)
    assert own[:5].sum() == pytest.approx(sum(slopes[:5]), rel=1e-4)
    assert (own[5], slopes[5]) == (1, pytest.approx(1))
