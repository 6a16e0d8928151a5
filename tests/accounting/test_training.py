from fractions import Fraction

import pytest

from discreet.accounting import (
    noise_multiplier,
    privacy_loss,
    sampling_probability,
    training_loss,
    training_steps,
)
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
