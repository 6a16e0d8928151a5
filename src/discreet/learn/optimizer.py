"""What turns a noisy gradient into a step: optimisers and schedules of optax under the names a recipe has for them.

An optimiser sees noisy gradients only, so whatever it does is free: any other of optax can be given to `train`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from discreet.errors import MissingExtraError
from discreet.learn.recipe import Recipe

try:
    import optax
except ImportError:
    raise MissingExtraError("learn", "optax") from None

__all__ = ["Optimizer", "optimizer_of", "rate_at"]

Rate = Callable[[Any], Any]


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
    chosen: Optimizer = (
        optax.adam(rate) if recipe.optimizer == "adam" else optax.sgd(rate, momentum=recipe.momentum or None)
    )
    return chosen
