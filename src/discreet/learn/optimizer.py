"""What turns a noisy gradient into a step: descent with momentum, or Adam; any optimiser of optax will do as well.

An optimiser is a pair of functions, as in optax: `init(params) -> state` and `update(gradient, state, params) ->
(change, state)`. It sees noisy gradients only, so whatever it does is free.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from discreet.learn.recipe import Recipe

__all__ = ["Optimizer", "adam", "optimizer_of", "rate_at", "sgd"]

Tree = Any
Rate = Callable[[Any], Any]


class Optimizer(Protocol):
    """What `train` asks of an optimiser."""

    @property
    def init(self) -> Callable[..., Any]:
        """The first state."""
        ...

    @property
    def update(self) -> Callable[..., Any]:
        """The change of the parameters, and the next state."""
        ...


class _Pair(NamedTuple):
    init: Callable[..., Any]
    update: Callable[..., Any]


def rate_at(recipe: Recipe) -> Rate:
    """The learning rate of each step: it rises for `warmup` steps, then stays, or falls to zero at the end."""

    def rate(step: Any) -> Any:
        done = jnp.clip((step - recipe.warmup) / max(recipe.steps - recipe.warmup, 1), 0.0, 1.0)
        match recipe.schedule:
            case "cosine":
                part = 0.5 * (1 + jnp.cos(math.pi * done))
            case "linear":
                part = 1 - done
            case _:
                part = jnp.ones_like(done)
        return recipe.rate * part * jnp.minimum(1.0, (step + 1) / (recipe.warmup + 1))

    return rate


def sgd(rate: Rate, momentum: float = 0.0) -> Optimizer:
    """Steps along the gradient, or along its decaying sum if there is `momentum`."""

    def init(params: Tree) -> Tree:
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params) if momentum else None

    def update(gradient: Tree, state: Tree, params: Tree = None) -> tuple[Tree, Tree]:
        step, moving = state
        if momentum:
            moving = jax.tree.map(lambda m, g: momentum * m + g, moving, gradient)
        way = moving if momentum else gradient
        return jax.tree.map(lambda g: -rate(step) * g, way), (step + 1, moving)

    return _Pair(init, update)


def adam(rate: Rate, first: float = 0.9, second: float = 0.999, small: float = 1e-8) -> Optimizer:
    """Steps of about the rate in every coordinate."""

    def init(params: Tree) -> Tree:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return jnp.zeros((), jnp.int32), zeros, zeros

    def update(gradient: Tree, state: Tree, params: Tree = None) -> tuple[Tree, Tree]:
        step, mean, square = state
        mean = jax.tree.map(lambda m, g: first * m + (1 - first) * g, mean, gradient)
        square = jax.tree.map(lambda v, g: second * v + (1 - second) * g * g, square, gradient)
        times = (step + 1).astype(jnp.float32)
        one, two = 1 - first**times, 1 - second**times
        change = jax.tree.map(lambda m, v: -rate(step) * (m / one) / (jnp.sqrt(v / two) + small), mean, square)
        return change, (step + 1, mean, square)

    return _Pair(init, update)


def optimizer_of(recipe: Recipe) -> Optimizer:
    """The optimiser a recipe names."""
    rate = rate_at(recipe)
    return adam(rate) if recipe.optimizer == "adam" else sgd(rate, recipe.momentum)
