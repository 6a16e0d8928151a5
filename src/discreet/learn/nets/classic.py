"""The nets of the first experiments with private training: dense layers, or two convolutions and two dense layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from discreet.errors import InputError
from discreet.learn.nets.net import Array, Net, he

import jax  # isort: skip - after net, which names the extra that is missing
import jax.numpy as jnp  # isort: skip

__all__ = ["convolutional", "dense"]

_LAYOUT = ("NHWC", "HWIO", "NHWC")


def dense(sizes: Sequence[int], activation: Callable[[Array], Array] = jax.nn.relu) -> Net:
    """Layers of `sizes`, from the features to the classes, with `activation` between them."""
    if len(sizes) < 2 or any(size < 1 for size in sizes):
        raise InputError("sizes", sizes, "two or more whole numbers above zero")

    def init(key: Array) -> Any:
        keys = jax.random.split(key, len(sizes) - 1)
        layers = [_layer(one, shape) for one, shape in zip(keys, pairwise(sizes), strict=True)]
        layers[-1] = jax.tree.map(jnp.zeros_like, layers[-1])  # every class as likely as the next
        return layers

    def apply(params: Any, x: Array) -> Array:
        for layer in params[:-1]:
            x = activation(x @ layer["weights"] + layer["bias"])
        return x @ params[-1]["weights"] + params[-1]["bias"]

    return Net(init, apply)


def convolutional(
    shape: tuple[int, int, int],
    classes: int,
    *,
    filters: tuple[int, int] = (64, 64),
    kernel: int = 5,
    hidden: int = 384,
    activation: Callable[[Array], Array] = jax.nn.relu,
) -> Net:
    """Two convolutions, each followed by 2x2 pooling, and two dense layers, for images [height, width, colours]."""
    height, width, colours = shape
    if min(height, width) < 4:
        raise InputError("shape", shape, "images of at least 4 by 4 pixels")
    flat = (height // 4) * (width // 4) * filters[1]
    shapes = ((kernel, kernel, colours, filters[0]), (kernel, kernel, *filters), (flat, hidden), (hidden, classes))

    def init(key: Array) -> Any:
        layers = [_layer(one, shape) for one, shape in zip(jax.random.split(key, 4), shapes, strict=True)]
        layers[-1] = jax.tree.map(jnp.zeros_like, layers[-1])
        return layers

    def apply(params: Any, x: Array) -> Array:
        for layer in params[:2]:
            x = jax.lax.conv_general_dilated(x, layer["weights"], (1, 1), "SAME", dimension_numbers=_LAYOUT)
            x = activation(x + layer["bias"])
            x = x[:, : x.shape[1] // 2 * 2, : x.shape[2] // 2 * 2]
            x = x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, x.shape[3]).max(axis=(2, 4))
        x = x.reshape(x.shape[0], -1)
        x = activation(x @ params[2]["weights"] + params[2]["bias"])
        return x @ params[3]["weights"] + params[3]["bias"]

    return Net(init, apply)


def _layer(key: Array, shape: tuple[int, ...]) -> dict[str, Array]:
    return {"weights": he(key, shape), "bias": jnp.zeros(shape[-1])}
