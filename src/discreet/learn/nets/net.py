"""A net as two pure functions, and the loss that classifiers are trained with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.errors import MissingExtraError

try:
    import jax
    import jax.numpy as jnp
except ImportError as missing:  # pragma: no cover - the test without extras sees it
    raise MissingExtraError("learn", "jax") from missing

__all__ = ["Array", "Net", "cross_entropy", "he", "parameters_of"]

Array = Any


@dataclass(frozen=True)
class Net:
    """`init(key)` gives the first parameters, `apply(params, x)` the outputs for a batch; no state between the two."""

    init: Callable[[Array], Any]
    apply: Callable[[Any, Array], Array]


def he(key: Array, shape: tuple[int, ...]) -> Array:
    """Normal weights whose size suits ReLU: the last axis is what comes out, all others are what goes in.

    Where training starts is public: nothing private depends on these draws.
    """
    return jax.random.normal(key, shape) * math.sqrt(2 / max(1, math.prod(shape[:-1])))


def cross_entropy(outputs: Array, labels: Array) -> Array:
    """How many nats each label surprises by, one number an example."""
    chances = jax.nn.log_softmax(outputs.astype(jnp.float32))
    return -jnp.take_along_axis(chances, labels[:, None], axis=1)[:, 0]


def parameters_of(params: Any) -> int:
    """How many numbers a net has to learn."""
    return sum(leaf.size for leaf in jax.tree.leaves(params))
