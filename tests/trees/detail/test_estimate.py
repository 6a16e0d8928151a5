"""Totals and cells of groups: they add up, and their intervals hold whatever was chosen."""

import numpy as np
import pytest
from group_desk import ask, curator

from chance import at_most
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits
from discreet.trees.detail.estimate import alone, reaches, with_detail
from discreet.trees.detail.measurement import GroupMeasurement, _rows, asked_to

NOISES = {"laplace": (Laplace(20), Laplace(5)), "gaussian": (Gaussian(14), Gaussian(7))}


@pytest.mark.parametrize("law", NOISES)
def test_whole_numbers_from_zero_up_that_add_up(law):
    chance = np.random.default_rng(1)
    found = with_detail(chance.integers(-40, 300, 200), chance.integers(-20, 40, (200, 8)), NOISES[law], 0.9)
    assert (found.values >= 0).all()
    assert (found.values[:, 0] == found.values[:, 1:].sum(axis=1)).all()
    assert ((found.lower <= found.values) & (found.values <= found.upper) & (found.lower >= 0)).all()


def test_the_best_linear_estimate_is_nearer_than_either_measurement():
    total, cell = NOISES["gaussian"]
    half = reaches((total, cell), 8, 0.9)
    assert half[0] < min(total.error(0.9), 8**0.5 * cell.error(0.9))
    assert half[1] < cell.error(0.9) + 1


@pytest.mark.parametrize("law", NOISES)
def test_intervals_hold_as_often_as_they_say(law):
    draws, truth = 4000, np.array([3, 0, 100, 17])
    noises = NOISES[law]
    total = noises[0].release(np.full(draws, truth.sum()))
    cells = noises[1].release(np.tile(truth, draws)).reshape(draws, -1)
    found, exact = with_detail(total, cells, noises, 0.9), np.array([truth.sum(), *truth])
    missed = (found.lower > exact) | (found.upper < exact)
    assert all(at_most(int(many), draws, 0.1) for many in missed.sum(axis=0))
    one = alone(noises[1].release(np.full(draws, 40)), noises[1], 0.9)
    assert at_most(int(((one.lower > 40) | (one.upper < 40)).sum()), draws, 0.1)
    narrow = with_detail(total, cells, noises, 0.5)
    assert not at_most(int(((narrow.lower > exact) | (narrow.upper < exact))[:, 0].sum()), draws, 0.1)


def test_intervals_hold_at_every_size_though_noise_decides_what_is_measured(tmp_path):
    """Sizes about the thresholds above all: there the first look is far off in one direction where it decides."""
    plan = ask(curator(tmp_path), groups={"all": "age >= 0"}).plan(epsilon=1, confidence=0.9).plan
    stage = plan.stages[-1]
    sizes = np.array([0, stage.thresholds[0] - 5, stage.thresholds[0] + 5, sum(stage.thresholds) // 2] * 3)
    exact = np.stack([sizes // 4, sizes // 4, sizes // 4, sizes - 3 * (sizes // 4)], axis=1)[:, None, :]
    missed = np.zeros(12, int)
    for _ in range(60):
        asked = asked_to(plan.counted.finest.tree, plan.stages)
        found = GroupMeasurement.read(asked, plan.query["detail"], plan.noisy(exact, SystemBits()))
        choice = found.looks[-1].choice
        for region, (value, low, high) in enumerate(_rows(found.looks[-1], plan.confidence)):
            assert choice[region] < 3
            assert value[0] == sum(value[1:]) or len(value) == 1
            missed[region] += not low[0] <= sizes[region] <= high[0]
    by_size = missed.reshape(3, 4).sum(axis=0)
    assert all(at_most(int(many), 180, 0.1) for many in by_size)
