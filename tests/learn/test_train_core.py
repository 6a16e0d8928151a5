"""Training itself: recipes, lots, sums, noise, steps; a step done again is the same; what one example can move."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from scipy import stats

import discreet
from chance import LEVEL, fits, frequency_fits, gaussian_pmf, mean_fits
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.core.progress import listening
from discreet.errors import InputError
from discreet.learn import recipe as module
from discreet.learn.keys import SECRET_BYTES, key_of, new_secret
from discreet.learn.lot import capacity, microbatches, sampled
from discreet.learn.recipe import Recipe, weak_delta

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from discreet.learn import step as step_module  # noqa: E402
from discreet.learn.model import Model  # noqa: E402
from discreet.learn.noise import (  # noqa: E402
    LONGEST,
    device_key,
    exact_noise,
    lattice_shares,
    lattice_sigma,
    lattice_sum,
    with_noise,
)
from discreet.learn.objective import absolute, cross_entropy, logistic, squared  # noqa: E402
from discreet.learn.optimizer import optimizer_of, rate_at  # noqa: E402
from discreet.learn.per_example import augmented, each_alone, example_gradients  # noqa: E402
from discreet.learn.step import Step  # noqa: E402
from discreet.learn.train import losses_of, train, train_losses  # noqa: E402

SECRET = bytes(range(SECRET_BYTES))
OTHER = bytes(range(1, SECRET_BYTES + 1))
PLAIN = {"examples": 200, "lot": 50, "steps": 5, "bound": 1.0, "multiplier": 1}


def recipe(**more) -> Recipe:
    return Recipe(**(PLAIN | more))


def linear(params, x):
    return x @ params["w"] + params["b"]


def start(inputs=4, outputs=3):
    return {"w": jnp.ones((inputs, outputs)) * 0.1, "b": jnp.zeros(outputs)}


def examples(count=200, inputs=4, outputs=3):
    chance = np.random.default_rng(3)
    x = chance.normal(size=(count, inputs)).astype(np.float32) * 2
    return x, (np.abs(x).sum(1).astype(np.int32) % outputs).astype(np.int32)


def flat(tree):
    return np.concatenate([np.asarray(leaf).ravel() for leaf in jax.tree.leaves(tree)])


# Recipes


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
        ("rate", -0.1, "more than 0"),
        ("momentum", 1, "less than 1"),
        ("ema", 1.0, "less than 1"),
        ("copies", 0, "1 or more"),
        ("microbatch", 0, "1 or more"),
        ("how", "fast", "one of auto"),
        ("noise", "float", "device, exact"),
        ("optimizer", "lion", "sgd, adam"),
        ("schedule", "wavy", "constant"),
        ("report_loss", 0, "more than 0"),
        ("warmup", -1, "0 or more"),
        ("operands", "int8", "bfloat16"),
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
    monkeypatch.setattr(module, "training_steps", lambda *asked: 70 if asked == (1, 1e-5, 2, Fraction(1, 100)) else 0)
    monkeypatch.setattr(module, "sampling_probability", lambda *asked: Fraction(asked == (1, 1e-5, 2, 50), 25))
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


# Lots


def test_a_lot_asked_for_again_is_the_same_and_another_is_another():
    one = sampled(SECRET, 4, 1000, Fraction(1, 3))
    assert np.array_equal(one, sampled(SECRET, 4, 1000, Fraction(1, 3)))
    assert not np.array_equal(one, sampled(SECRET, 5, 1000, Fraction(1, 3)))
    assert not np.array_equal(one, sampled(OTHER, 4, 1000, Fraction(1, 3)))


def lot_sizes_fit(lots, count, probability) -> bool:
    """Whether sizes of lots are those of independent coins: their spread is what batches of a fixed size lack."""
    sizes = np.array([len(lot) for lot in lots])
    return fits(sizes, lambda n: stats.binom.pmf(n, count, float(probability)))


def test_every_example_joins_by_a_coin_of_its_own():
    count, probability, steps = 40, Fraction(3, 10), 4000
    lots = [sampled(SECRET, step, count, probability) for step in range(steps)]
    assert lot_sizes_fit(lots, count, probability)
    joined = np.zeros((steps, count), dtype=int)
    for row, lot in zip(joined, lots, strict=True):
        row[lot] = 1
    for place in range(count):
        assert frequency_fits(joined[:, place].sum(), steps, float(probability))
    together = (joined[:, 0] * joined[:, 1]).sum()
    assert frequency_fits(together, steps, float(probability) ** 2)
    again = (joined[:-1, 0] * joined[1:, 0])[::2].sum()
    assert frequency_fits(again, len(joined[:-1, 0][::2]), float(probability) ** 2)


def test_shuffled_batches_are_found_out():
    chance = np.random.default_rng(1)
    lots = [chance.permutation(40)[:12] for _ in range(4000)]
    assert not lot_sizes_fit(lots, 40, Fraction(3, 10))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 25])
def test_no_example_of_a_lot_is_cut(count):
    parts = microbatches(np.arange(count), 8)
    assert all(len(part.places) == len(part.mask) == 8 for part in parts)
    kept = [place for part in parts for place, there in zip(part.places, part.mask, strict=True) if there]
    assert kept == list(range(count))


def test_microbatches_hold_most_lots_and_divide_among_devices():
    assert 600 < capacity(recipe(examples=60_000, lot=600)) < 720
    assert capacity(recipe(microbatch=10), devices=4) == 12
    assert capacity(recipe(lot=200)) == 200


def test_keys_differ_by_purpose_and_place_and_the_secret_must_be_one():
    keys = {key_of(SECRET, "a", 1), key_of(SECRET, "a", 2), key_of(SECRET, "b", 1), key_of(OTHER, "a", 1)}
    assert len(keys) == 4
    assert new_secret() != new_secret()
    with pytest.raises(InputError, match="32 bytes") as caught:
        key_of(b"short", "a", 1)
    assert "short" not in str(caught.value)


# Sums


def one_by_one(params, x, y, places, bound):
    """The sum of clipped gradients, by definition."""
    total = np.zeros(flat(params).shape)
    for place in places:
        row = jax.grad(lambda p, i=place: cross_entropy(linear(p, x[i : i + 1]), y[i : i + 1]).sum())(params)
        vector = flat(row).astype(np.float64)
        total += vector * min(1.0, bound / np.linalg.norm(vector))
    return total


def step_of(recipe, losses=None, **more):
    return Step(losses or losses_of(linear, cross_entropy), recipe, optimizer_of(recipe), **more)


@pytest.mark.parametrize(
    ("noise", "microbatch", "how"),
    [("device", None, "auto"), ("device", 4, "ghost"), ("device", 4, "vmap"), ("device", 4, "microbatch"),
     ("exact", None, "auto"), ("exact", 4, "auto")],
)  # fmt: skip
def test_a_lot_sums_to_the_same_in_any_parts(noise, microbatch, how):
    x, y = examples()
    one = recipe(microbatch=microbatch, bound=0.5, noise=noise, how=how)
    places = np.array([0, 3, 4, 9, 50, 199])
    step, params = step_of(one), start()
    total = step.summed(params, step.placed((x, y)), microbatches(places, capacity(one)), SECRET, 0)
    found = flat(total) if noise == "device" else total * (0.5 / LONGEST)
    assert np.allclose(found, one_by_one(params, x, y, places, 0.5), atol=1e-5)


def test_an_empty_lot_still_gets_noise():
    for noise in ("device", "exact"):
        one = recipe(noise=noise)
        step, params = step_of(one), start()
        total = step.summed(params, step.placed(examples()), [], SECRET, 0)
        assert not np.any(flat(total))
        noisy, _ = step.noised(total, params, SECRET, 0)
        assert np.abs(flat(noisy)).min() > 0


def test_a_lot_of_nothing_trains_on_no_rows_at_all():
    x, y = examples()
    result = train(linear, cross_entropy, start(), (x[:0], y[:0]), recipe(), secret=SECRET)
    assert result.state.step == 5


# Noise


def moved_vectors(noise, steps=300, size=(40, 10), **more):
    """The noise of many steps, in units of its stated scale."""
    params = {"w": jnp.zeros(size)}
    one = recipe(noise=noise, multiplier="13/10", bound=0.7, **more)
    step = step_of(one, losses=lambda p, b: b.sum(axis=1))
    drawn = [
        flat(step.noised(step._nothing(params), params, SECRET, number)[0]) / (1.3 * 0.7 * one.widened)
        for number in range(steps)
    ]
    return np.array(drawn)


@pytest.mark.statistical
@pytest.mark.parametrize("noise", ["device", "exact"])
def test_noise_is_gaussian_of_the_stated_scale_and_fresh_each_step(noise):
    drawn = moved_vectors(noise)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > LEVEL
    assert stats.kstest(drawn.ravel() * 1.06, "norm").pvalue < LEVEL  # power: six in a hundred are seen
    products = (drawn[::2, :] * drawn[1::2, :]).ravel()
    assert mean_fits(products, 0.0, 1.0)
    reused = np.repeat(drawn[::2], 2, axis=0)  # the same noise for two steps
    assert not mean_fits((reused[::2] * reused[1::2]).ravel(), 0.0, 1.0)


def test_noise_of_a_step_done_again_is_the_same():
    assert np.array_equal(device_key(SECRET, 3), device_key(SECRET, 3))
    assert not np.array_equal(device_key(SECRET, 3), device_key(SECRET, 4))
    assert np.array_equal(exact_noise(SECRET, 3, 50, Fraction(9)), exact_noise(SECRET, 3, 50, Fraction(9)))
    assert not np.array_equal(exact_noise(SECRET, 3, 50, Fraction(9)), exact_noise(OTHER, 3, 50, Fraction(9)))


@pytest.mark.statistical
def test_exact_noise_has_the_law_of_the_integers():
    drawn = np.concatenate([exact_noise(SECRET, step, 1000, Fraction(7, 2)) for step in range(50)])
    assert fits(drawn, gaussian_pmf(3.5))
    assert not fits(drawn, gaussian_pmf(3.7))


def test_the_sigma_on_the_integers_makes_room_for_rounding():
    sigma = lattice_sigma(Fraction(11, 10))
    assert (Fraction(11, 10) * LONGEST) ** 2 + 16 <= sigma**2
    # What is left after rounding with a deviation of 4 is at least the noise that is charged for.
    assert sigma**2 - 16 >= (Fraction(11, 10) * LONGEST) ** 2


def integer_deltas(sigma, shift, probability, epsilons):
    """The deltas of discrete Gaussian noise on a sample, added and removed, by adding up the law itself."""
    reach = math.ceil(14 * sigma) + max(map(abs, shift))
    axis = np.arange(-reach, reach + 1)
    one = np.exp(-(axis**2) / (2 * sigma**2))
    one /= one.sum()
    absent, present = np.ones(1), np.ones(1)
    for step in shift:
        moved = np.exp(-((axis - step) ** 2) / (2 * sigma**2))
        absent, present = np.outer(absent, one).ravel(), np.outer(present, moved / moved.sum()).ravel()
    mixed = (1 - probability) * absent + probability * present
    factors = np.exp(epsilons)[:, None]
    removed = np.maximum(mixed - factors * absent, 0).sum(axis=1)
    return np.maximum(removed, np.maximum(absent - factors * mixed, 0).sum(axis=1))


def real_deltas(multiplier, probability, epsilons):
    """The same of real noise and a shift of one: where the ratio of densities crosses e^epsilon."""
    q, normal = probability, stats.norm(scale=multiplier)
    found = []
    for factor in np.exp(epsilons):
        cross = multiplier**2 * math.log((factor - 1 + q) / q) + 0.5
        removed = q * normal.sf(cross - 1) - (factor - 1 + q) * normal.sf(cross)
        level = (1 / factor - 1 + q) / q
        added = 0.0
        if level > 0:
            cross = multiplier**2 * math.log(level) + 0.5
            added = normal.cdf(cross) - factor * ((1 - q) * normal.cdf(cross) + q * normal.cdf(cross - 1))
        found.append(max(removed, added))
    return np.array(found)


EPSILONS = np.array([0.01, 0.1, 0.3, 1.0, 2.0])


@pytest.mark.parametrize("shift", [(5,), (3, 4), (4, 3), (-1, 4), (2,)])
@pytest.mark.parametrize("probability", [0.05, 1.0])
def test_noise_on_the_integers_costs_no_more_than_the_real_noise_it_is_charged_as(shift, probability):
    """For a bound of 5 on the integers in place of LONGEST, where the whole law can be added up."""
    multiplier, longest = 0.9, 5
    claimed = real_deltas(multiplier, probability, EPSILONS) + 1e-12
    sigma = math.sqrt((multiplier * longest) ** 2 + 16)
    assert (integer_deltas(sigma, shift, probability, EPSILONS) <= claimed).all()
    if math.hypot(*shift) == longest:  # power: too little noise is found out
        assert (integer_deltas(0.8 * multiplier * longest, shift, probability, EPSILONS) > claimed).any()


def nasty(count, width):
    chance = np.random.default_rng(8)
    rows = chance.normal(size=(count, width)) * np.exp(chance.normal(size=(count, 1)) * 30)
    rows[0] = 0
    rows[1, 0] = np.inf
    rows[2, 1] = np.nan
    rows[3] = 1e300
    rows[4] = 5e-324
    rows[5] = -np.inf
    rows[6] = np.finfo(np.float32).max
    rows[7] = 0
    rows[7, 2] = 1.0
    return rows


@pytest.mark.parametrize("bound", [1e-3, 1.0, 37.0])
def test_no_row_moves_the_integers_by_more_than_the_bound(bound):
    rows = nasty(60, 33)
    everyone = np.ones(len(rows))
    whole = lattice_sum(rows, everyone, bound)
    for place in range(len(rows)):
        without = everyone.copy()
        without[place] = 0
        moved = whole - lattice_sum(rows, without, bound)
        assert sum(int(step) ** 2 for step in moved) <= LONGEST**2
        assert np.array_equal(moved, lattice_sum(rows[place : place + 1], np.ones(1), bound))
    longest = lattice_sum(rows[7:8], np.ones(1), 1e-3)
    assert np.sqrt((longest.astype(float) ** 2).sum()) > 0.999 * LONGEST


def test_what_a_row_adds_does_not_depend_on_where_it_is():
    rows = nasty(60, 33)
    turned = np.random.default_rng(2).permutation(60)
    apart = [lattice_sum(rows[i : i + 1], np.ones(1), 1.0) for i in range(60)]
    assert np.array_equal(sum(apart), lattice_sum(rows, np.ones(60), 1.0))
    assert np.array_equal(sum(apart), lattice_sum(rows[turned], np.ones(60), 1.0))


def test_the_gradient_of_an_example_does_not_depend_on_where_it_is():
    x, y = examples()
    losses, params = losses_of(linear, cross_entropy), start()
    turned = np.random.default_rng(2).permutation(200)
    whole, values = jax.jit(lambda b: each_alone(losses, params, b))((x, y))
    moved, _ = jax.jit(lambda b: each_alone(losses, params, b))((x[turned], y[turned]))
    part, _ = jax.jit(lambda b: each_alone(losses, params, b))((x[:7], y[:7]))
    assert np.array_equal(np.asarray(whole)[turned], moved)
    assert np.array_equal(whole[:7], part)
    other, others = example_gradients(losses, params, (x, y))
    assert np.allclose(whole, other, atol=1e-5)
    assert np.allclose(values, others, atol=1e-5)


def test_gradient_and_loss_together_are_no_longer_than_the_bound():
    gradient, loss = lattice_shares(recipe(report_loss=2))
    assert gradient**2 + loss**2 <= LONGEST**2
    assert gradient**2 + loss**2 > 0.999 * LONGEST**2
    assert lattice_shares(recipe()) == (LONGEST, 0)


def test_a_gradient_that_was_not_clipped_would_be_found_out():
    rows = nasty(60, 33)[8:]
    steps = np.rint(rows * LONGEST)
    assert max((row @ row) for row in steps) > LONGEST**2


# Steps and whole runs


def test_the_same_secret_gives_the_same_model_and_another_does_not():
    run = {"recipe": recipe(momentum=0.9, rate=0.3), "data": examples()}
    one = train(linear, cross_entropy, start(), secret=SECRET, **run)
    two = train(linear, cross_entropy, start(), secret=SECRET, **run)
    assert np.array_equal(flat(one.params), flat(two.params))
    other = train(linear, cross_entropy, start(), secret=OTHER, **run)
    assert not np.allclose(flat(one.params), flat(other.params))
    assert not np.allclose(flat(train(linear, cross_entropy, start(), **run).params), flat(one.params))


@pytest.mark.parametrize(("noise", "optimizer"), [("device", "adam"), ("exact", "sgd")])
def test_a_run_that_stopped_goes_on_as_if_it_had_not(noise, optimizer):
    one = recipe(noise=noise, optimizer=optimizer, momentum=0.9, ema=0.5, schedule="cosine", warmup=2)
    kept = []
    whole = train(linear, cross_entropy, start(), examples(), one, secret=SECRET, after=kept.append)
    assert [state.step for state in kept] == [1, 2, 3, 4, 5]
    rest = train(linear, cross_entropy, start(), examples(), one, secret=SECRET, state=kept[1])
    assert np.array_equal(flat(whole.state.trees), flat(rest.state.trees))


def test_the_sum_is_divided_by_the_expected_lot():
    one = recipe(rate=1.0, multiplier="1e-12", steps=1, bound=1e6)
    x, y = examples()
    params = start()
    places = sampled(SECRET, 0, len(x), one.probability)
    assert len(places) != 50
    result = train(linear, cross_entropy, params, (x, y), one, secret=SECRET)
    total = one_by_one(params, x, y, places, 1e6)
    moved = flat(params) - flat(result.params)
    assert np.allclose(moved, total / 50, atol=1e-4)
    assert not np.allclose(moved, total / len(places), atol=1e-3)


def test_any_optimizer_of_optax_will_do():
    optax = pytest.importorskip("optax")
    ours = optimizer_of(recipe(momentum=0.9, rate=0.3)), optimizer_of(recipe(optimizer="adam", rate=0.01))
    theirs = optax.sgd(0.3, momentum=0.9), optax.adam(0.01)
    for one, other in zip(ours, theirs, strict=True):
        params = {"w": np.ones(3, np.float32)}
        states = one.init(params), other.init(params)
        for step in range(4):
            gradient = {"w": np.array([1.0, -step, 0.1], np.float32)}
            change, first = one.update(gradient, states[0], params)
            expected, second = other.update(gradient, states[1], params)
            states = first, second
            assert np.allclose(change["w"], expected["w"], atol=1e-6)
    run = {"data": examples(), "recipe": recipe(momentum=0.9, rate=0.3), "secret": SECRET}
    named = train(linear, cross_entropy, start(), **run)
    given = train(linear, cross_entropy, start(), **run, optimizer=theirs[0])
    assert np.allclose(flat(named.params), flat(given.params), atol=1e-6)


def test_rates_rise_stay_and_fall():
    rate = rate_at(recipe(steps=100, rate=2.0, schedule="cosine", warmup=9))
    assert math.isclose(float(rate(0)), 0.2, rel_tol=1e-5)
    assert math.isclose(float(rate(9)), 2.0, rel_tol=1e-5)
    assert float(rate(99)) < 0.01
    assert float(rate_at(recipe(rate=3.0))(2)) == 3.0
    assert math.isclose(float(rate_at(recipe(rate=1.0, schedule="linear"))(4)), 0.2, rel_tol=1e-5)


def test_the_average_follows_the_parameters():
    result = train(linear, cross_entropy, start(), examples(), recipe(ema=0.9, steps=3), secret=SECRET)
    kept = []
    train(linear, cross_entropy, start(), examples(), recipe(steps=3), secret=SECRET, after=kept.append)
    average = flat(start()).astype(float)
    for step, state in enumerate(kept):
        decay = min(0.9, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * flat(state.params)
    assert np.allclose(flat(result.params), average, atol=1e-6)
    assert np.array_equal(flat(result.state.params), flat(kept[-1].params))


@pytest.mark.statistical
@pytest.mark.parametrize("noise", ["device", "exact"])
def test_a_loss_that_is_reported_is_noisy_and_not_biased(noise):
    x, y = examples()
    one = recipe(lot=100, steps=200, rate=1e-9, report_loss=2.0, noise=noise)
    heard = train(linear, cross_entropy, start(), (x, y), one, secret=SECRET).losses
    values = np.clip(np.asarray(cross_entropy(linear(start(), x), y)), 0, 2)
    noise_part = (float(one.multiplier) * one.widened * 2.0 * 8 / 100) ** 2
    lot_part = 0.25 * (values**2).sum() / 100**2
    assert len(heard) == 200
    assert mean_fits(heard, values.sum() * 0.5 / 100, noise_part + lot_part)
    assert not mean_fits(np.array(heard) * 1.3, values.sum() * 0.5 / 100, noise_part + lot_part)


def test_progress_tells_steps_and_no_loss_unless_it_was_paid_for():
    told = []
    with listening(lambda stage, done: told.append((stage, done))):
        train(linear, cross_entropy, start(), examples(), recipe(), secret=SECRET)
    assert told[-1] == ("training: step 5 of 5", 1.0)
    assert not any("loss" in stage for stage, _ in told)
    told.clear()
    with listening(lambda stage, done: told.append((stage, done))):
        train(linear, cross_entropy, start(), examples(), recipe(report_loss=1), secret=SECRET)
    assert "loss about" in told[-1][0]


def test_copies_are_averaged_before_clipping():
    x, y = examples()
    one = recipe(copies=2, multiplier="1/1000000", steps=1, rate=1.0, bound=0.3)

    def mirrored(key, batch):
        inputs, labels = batch
        return jnp.stack([inputs, -inputs], axis=1).reshape(-1, inputs.shape[1]), jnp.repeat(labels, 2)

    params = start()
    result = train(linear, cross_entropy, params, (x, y), one, secret=SECRET, augment=mirrored)
    total = 0.0
    for place in sampled(SECRET, 0, len(x), one.probability):
        two, labels = np.stack([x[place], -x[place]]), np.repeat(y[place], 2)
        row = jax.grad(lambda p, a=two, b=labels: cross_entropy(linear(p, a), b).mean())(params)
        total = total + flat(row) * min(1.0, 0.3 / np.linalg.norm(flat(row)))
    assert np.allclose(flat(params) - flat(result.params), total / 50, atol=1e-4)
    with pytest.raises(InputError, match="copies of each example"):
        train(linear, cross_entropy, params, (x, y), one)


def centred(key, batch):
    """An augmentation that looks at the whole batch it is shown."""
    x, y = batch
    return x - 1e3 * x.sum(0), y


def moved_by_one_row(noise) -> float:
    """How far one more row moves a sum of clipped gradients under `centred`, as a part of the bound."""
    one = recipe(examples=41, lot=41, noise=noise)
    losses = losses_of(lambda params, x: x @ params, lambda outputs, y: outputs[:, 0] * y)
    step, params = step_of(one, losses, augment=centred), jnp.zeros((1, 1))
    rows, last = np.zeros((40, 1), np.float32), np.ones((1, 1), np.float32)
    sums = []
    for x in (rows, np.concatenate([rows, last])):
        data = x, np.ones(len(x), np.float32)
        step.checked(params, data)
        total = step.summed(params, step.placed(data), microbatches(np.arange(len(x)), 64), SECRET, 0)
        sums.append(flat(total) if noise == "device" else total / LONGEST)
    return float(np.linalg.norm(sums[1] - sums[0]))


@pytest.mark.parametrize("noise", ["device", "exact"])
def test_augmentation_sees_one_example_at_a_time(noise):
    assert 0.9 < moved_by_one_row(noise) <= 1


def test_augmentation_of_a_whole_batch_is_found_out(monkeypatch):
    """The twin: shown all examples at once, the same augmentation lets one row move those of all others."""
    monkeypatch.setattr(step_module, "augmented", lambda augment, key, batch: augment(key, batch))
    assert moved_by_one_row("device") > 10


def test_every_example_has_looks_of_its_own():
    def stirred(key, batch):
        return batch + jax.random.normal(key, (2, 1))

    key = np.array([1, 2], dtype=np.uint32)
    made = np.asarray(augmented(stirred, key, jnp.zeros((3, 1))))
    assert made.shape == (6, 1)
    assert len(np.unique(made)) == 6
    assert np.array_equal(made, augmented(stirred, key, jnp.zeros((3, 1))))
    values = each_alone(lambda p, x: x[:, 0] * p, jnp.ones(()), jnp.zeros((3, 1)), stirred, key)[1]
    assert np.allclose(values, made.reshape(3, 2).mean(axis=1))


@pytest.mark.parametrize("loss", [squared, absolute, logistic])
def test_numbers_and_yes_or_no_can_be_learned_too(loss):
    chance = np.random.default_rng(2)
    x = chance.normal(size=(2000, 4)).astype(np.float32)
    score = x @ np.array([1.0, -2.0, 0.5, 0.0], dtype=np.float32)
    y = (score > 0).astype(np.float32) if loss is logistic else score
    one = recipe(examples=2000, lot=400, steps=200, rate=0.5, multiplier=1)
    before = float(loss(linear(start(4, 1), x), y).mean())
    result = train(linear, loss, start(4, 1), (x, y), one, secret=SECRET)
    assert float(loss(linear(result.params, x), y).mean()) < 0.6 * before


# Bad input


def test_bad_data_is_refused_before_the_first_step():
    x, y = examples()
    broken = x.copy()
    broken[5, 2] = np.nan
    with pytest.raises(InputError, match="finite numbers only"):
        train(linear, cross_entropy, start(), (broken, y), recipe())
    with pytest.raises(InputError, match="labels from 0 to 2"):
        train(linear, cross_entropy, start(), (x, y + 1), recipe())
    with pytest.raises(InputError, match="one whole number"):
        train(linear, cross_entropy, start(), (x, y.astype(np.float32)), recipe())
    with pytest.raises(InputError, match="as many rows each"):
        train(linear, cross_entropy, start(), (x, y[:-1]), recipe())
    with pytest.raises(InputError, match="a pair"):
        train(linear, cross_entropy, start(), x, recipe())
    with pytest.raises(InputError, match="arrays of real numbers"):
        train(linear, cross_entropy, {"w": np.ones(3, dtype=int)}, (x, y), recipe())
    with pytest.raises(InputError, match="nothing to train"):
        train_losses(lambda p, b: b[0].sum(1), {}, (x, y), recipe())
    with pytest.raises(InputError, match="one loss for each example"):
        train(linear, lambda out, y: out.mean(), start(), (x, y), recipe())


def normed(params, x):
    return ((x - x.mean(0)) / (x.std(0) + 1)) @ params["w"]


def called_back(params, x):
    def copied(v):
        return jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(v.shape, v.dtype), v, vmap_method="sequential")

    return x @ copied(params["w"])


WHOLE = {"w": jnp.zeros((1, 2)), "n": jnp.zeros(2, jnp.int32)}
UNFIT = {
    "mixes examples": (Model(normed, {"w": jnp.zeros((1, 2))}), {}),
    "arrays of real numbers": (Model(lambda p, x: x @ p["w"] + p["n"], WHOLE), {}),
    "gradient JAX can compute": (Model(called_back, {"w": jnp.zeros((1, 2))}), {}),
    "one loss for each": (Model(lambda p, x: x @ p, jnp.zeros((1, 2)), lambda outputs, y: outputs.mean()), {}),
    "at least 1e-09": ("logistic", {"bound": 1e-12}),
    "makes 2 copies": ("logistic", {"copies": 2}),
    "at most 2\\*\\*19": ("logistic", {"noise": "exact", "multiplier": 2**21}),
}


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    schema = Schema("people", {"age": Integer(0, 100), "rich": Category(["no", "yes"])})
    parts = [Allotment("models", "plan", epsilon=50, delta=1e-5)]
    data = pyarrow.table({"age": [20, 30, 40, 50], "rich": ["no", "yes", "no", "yes"]})
    place = tmp_path_factory.mktemp("unfit") / "budget.db"
    return discreet.open(data, schema, ledger=place, budget=Budget(epsilon=50, delta=1e-5, allotments=parts), who="me")


@pytest.mark.parametrize("said", UNFIT)
def test_a_model_that_cannot_be_trained_is_refused_before_the_charge(said, curator):
    model, settings = UNFIT[said]
    left = curator.ledger.remaining("people", "models")
    asked = {"target": "rich", "examples": 4, "lot": 2, "steps": 2}
    with pytest.raises(InputError, match=said):
        curator.train(model, **asked, **{"multiplier": 3, **settings}).plan(delta=1e-6).release()
    if "multiplier" not in settings:
        tried = [{"rate": 0.1, **settings}, {"rate": 1.0}]
        with pytest.raises(InputError, match=said):
            curator.train(model, **asked).search(tried, epsilon=1, delta=1e-6).release()
    assert curator.ledger.remaining("people", "models") == left


def test_a_model_that_mixes_examples_is_refused():
    def normed(params, x):
        return (x - x.mean(axis=0)) @ params["w"] + params["b"]

    for noise in ("device", "exact"):
        with pytest.raises(InputError, match="example"):
            train(normed, cross_entropy, start(), examples(), recipe(noise=noise))


def test_the_length_of_the_data_is_not_looked_at():
    x, y = examples()
    train(linear, cross_entropy, start(), (x[:60], y[:60]), recipe(steps=1))
    assert replace(recipe(), steps=7).steps == 7


# Several devices, and no JAX


DEVICES = """
import numpy as np, jax, jax.numpy as jnp
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.train import train

