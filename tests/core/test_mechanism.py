"""The protocols of mechanisms: what adds noise and what selects are told apart by what they can do."""

import pytest

from discreet.core.mechanism import Additive, Selection
from discreet.mechanisms import Exponential, Gaussian, Laplace, NoisyMax, PermuteAndFlip


@pytest.mark.parametrize("mechanism", [Laplace(2), Gaussian(2)])
def test_noise_is_additive(mechanism):
    assert isinstance(mechanism, Additive)
    assert len(mechanism.release([1, 2, 3])) == 3
    assert mechanism.variance > 0


@pytest.mark.parametrize("mechanism", [Exponential(1), PermuteAndFlip(1), NoisyMax(1)])
def test_a_choice_is_a_selection_and_adds_nothing(mechanism):
    assert isinstance(mechanism, Selection)
    assert not isinstance(mechanism, Additive)
    assert mechanism.release([5]) == 0
    assert mechanism.error(0.9, 10) <= mechanism.error(0.99, 10)
