from fractions import Fraction

import pytest

from discreet.accounting import (
    approx,
    noise_multiplier,
    privacy_loss,
    sampling_probability,
    training_loss,
    training_steps,
)
from discreet.accounting.training import former_noise_multiplier, former_training_steps
from discreet.core.integers import refine
from discreet.errors import InputError


def spent(multiplier, probability, steps):
    return privacy_loss(training_loss(multiplier, probability, steps)).epsilon(1e-5)


def test_the_least_noise():
    found = noise_multiplier(epsilon=3.9, delta=1e-5, probability=0.01, steps=6000)
    assert 1.09 < found < 1.11
    assert spent(found, 0.01, 6000) <= 3.9
    assert spent(found * Fraction(99, 100), 0.01, 6000) > 3.9


def test_the_most_steps():
    found = training_steps(epsilon=2, delta=1e-5, multiplier=2, probability=0.02)
    assert spent(2, 0.02, found) <= 2 < spent(2, 0.02, int(found * 1.02))


def test_the_largest_sample():
    found = sampling_probability(epsilon=2, delta=1e-5, multiplier=4, steps=100)
    assert spent(4, found, 100) <= 2 < spent(4, found * Fraction(102, 100), 100)


def test_a_run_that_is_free_enough_takes_everyone():
    assert sampling_probability(epsilon=5, delta=1e-5, multiplier=10, steps=2) == 1


def test_out_of_reach():
    with pytest.raises(InputError, match="single step"):
        training_steps(epsilon=0.001, delta=1e-5, multiplier=1, probability=0.5)
    with pytest.raises(InputError, match="delta"):
        noise_multiplier(epsilon=1, delta=0, probability=0.1, steps=10)
    with pytest.raises(InputError, match="epsilon"):
        noise_multiplier(epsilon=0, delta=1e-5, probability=0.1, steps=10)


@pytest.mark.parametrize(
    ("probability", "steps", "epsilon", "delta"),
    [
        (Fraction(1, 100), 10_000, Fraction(1, 10), 1e-6),  # each loss is smaller than the fine grid
        (Fraction(1, 100), 6000, 1, 1e-5),
        (Fraction(1, 20), 2000, Fraction(1, 2), 1e-6),
        (Fraction(1, 50), 300, 8, 1e-6),
        (1, 50, 1, 1e-5),
    ],
)
def test_noise_is_within_half_a_percent_of_the_least(probability, steps, epsilon, delta):
    found = noise_multiplier(epsilon, delta, probability, steps)
    assert approx(training_loss(found, probability, steps), delta).epsilon <= epsilon

    def fits(multiplier):
        return privacy_loss(training_loss(multiplier, probability, steps), 2.5e-5).epsilon(delta) <= epsilon

    assert fits(found)
    assert not any(fits(found * Fraction(995 - below, 1000)) for below in (0, 5, 10, 20, 40, 80, 160))


def nearly(guess, toward, fits, *, digits=4):
    """The planted bug: the search ends on the wrong side of the last number that fits."""
    good = refine(guess, toward, fits, digits=digits)
    return good + toward * max(1, good // 1000)


def coarsely(guess, toward, fits, *, digits=4):
    """The planted bug: what the coarse search found is taken for an answer, and is a percent too small."""
    return guess * 99 // 100


@pytest.mark.parametrize("bug", [nearly, coarsely])
def test_a_calibration_that_ends_on_the_wrong_side_is_caught(bug, monkeypatch):
    from discreet.accounting import training

    asked = Fraction(1, 50), 300
    monkeypatch.setattr(training, "refine", bug)
    training._noise_multiplier.cache_clear()
    try:
        found = noise_multiplier(8, 1e-6, *asked)
    finally:
        training._noise_multiplier.cache_clear()
    assert approx(training_loss(found, *asked), 1e-6).epsilon > 8


def test_a_grid_wider_than_a_step_buys_too_much_noise(monkeypatch):
    from discreet.accounting import pld, training

    told = noise_multiplier(Fraction(1, 10), 1e-6, Fraction(1, 100), 10_000)
    monkeypatch.setattr(pld, "_CELLS", 1e-9)  # the grid as it was: never narrowed
    for cache in (training._noise_multiplier, pld._privacy_loss):
        cache.cache_clear()
    try:
        assert noise_multiplier(Fraction(1, 10), 1e-6, Fraction(1, 100), 10_000) > told * Fraction(1005, 1000)
    finally:
        for cache in (training._noise_multiplier, pld._privacy_loss):
            cache.cache_clear()


def test_the_same_question_is_searched_once(monkeypatch):
    from discreet.accounting import training

    first = noise_multiplier(2, 1e-5, Fraction(1, 10), 20)
    monkeypatch.setattr(training, "privacy_loss", None)
    assert noise_multiplier("2", "1e-5", 0.1, 20) == first


def test_what_was_found_on_wide_grids_is_found_again():
    asked = {"epsilon": Fraction(1, 10), "delta": 1e-6, "probability": Fraction(1, 100), "steps": 10_000}
    assert former_noise_multiplier(**asked) == Fraction("105.2578")
    common = {"epsilon": 1, "delta": 1e-5, "probability": Fraction(4096, 50_000), "steps": 500}
    assert former_noise_multiplier(**common) == Fraction("6.9418")
    assert former_training_steps(Fraction(1, 50), 1e-6, multiplier=60, probability=Fraction(1, 20)) == 44


@pytest.mark.parametrize("probability", [Fraction(1, 20), Fraction(1, 2), 1])
@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1, 10), 2])
def test_no_more_noise_and_no_fewer_steps_than_before(probability, epsilon):
    given = (epsilon, 1e-6, probability, 3)
    assert noise_multiplier(*given) <= former_noise_multiplier(*given) * Fraction(100_001, 100_000)
    multiplier = former_noise_multiplier(*given)
    steps = training_steps(epsilon, 1e-6, multiplier, probability)
    assert steps >= former_training_steps(epsilon, 1e-6, multiplier, probability) >= 3
