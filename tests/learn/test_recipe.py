"""Recipes: refused by name where they are wrong, calibrated to a budget, and their noise is charged for what it is."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import math
import warnings
from fractions import Fraction

from train_steps import SECRET, examples, linear, recipe, start

from discreet.core.loss import Approx, Composed
from discreet.errors import InputError
from discreet.learn import recipe as module
from discreet.learn.card import Card
from discreet.learn.lattice import lattice_sigma
from discreet.learn.noise import (
    exact_noise,
    settle_noise,
)
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import DEVICE_DELTA, Recipe, weak_delta
from discreet.learn.trainer import train


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("lot", 300, "at most the 200 examples"),
        ("lot", 0, "more than zero"),
        ("lot", "nan", "finite"),
        ("steps", 0, "1 or more"),
        ("steps", 2.5, "whole number"),
        ("examples", 0, "1 or more"),
        ("bound", 0, "at least 1e-09"),
        ("bound", 1e-12, "at least 1e-09"),
        ("bound", math.nan, "finite"),
        ("multiplier", 0, "no privacy"),
        ("multiplier", -1, "more than zero"),
        ("rate", -0.1, "more than zero"),
        ("momentum", 1, "less than 1"),
        ("ema", 1.0, "less than 1"),
        ("copies", 0, "1 or more"),
        ("microbatch", 0, "1 or more"),
        ("how", "fast", "one of auto"),
        ("noise", "single", "device, exact"),
        ("optimizer", "lion", "sgd, adam"),
        ("schedule", "wavy", "constant"),
        ("report_loss", 0, "more than zero"),
        ("warmup", -1, "0 or more"),
        ("operands", "int8", "bfloat16"),
        ("clipping", "hard", "fixed, normalise"),
        ("quantile", 0.9, "unless clipping is adaptive"),
    ],
)
def test_a_bad_recipe_is_refused_by_name(field, value, said):
    with pytest.raises(InputError, match=said) as caught:
        recipe(**{field: value})
    assert caught.value.field == field


def test_noise_beyond_the_exact_sampler_is_refused_at_once():
    with pytest.raises(InputError, match="2\\*\\*19") as caught:
        recipe(noise="exact", multiplier=2**19 + 1)
    assert caught.value.field == "multiplier"
    assert recipe(multiplier=2**21).multiplier == 2**21
    assert len(exact_noise(SECRET, 0, 3, lattice_sigma(recipe(noise="exact", multiplier=2**19).multiplier))) == 3


def test_the_least_noise_within_a_budget_is_found():
    found = Recipe.within(1, 1e-5, lot=100, steps=50, examples=10_000, bound=1)
    assert Fraction(98, 100) < found.epsilon(1e-5) <= 1


def test_of_noise_steps_and_lot_two_give_the_third(monkeypatch):
    """Which calibration is asked, and with what: the calibrations have tests of their own (tests/accounting)."""
    # What noise on the device adds is taken off delta first: for 50 steps, or for as many as there can be.
    most, almost = (Fraction("1e-5") - steps * DEVICE_DELTA for steps in (50, 10**8))
    monkeypatch.setattr(module, "training_steps", lambda *asked: 70 if asked == (1, almost, 2, Fraction(1, 100)) else 1)
    monkeypatch.setattr(module, "sampling_probability", lambda *asked: Fraction(asked == (1, most, 2, 50), 25))
    budget = {"examples": 10_000, "bound": 1, "multiplier": 2}
    assert Recipe.within(1, 1e-5, lot=100, **budget).steps == 70
    assert Recipe.within(1, 1e-5, steps=50, **budget).lot == 400


def test_two_must_be_given_and_a_bad_one_is_said_before_the_search():
    with pytest.raises(InputError, match="exactly two"):
        Recipe.within(1, 1e-5, examples=100, lot=10, bound=1)
    with pytest.raises(InputError, match="exactly two"):
        Recipe.within(1, 1e-5, examples=100, lot=10, steps=3, multiplier=1, bound=1)
    with pytest.raises(InputError, match="at most the 100 examples"):
        Recipe.within(1, 1e-5, examples=100, lot=101, steps=3, bound=1)
    with pytest.raises(InputError, match="epsilon"):
        Recipe.within(-1, 1e-5, examples=100, lot=10, steps=3, bound=1)


def test_a_delta_that_could_give_an_example_away_is_warned_about(monkeypatch):
    monkeypatch.setattr(module, "noise_multiplier", lambda *asked: Fraction(2))
    assert weak_delta(1e-5, 50_000) == ""
    assert "publishes one example in 1,000 outright" in weak_delta(1e-3, 1000)
    with pytest.warns(UserWarning, match="not below 1/examples"):
        Recipe.within(1, 0.01, examples=100, lot=10, steps=1, bound=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Recipe.within(1, 0.001, examples=100, lot=10, steps=1, bound=1)


def test_a_recipe_survives_being_written_down():
    one = recipe(multiplier="11/10", lot="50/3", report_loss=2.5, noise="exact")
    assert Recipe.from_dict(one.to_dict()) == one


def test_exact_noise_costs_hardly_more_than_real_noise():
    real, exact = recipe(), recipe(noise="exact")
    assert real.epsilon(1e-5) <= exact.epsilon(1e-5) <= real.epsilon(1e-5) + Fraction(1, 1000)
    assert exact.epsilon(1e-5, 0) == 0


def test_what_noise_on_the_device_is_short_of_is_charged_and_told():
    device, exact = recipe(noise="device"), recipe(noise="exact")
    assert device.noise_delta() == 5 * DEVICE_DELTA
    assert device.cost == Composed([device.cost.losses[0], Approx(0, 5 * DEVICE_DELTA)])
    assert exact.noise_delta() < device.noise_delta() < Fraction(1, 10**20)
    assert recipe().cost == device.cost  # not named yet: the larger of the two
    card = Card.of_recipe(device, 1e-5, name="linear", dataset="d")
    assert card.to_dict()["delta_of_noise"] == "5.4976e-22"
    assert "5.4976e-22 for the law of the noise" in card.to_markdown()
    assert any("premise" in limit for limit in card.limits)
    within = Recipe.within(1, 1e-5, lot=100, steps=50, examples=10_000, bound=1, noise="device")
    assert within.epsilon(1e-5) <= 1


def test_a_recipe_of_0_1_is_read_and_says_what_its_noise_was():
    entry = recipe(noise="device").to_dict()
    assert Recipe.from_dict(entry) == recipe(noise="device")
    del entry["sampler"]
    old = Recipe.from_dict(entry)
    assert old.noise == "float"
    assert Recipe.from_dict({**entry, "noise": "exact"}).noise == "exact"
    assert any("5.42" in limit for limit in Card.of_recipe(old, 1e-5, name="m", dataset="d").limits)
    with pytest.raises(InputError, match="read from runs of version"):
        settle_noise(old, start())


def test_what_is_stored_of_a_recipe_is_as_before_where_nothing_new_is_named():
    assert not {"clipping", "quantile"} & set(recipe().to_dict())
    for more in ({"clipping": "normalise"}, {"clipping": "adaptive", "quantile": 0.9, "report_loss": 2}):
        assert Recipe.from_dict(recipe(**more).to_dict()) == recipe(**more)


def test_what_stands_beside_the_gradient_widens_the_noise():
    one, two = recipe(clipping="adaptive"), recipe(clipping="adaptive", report_loss=1)
    assert (recipe().beside, one.beside, two.beside) == (0, 1, 2)
    assert one.widened == recipe(report_loss=1).widened
    assert one.widened**2 >= 1 + 1 / 64
    assert two.widened**2 >= 1 + 2 / 64
    assert one.cost == recipe().cost


def test_a_corrected_adam_needs_noise_that_does_not_change():
    with pytest.raises(InputError, match="sgd or adam with adaptive"):
        recipe(optimizer="adam-corrected", clipping="adaptive")


def test_a_recipe_without_a_bound_is_refused_by_name():
    with pytest.raises(InputError, match="`bound` must be given"):
        Recipe.within(1, 1e-6, examples=1000, lot=100, steps=10)


def test_a_run_that_ends_before_its_rate_has_risen_is_refused_and_still_read():
    long = recipe(steps=10, warmup=11)
    with pytest.raises(InputError, match="at most the 10 steps of the run; got 11"):
        train(linear, cross_entropy, start(), examples(), long)
    assert Recipe.from_dict(long.to_dict()) == long
    recipe(steps=10, warmup=10).refuse_long_warmup()
