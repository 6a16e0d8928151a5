"""What turns a noisy gradient into a step: optimisers and schedules of optax under the names a recipe has for them.

An optimiser sees noisy gradients only, so whatever it does is free: any other of optax can be given to `train`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from discreet.errors import MissingExtraError
from discreet.learn.recipe import Recipe

try:
    import optax
except ImportError:
    raise MissingExtraError("learn", "optax") from None

__all__ = ["Optimizer", "corrected_adam", "optimizer_of", "rate_at"]

Rate = Callable[[Any], Any]
_FIRST, _SECOND = 0.9, 0.999  # decays of the moments
_SMALL = 1e-8
_FLOOR = 0.05  # of the variance of the noise: about what the second moment of pure noise wavers by


class Optimizer(Protocol):
    """What `train` needs of an optimiser: optax's pair of functions."""

    @property
    def init(self) -> Callable[..., Any]:
        """The first state."""
        ...

    @property
    def update(self) -> Callable[..., Any]:
        """The change of the parameters, and the next state."""
        ...


def rate_at(recipe: Recipe) -> Rate:
    """The learning rate of each step: it rises for `warmup` steps, then stays, or falls to zero at the end."""
    after: Rate
    falling = max(recipe.steps - recipe.warmup, 1)
    match recipe.schedule:
        case "cosine":
            after = optax.cosine_decay_schedule(recipe.rate, falling)
        case "linear":
            after = optax.linear_schedule(recipe.rate, 0.0, falling)
        case _:
            after = optax.constant_schedule(recipe.rate)
    if not recipe.warmup:
        return after
    rising = optax.linear_schedule(recipe.rate / (recipe.warmup + 1), recipe.rate, recipe.warmup)
    rate: Rate = optax.join_schedules([rising, after], [recipe.warmup])
    return rate


def optimizer_of(recipe: Recipe) -> Optimizer:
    """The optimiser a recipe names."""
    rate = rate_at(recipe)
    chosen: Optimizer
    match recipe.optimizer:
        case "adam":
            chosen = optax.adam(rate)
        case "adam-corrected":
            chosen = corrected_adam(rate, recipe.gradient_noise**2)
        case _:
            chosen = optax.sgd(rate, momentum=recipe.momentum or None)
    return chosen


class _Moments(NamedTuple):
    count: Any
    first: Any
    second: Any


def corrected_adam(rate: Rate, variance: float) -> Optimizer:
    """Adam whose second moment is without the variance of the noise, which is known (DP-AdamBC).

    Noise adds the same to the second moment of every entry, so plain Adam divides all entries by nearly the same number
    and is little more than momentum. What is left after subtraction is at least a twentieth of the variance:
    about as much as the estimate wavers by. It sees noisy gradients and public numbers only, so it is free.
    """
    least = _FLOOR * variance + _SMALL**2

    def init(params: Any) -> _Moments:
        return _Moments(jnp.zeros((), jnp.int32), _zeros(params), _zeros(params))

    def update(gradient: Any, state: _Moments, params: Any = None) -> tuple[Any, _Moments]:
        count = state.count + 1
        first = jax.tree.map(lambda m, g: _FIRST * m + (1 - _FIRST) * g, state.first, gradient)
        second = jax.tree.map(lambda v, g: _SECOND * v + (1 - _SECOND) * g * g, state.second, gradient)
        mean, square = 1 - _FIRST**count, 1 - _SECOND**count
        pace = rate(state.count)

        def change(m: Any, v: Any) -> Any:
            return -pace * (m / mean) / jnp.sqrt(jnp.maximum(v / square - variance, least))

        return jax.tree.map(change, first, second), _Moments(count, first, second)

    made: Optimizer = optax.GradientTransformation(init, update)
    return made


def _zeros(params: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, jnp.float32), params)
