"""Noise on sums of gradients: Gaussian of the stated scale, exact on the integers, fresh each step."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats
from train_steps import OTHER, SECRET, flat, recipe, step_of

from chance import LEVEL, fits, gaussian_pmf, mean_fits
from discreet.errors import InputError
from discreet.learn import noise as noise_module
from discreet.learn.noise import (
    MIDDLE,
    SMALL,
    add_noise,
    device_key,
    exact_noise,
    settle_noise,
)
from discreet.learn.recipe import Recipe
from discreet.learn.sampler import (
    draw_integers,
    lattice_length,
)


def moved_vectors(noise, steps=300, size=(40, 10), **more):
    """The noise of many steps, in units of its stated scale."""
    params = {"w": jnp.zeros(size)}
    one = recipe(noise=noise, multiplier="13/10", bound=0.7, **more)
    step = step_of(one, losses=lambda p, b: b.sum(axis=1))
    drawn = [
        flat(step.add_noise(step._nothing(params), params, SECRET, number)[0]) / (1.3 * 0.7 * one.widened)
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


def test_noise_comes_in_single_precision_whatever_the_parameters_are():
    tree = add_noise({"a": jnp.zeros(3, jnp.bfloat16)}, device_key(SECRET, 0), 1.0, Fraction(1))
    assert tree["a"].dtype == jnp.float32


def test_what_comes_out_is_whole_steps_of_the_rounded_sum_and_noise():
    keys, multiplier = device_key(SECRET, 1), Fraction(1)
    steps = lattice_length(multiplier, 4)
    sums = jnp.asarray([0.0, 1e-9, 3.0, -2.5])
    noisy = np.asarray(add_noise(sums, keys, 1.0, multiplier), dtype=np.float64) * steps
    near = np.asarray(add_noise(sums + 1e-9, keys, 1.0, multiplier), dtype=np.float64) * steps
    drawn = np.asarray(draw_integers(keys, 4), dtype=np.float64)
    assert np.allclose(noisy, np.rint(np.asarray(sums, dtype=np.float64) * steps) + drawn, rtol=1e-6, atol=2)
    assert np.array_equal(noisy, near)  # less than half a step is not seen at all


@pytest.mark.parametrize("size", [0.0, 1e5, 3e9, 2.0**40, -7e8])
def test_sums_of_any_size_are_added_exactly(size):
    value = np.float32(size)
    found = noise_module._added(jnp.full(3, value), jnp.asarray([-5000, 1, 4097], jnp.int32))
    exact = np.float64(value) + np.array([-5000, 1, 4097])
    assert np.allclose(np.asarray(found, dtype=np.float64), exact, rtol=2e-7)
    assert np.isfinite(np.asarray(noise_module._added(jnp.asarray([np.nan, np.inf]), jnp.zeros(2, jnp.int32)))).all()


def test_noise_that_is_not_named_is_exact_for_small_models_and_on_a_cpu(monkeypatch):
    small, middle, large = ({"w": np.zeros(size)} for size in (SMALL, MIDDLE, MIDDLE + 1))
    assert [settle_noise(recipe(), one).noise for one in (small, middle, large)] == ["exact", "exact", "device"]
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert [settle_noise(recipe(), one).noise for one in (small, middle, large)] == ["exact", "device", "device"]
    for named in ("device", "exact"):
        assert settle_noise(recipe(noise=named), large).noise == named


def test_lots_whose_sums_single_precision_cannot_hold_take_exact_noise():
    large = {"examples": 100_000, "lot": 2**14 + 1, "steps": 1, "bound": 1, "multiplier": 1}
    with pytest.raises(InputError, match="16,384"):
        Recipe(**large, noise="device")
    many = {"w": np.zeros(2_000_000, np.float32)}  # a model that is large enough for the device
    assert settle_noise(Recipe(**large), many).noise == "exact"
    assert settle_noise(Recipe(**{**large, "lot": 2**14}), many).noise == "device"
