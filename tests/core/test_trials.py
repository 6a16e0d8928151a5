"""What might be true given what was published, and what might be published of what is assumed."""

import numpy as np
import pytest

from discreet.core.trials import NoiseLaw, noisy_trials, plausible_trials

HALF = np.array([30.0, 30.0, 6.0])


@pytest.mark.parametrize("normal", [False, True])
def test_errors_have_the_intervals_they_were_made_of(normal):
    law = NoiseLaw(HALF, HALF, 0.9, normal)
    found = noisy_trials("abc", np.array([1000.0, 0.0, 50.0]), law, b"intervals").published - [1000, 0, 50]
    outside = (np.abs(found) > HALF).mean(axis=0)
    assert np.allclose(outside, 0.1, atol=0.002)  # strata, not chance
    assert np.allclose(found.std(axis=0), law.deviations(), rtol=0.03)


def test_an_interval_that_is_wider_above_has_longer_errors_there():
    law = NoiseLaw(np.array([5.0]), np.array([50.0]), 0.95, normal=False)
    found = noisy_trials("a", np.array([0.0]), law, b"sides").published[:, 0]
    assert (found > 50).mean() == pytest.approx(0.025, abs=0.002)
    assert (found < -5).mean() == pytest.approx(0.025, abs=0.002)


@pytest.mark.parametrize("normal", [False, True])
def test_true_numbers_are_not_negative_and_shift_as_their_law_says(normal):
    law = NoiseLaw(HALF, HALF, 0.95, normal)
    values = np.array([1000.0, -12.0, 4.0])
    free = plausible_trials("abc", values, law, b"free", natural=False)
    held = plausible_trials("abc", values, law, b"free", natural=True)
    assert free.truths.min() < 0 <= held.truths.min()
    assert np.allclose(free.truths.mean(axis=0), values, atol=0.05)
    assert held.truths[:, 1].mean() > 5  # below zero, most of the law is cut off
    # Of what is left above zero, as large a part is above a point as the law has it.
    tail = (free.truths[:, 2] >= 8).mean() / (free.truths[:, 2] >= 0).mean()
    assert (held.truths[:, 2] >= 8).mean() == pytest.approx(tail, abs=0.01)


def test_shares_have_the_error_of_what_they_are_made_of():
    law = NoiseLaw(HALF, HALF, 0.95, normal=True)
    values = np.array([700.0, 250.0, 50.0])
    trials = plausible_trials("abc", values, law, b"share", natural=False)
    share, low, high = trials.within(np.array([True, False, False]))
    assert share == pytest.approx(0.7)
    true = trials.truths[:, 0] / trials.truths.sum(axis=1)
    assert ((true >= low) & (true <= high)).mean() == pytest.approx(0.95, abs=0.02)


def test_the_same_numbers_give_the_same_trials():
    law = NoiseLaw(HALF, HALF, 0.95, normal=False)
    one, two, other = (noisy_trials("abc", HALF, law, key).published for key in (b"a", b"a", b"b"))
    assert (one == two).all()
    assert (one != other).any()
