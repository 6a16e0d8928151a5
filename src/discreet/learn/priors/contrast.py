"""Learning to see from made-up pictures: of many pictures, which two are of the same thing?

The contrastive loss of SimCLR (Chen et al. 2020) on pairs from `taken_twice`. Nothing private is read and nothing is
charged: what comes out is a public place for private training to start from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from discreet.core.progress import notify
from discreet.errors import MissingExtraError
from discreet.learn.nets import Net
from discreet.learn.priors.pictures import taken_twice
from discreet.learn.priors.views import view

try:
    import optax
except ImportError:
    raise MissingExtraError("learn", "optax") from None

__all__ = ["contrastive_loss", "features_of", "gauged", "learn_to_see", "scaled"]

Array = Any
Tree = Any
_HIDDEN, _OUT = 512, 128  # of the projection that the loss is taken on; thrown away afterwards
_TEMPERATURE = 0.2
_RATE, _WARMUP, _DECAY = 2e-3, 200, 1e-4
_RIDGE = 0.1  # of the mean variance of features, added to all before they are evened out


def scaled(x: Array) -> Array:
    """Numbers from 0 to 1 as a net is shown them: around zero."""
    return (x - 0.5) * 4


def features_of(net: Net, body: Tree, x: Array) -> Array:
    """What a wide residual net makes of pictures before its head."""
    width = body["norm"]["scale"].shape[0]
    head = {"weights": jnp.eye(width), "bias": jnp.zeros(width)}
    return net.apply({**body, "head": head}, scaled(x))


def contrastive_loss(projected: Array) -> Array:
    """How badly rows find their partner: row i belongs to row i + n/2, and all others are strangers."""
    count = projected.shape[0]
    rows = projected / (jnp.linalg.norm(projected, axis=1, keepdims=True) + 1e-6)
    likeness = rows @ rows.T / _TEMPERATURE - 1e9 * jnp.eye(count)
    partner = jnp.roll(jnp.arange(count), count // 2)
    return -jnp.take_along_axis(jax.nn.log_softmax(likeness), partner[:, None], axis=1).mean()


def learn_to_see(
    net: Net,
    *,
    steps: int,
    batch: int = 1536,
    seed: int = 0,
    after: Callable[[int, float], None] | None = None,
) -> Tree:
    """The body of a net with a head, after `steps` steps on `batch` fresh scenes each."""
    key = jax.random.key(seed)  # public, as the scenes are: nothing private depends on these draws
    params = net.init(key)
    width = params["head"]["weights"].shape[0]
    body = {name: part for name, part in params.items() if name != "head"}
    first, second = jax.random.split(jax.random.fold_in(key, 1))
    trained = {
        "body": body,
        # Where training starts is public: nothing private depends on these draws.
        "hidden": jax.random.normal(first, (width, _HIDDEN)) / math.sqrt(width),
        "bias": jnp.zeros(_HIDDEN),
        "out": jax.random.normal(second, (_HIDDEN, _OUT)) / math.sqrt(_HIDDEN),
    }
    rate = optax.warmup_cosine_decay_schedule(0.0, _RATE, min(_WARMUP, steps // 4), steps)
    optimizer = optax.adamw(rate, b2=0.98, weight_decay=_DECAY)
    state = optimizer.init(trained)

    def loss(trained: Tree, pictures: Array) -> Array:
        features = features_of(net, trained["body"], pictures)
        return contrastive_loss(jax.nn.relu(features @ trained["hidden"] + trained["bias"]) @ trained["out"])

    @jax.jit
    def step(trained: Tree, state: Tree, index: Array) -> tuple[Tree, Tree, Array]:
        scene, left, right = jax.random.split(jax.random.fold_in(key, 2 + index), 3)
        one, other = taken_twice(scene, batch)
        pictures = jnp.concatenate([view(left, one), view(right, other)])
        value, gradient = jax.value_and_grad(loss)(trained, pictures)
        change, state = optimizer.update(gradient, state, trained)
        return optax.apply_updates(trained, change), state, value

    for index in range(steps):
        trained, state, value = step(trained, state, index)
        if (index + 1) % max(1, steps // 100) == 0:
            notify("learning to see", (index + 1) / steps)
            if after is not None:
                after(index + 1, float(value))
    return trained["body"]


def gauged(net: Net, body: Tree, scenes: int, batch: int = 200, seed: int = 0) -> tuple[Array, Array]:
    """The mean of what a net sees in made-up scenes, and the matrix that evens its spread out around it."""
    key = jax.random.key(seed)

    @jax.jit
    def seen(index: Array) -> Array:
        scene, crop = jax.random.split(jax.random.fold_in(key, index))
        return features_of(net, body, view(crop, taken_twice(scene, batch)[0]))

    features = jnp.concatenate([seen(index) for index in range(-(-scenes // batch))])
    mean = features.mean(axis=0)
    spread, axes = jnp.linalg.eigh(jnp.cov((features - mean).T))
    return mean, axes / jnp.sqrt(spread + _RIDGE * spread.mean())