def linear(params, x):
    return x @ params["w"]

assert len(jax.devices()) == 4
chance = np.random.default_rng(3)
x = chance.normal(size=(203, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
params = {"w": jnp.zeros((4, 2))}
for noise in ("device", "exact"):
    recipe = Recipe(examples=200, lot=50, steps=4, bound=1, multiplier=1, microbatch=18, ema=0.9, noise=noise)
    secret = bytes(32)
    alone = train(linear, cross_entropy, params, (x, y), recipe, secret=secret)
    split = train(linear, cross_entropy, params, (x, y), recipe, secret=secret, devices=jax.devices())
    assert len(split.params["w"].sharding.device_set) == 4
    assert np.allclose(alone.params["w"], split.params["w"], atol=1e-5)

def filtered(params, x):
    seen = jax.lax.conv_general_dilated(x.reshape(-1, 2, 2, 1), params["w"], (1, 1), "SAME", dimension_numbers=SHAPE)
    return jnp.tanh(seen).mean(axis=(1, 2))

SHAPE = ("NHWC", "HWIO", "NHWC")
params = {"w": jnp.asarray(chance.normal(size=(2, 2, 1, 2)).astype(np.float32))}
for noise, how in (("device", "auto"), ("device", "vmap"), ("exact", "auto")):
    recipe = Recipe(examples=200, lot=50, steps=2, bound=1, multiplier="1/100", microbatch=20, noise=noise, how=how)
    alone = train(filtered, cross_entropy, params, (x, y), recipe, secret=bytes(32))
    split = train(filtered, cross_entropy, params, (x, y), recipe, secret=bytes(32), devices=jax.devices())
    assert np.allclose(alone.params["w"], split.params["w"], atol=1e-4), (noise, how)
print("same")
"""


def test_several_devices_share_a_lot():
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu", "PATH": ""}
    run = subprocess.run([sys.executable, "-c", DEVICES], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.strip() == "same", run.stderr[-2000:]


def test_the_room_loads_no_jax_by_itself():
    code = "import sys, discreet.learn, discreet.learn.recipe, discreet.learn.lot; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_jax_the_extra_is_named():
    code = "import sys; sys.modules['jax'] = None\nimport discreet.learn.train"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'discreet[learn]'" in run.stderr


def test_noise_comes_in_single_precision_whatever_the_parameters_are():
    tree = with_noise({"a": jnp.zeros(3, jnp.bfloat16)}, device_key(SECRET, 0), 1.0)
    assert tree["a"].dtype == jnp.float32
