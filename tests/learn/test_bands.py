"""Correlated noise: of the stated covariance, wide enough for one example in any step, and priced by its rounds."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import math
from fractions import Fraction

import numpy as np
from scipy import stats
from train_steps import OTHER, SECRET, examples, flat, linear, recipe, start, step_of

from chance import LEVEL, frequency_fits
from discreet.accounting.training import training_loss
from discreet.core.loss import Composed
from discreet.errors import InputError
from discreet.learn import bands as module
from discreet.learn.bands import (
    BandedNoise,
    banded_coefficients,
    banded_sigma,
    inverse_coefficients,
    taken_back,
)
from discreet.learn.lattice import LONGEST, lattice_sigma
from discreet.learn.lot import sample_lot
from discreet.learn.noise import drawn_noise
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import train


def banded(**more):
    return recipe(**({"bands": 4, "noise": "exact", "steps": 8} | more))


def test_coefficients_are_those_of_the_square_root():
    found = np.array(banded_coefficients(40)) / 2**16
    # Squared as a series, 1/sqrt(1 - x) is 1/(1 - x): all ones.
    assert np.allclose(np.convolve(found, found)[:40], 1, atol=1e-3)
    inverse = inverse_coefficients(40, 40)
    assert np.allclose(np.convolve(found, inverse)[:40], np.eye(40)[0], atol=1e-9)


def test_noise_is_what_was_drawn_less_what_is_taken_back():
    """The exact covariance follows: as real numbers, C n = z up to the rounding, for the banded matrix C."""
    noise, column = BandedNoise(SECRET, Fraction(1), 4), np.array(banded_coefficients(4)) / 2**16
    made = [noise.at(step, 50).copy() for step in range(12)]
    plain = BandedNoise(SECRET, Fraction(1), 4)
    drawn = []
    for step in range(12):
        last = [made[step - back] for back in range(1, 4) if step >= back]
        drawn.append(plain.at(step, 50) + (taken_back(last, 4) if last else 0))
        whole = made[step] + sum(column[back + 1] * row for back, row in enumerate(last))
        assert np.abs(whole - drawn[-1]).max() <= 0.5
    assert np.array_equal(made[5], BandedNoise(SECRET, Fraction(1), 4).at(5, 50))
    assert np.array_equal(made[5], noise.at(5, 50))  # asked again after later ones


@pytest.mark.statistical
def test_noise_has_the_covariance_that_is_stated():
    steps, size = 6, 4000
    noise = BandedNoise(OTHER, Fraction(2), 3)
    made = np.array([noise.at(step, size) for step in range(steps)], dtype=float)
    sigma = float(banded_sigma(Fraction(2), 3, size))
    inverse = inverse_coefficients(3, steps)
    factor = np.array([[inverse[row - col] if row >= col else 0.0 for col in range(steps)] for row in range(steps)])
    white = np.linalg.solve(factor, made) / sigma
    assert stats.kstest(white.ravel(), "norm").pvalue > LEVEL
    assert stats.kstest((made / sigma).ravel(), "norm").pvalue < LEVEL  # power: it is not independent noise
    covariance = white @ white.T / size
    assert np.abs(covariance - np.eye(steps)).max() < 6.5 * math.sqrt(2 / size)


def farthest(bands, size, sigma_of=banded_sigma, trials=60) -> float:
    """How far one example moves what must have been drawn, for one outcome, as a part of what noise is made for."""
    chance = np.random.default_rng(3)
    made_for = math.sqrt(float(sigma_of(Fraction(1), bands, size)) ** 2 - 16)
    worst = 0.0
    for _ in range(trials):
        noise = [chance.integers(-(2**24), 2**24, size) for _ in range(2 * bands)]
        moved = chance.normal(size=size)
        moved = np.trunc(moved / np.linalg.norm(moved) * LONGEST * (1 - 1e-9)).astype(np.int64)
        other = [one.copy() for one in noise]
        other[bands - 1] -= moved  # the same outcome with one example more in this step
        total = 0
        for step in range(2 * bands):
            here, there = (
                rows[step] + taken_back([rows[step - back] for back in range(1, min(bands, step + 1))], bands)
                if step and bands > 1
                else rows[step]
                for rows in (noise, other)
            )
            total += sum(int(entry) ** 2 for entry in here - there)
            assert bands - 1 <= step < 2 * bands - 1 or not (here - there).any()
        worst = max(worst, math.sqrt(total) / made_for)
    return worst


@pytest.mark.parametrize(("bands", "size"), [(1, 30), (2, 30), (5, 1000), (16, 10)])
def test_no_example_moves_what_is_drawn_by_more_than_the_noise_is_for(bands, size):
    assert 0.9 < farthest(bands, size) <= 1


def test_noise_for_one_step_alone_is_found_out():
    """The planted bug: the later steps that an example moves, through what they take back, are not counted."""
    assert farthest(5, 1000, lambda multiplier, bands, size: lattice_sigma(multiplier)) > 1.2


def test_rounding_is_made_room_for():
    """Entries that are all rounded against an example: the coefficients alone would not be enough."""
    size, moved = 10_000, np.ones(10_000, dtype=np.int64)  # half a step of each entry is taken back, rounded to a whole
    sigma = float(banded_sigma(Fraction(1), 2, size))
    apart = taken_back([moved], 2) - taken_back([0 * moved], 2)
    assert np.linalg.norm(apart) > 1.9 * np.linalg.norm(moved / 2)
    assert sigma >= math.sqrt(1.25) * LONGEST + 0.99 * math.sqrt(size)


def test_with_one_band_nothing_changes():
    assert banded_sigma(Fraction(3, 2), 1, 1000) == lattice_sigma(Fraction(3, 2))
    assert np.array_equal(sample_lot(SECRET, 3, 500, Fraction(1, 10)), sample_lot(SECRET, 3, 500, Fraction(1, 10), 1))
    assert "bands" not in recipe().to_dict()
    assert Recipe.from_dict(banded().to_dict()) == banded()


@pytest.mark.statistical
def test_lots_are_of_one_group_in_turn():
    lots = [sample_lot(SECRET, step, 6000, Fraction(1, 20), 4) for step in range(8)]
    assert frequency_fits(sum(map(len, lots)), 8 * 6000, 1 / 20)
    for step in range(8):
        for later in range(step + 1, min(step + 4, 8)):
            assert not set(lots[step]) & set(lots[later])
    again = len(set(lots[0]) & set(lots[4]))
    assert frequency_fits(again, len(lots[0]), 1 / 5)
    without = [sample_lot(SECRET, step, 6000, Fraction(1, 20)) for step in range(4)]  # the twin: lots of everybody
    assert set(without[0]) & set(without[1])


def test_a_run_is_priced_by_its_rounds():
    own = banded(steps=10, lot=20)
    assert own.ideal_cost() == training_loss(1, Fraction(4, 10), 3)
    assert own.ideal_cost(4) == training_loss(1, Fraction(4, 10), 1)
    assert isinstance(own.cost, Composed)
    found = Recipe.within(3, 1e-5, examples=1000, lot=50, steps=80, bound=1, bands=8)
    assert Fraction(29, 10) < found.epsilon(1e-5) <= 3
    assert found.multiplier > Recipe.within(3, 1e-5, examples=1000, lot=50, steps=80, bound=1).multiplier


def test_sums_over_steps_have_less_noise_at_the_same_price():
    common = {"examples": 1000, "lot": 50, "steps": 400, "bound": 1, "noise": "exact"}
    plain, own = (Recipe.within(8, 1e-5, **common, bands=bands) for bands in (1, 8))
    params = start()

    def spread(one):
        noise = float(banded_sigma(one.multiplier, one.bands, flat(params).size))
        sums = np.cumsum(inverse_coefficients(one.bands, one.steps))
        return noise * math.sqrt(np.mean(np.cumsum(sums**2)))

    assert spread(own) < 0.9 * spread(plain)
    assert drawn_noise(own, params) > drawn_noise(plain, params)  # while each step has more


def test_a_run_with_bands_goes_on_where_it_stood():
    own, states = banded(), []
    done = train(linear, cross_entropy, start(), examples(), own, secret=SECRET, after=states.append)
    rest = train(linear, cross_entropy, start(), examples(), own, secret=SECRET, state=states[3])
    assert np.array_equal(flat(done.params), flat(rest.params))
    step = step_of(own)
    total = step._nothing(start())
    alone = step.add_noise(total, start(), SECRET, 5)
    inside = step.add_noise(total, start(), SECRET, 5, None, BandedNoise(SECRET, own.multiplier, 4))
    assert np.array_equal(flat(alone.gradient), flat(inside.gradient))
    assert recipe(bands=2).noise == "auto"
    assert train(linear, cross_entropy, start(), examples(), recipe(bands=2)).recipe.noise == "exact"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"bands": 5}, "bands"),
        ({"noise": "device"}, "noise"),
        ({"multiplier": 5000}, "multiplier"),
        ({"clipping": "adaptive"}, "clipping"),
        ({"optimizer": "adam-corrected"}, "optimizer"),
    ],
)
def test_bands_that_cannot_be_are_refused(more, field):
    with pytest.raises(InputError) as caught:
        banded(**more)
    assert caught.value.field == field


def test_of_bands_only_the_noise_is_computed():
    with pytest.raises(InputError, match="with bands"):
        Recipe.within(1, 1e-5, examples=1000, lot=50, multiplier=1, bound=1, bands=2)
    assert module.banded_coefficients(1) == (2**16,)
