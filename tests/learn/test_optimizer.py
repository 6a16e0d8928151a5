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
