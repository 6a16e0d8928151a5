"""A small model, its rows and a recipe, for the tests of training."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.keys import SECRET_BYTES
from discreet.learn.objective import cross_entropy
from discreet.learn.optimizer import optimizer_of
from discreet.learn.recipe import Recipe
from discreet.learn.step import Step
from discreet.learn.trainer import losses_of

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


def step_of(recipe, losses=None, **more):
    return Step(losses or losses_of(linear, cross_entropy), recipe, optimizer_of(recipe), **more)


def lines(params, x):
    return x @ params["w"]


def small(**more):
    """Losses, parameters and a recipe of a few steps, for runs that are saved."""
    own = Recipe(examples=50, lot=20, steps=4, bound=1, multiplier=1, ema=0.5, momentum=0.5, **more)
    return losses_of(lines, cross_entropy), {"w": np.zeros((3, 2), np.float32)}, own


def few():
    """The examples of `small`."""
    chance = np.random.default_rng(1)
    return chance.normal(size=(50, 3)).astype(np.float32), chance.integers(0, 2, 50).astype(np.int32)


def one_by_one(params, x, y, places, bound):
    """The sum of clipped gradients, by definition."""
    total = np.zeros(flat(params).shape)
    for place in places:
        row = jax.grad(lambda p, i=place: cross_entropy(linear(p, x[i : i + 1]), y[i : i + 1]).sum())(params)
        vector = flat(row).astype(np.float64)
        total += vector * min(1.0, bound / np.linalg.norm(vector))
    return total


def less_the_sum(params, x):
    """Mixes rows in a way that is not followed: each is compared with the sum of all it is shown with."""
    whole = jnp.zeros((1, x.shape[1])).at[jnp.zeros(x.shape[0], int)].add(x)
    return jax.lax.stop_gradient(x - whole) @ params
