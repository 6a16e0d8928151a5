"""A small model, its rows and a recipe, for the tests of training."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.learn.keys import SECRET_BYTES
from discreet.learn.recipe import Recipe

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from discreet.learn.objective import cross_entropy  # noqa: E402
from discreet.learn.optimizer import optimizer_of  # noqa: E402
from discreet.learn.step import Step  # noqa: E402
from discreet.learn.trainer import losses_of  # noqa: E402

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
