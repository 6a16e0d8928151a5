"""Optimisers and schedules by optax do what the recipe says, as 0.1 computed it by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import math
import subprocess
import sys

import numpy as np

from discreet.learn.optimizer import optimizer_of, rate_at
from discreet.learn.recipe import Recipe


def recipe(**more):
    return Recipe(**{"examples": 1000, "lot": 50, "steps": 100, "bound": 1, "multiplier": 1, **more})


def written_rate(recipe, step):
    """The formula of 0.1."""
    done = min(max((step - recipe.warmup) / max(recipe.steps - recipe.warmup, 1), 0.0), 1.0)
    part = {"cosine": 0.5 * (1 + math.cos(math.pi * done)), "linear": 1 - done, "constant": 1.0}[recipe.schedule]
    return recipe.rate * part * min(1.0, (step + 1) / (recipe.warmup + 1))


def written_steps(recipe, gradients):
    """Descent with momentum, and Adam, as their papers have them."""
    one, two = np.zeros(3), np.zeros(3)
    for step, gradient in enumerate(gradients):
        rate = written_rate(recipe, step)
        if recipe.optimizer == "sgd":
            one = recipe.momentum * one + gradient
            yield -rate * one
        else:
            one, two = 0.9 * one + 0.1 * gradient, 0.999 * two + 0.001 * gradient**2
            yield -rate * (one / (1 - 0.9 ** (step + 1))) / (np.sqrt(two / (1 - 0.999 ** (step + 1))) + 1e-8)


@pytest.mark.parametrize("schedule", ["constant", "cosine", "linear"])
@pytest.mark.parametrize("warmup", [0, 1, 9, 99, 150])
def test_rates_are_those_of_0_1(schedule, warmup):
    one = recipe(rate=2.0, schedule=schedule, warmup=warmup)
    rate = rate_at(one)
    for step in (0, 1, 8, 9, 10, 50, 98, 99):
        assert math.isclose(float(rate(step)), written_rate(one, step), rel_tol=1e-5, abs_tol=1e-6)


def test_rates_rise_stay_and_fall():
    rate = rate_at(recipe(rate=2.0, schedule="cosine", warmup=9))
    assert math.isclose(float(rate(0)), 0.2, rel_tol=1e-5)
    assert math.isclose(float(rate(9)), 2.0, rel_tol=1e-5)
    assert float(rate(99)) < 0.01


@pytest.mark.parametrize("named", [{"optimizer": "adam"}, {}, {"momentum": 0.9}])
@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_steps_are_those_of_0_1(named, schedule):
    one = recipe(rate=0.3, warmup=2, schedule=schedule, **named)
    optimizer = optimizer_of(one)
    params = {"w": np.ones(3, np.float32)}
    gradients = [np.array([1.0, -step, 0.1], np.float32) for step in range(6)]
    state = optimizer.init(params)
    for gradient, expected in zip(gradients, written_steps(one, gradients), strict=True):
        change, state = optimizer.update({"w": gradient}, state, params)
        assert np.allclose(change["w"], expected, rtol=1e-5, atol=1e-6)


def test_a_missing_optax_is_named_with_the_command_that_installs_it():
    program = "import sys; sys.modules['optax'] = None; from discreet.learn import train"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode
    assert "optax is needed here" in run.stderr
    assert "discreet[learn]" in run.stderr


def test_adam_corrected_is_adam_without_the_variance_of_the_noise():
    one = recipe(optimizer="adam-corrected", rate=0.5, multiplier=4)
    variance = (4 / 50) ** 2
    assert one.gradient_noise**2 == pytest.approx(variance)
    made, chance = optimizer_of(one), np.random.default_rng(0)
    params = {"w": np.zeros(3, np.float32)}
    state, first, second = made.init(params), np.zeros(3), np.zeros(3)
    for step in range(30):
        gradient = chance.normal(size=3) * (0.01, 0.1, 1.0)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        left = np.maximum(second / (1 - 0.999 ** (step + 1)) - variance, 0.05 * variance)
        change, state = made.update({"w": gradient.astype(np.float32)}, state, params)
        assert np.allclose(change["w"], -0.5 * first / (1 - 0.9 ** (step + 1)) / np.sqrt(left), rtol=1e-3)


def test_small_gradients_under_noise_move_as_far_as_large_ones():
    """What the correction is for; the twin, plain Adam, moves them by their share of the noise."""
    chance = np.random.default_rng(1)
    size = np.repeat([0.05, 0.5], 2000).astype(np.float32)
    moved = {}
    for name in ("adam", "adam-corrected"):
        one = recipe(optimizer=name, multiplier=10, rate=1.0)
        made, params = optimizer_of(one), {"w": np.zeros(4000, np.float32)}
        state, total = made.init(params), np.zeros(4000)
        for _ in range(300):
            noisy = size + chance.normal(size=4000).astype(np.float32) * one.gradient_noise
            change, state = made.update({"w": noisy}, state, params)
            total -= np.asarray(change["w"])
        moved[name] = total[:2000].mean() / total[2000:].mean()
    assert moved["adam"] < 0.35
    assert moved["adam-corrected"] > 0.6
