"""Networks to start from: dense, convolutional and wide residual ones in which no example sees another.

A net is two pure functions, so any of them is a model for `discreet.learn.train` or for `DPSGDClassifier(model=...)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp

from discreet.errors import InputError

__all__ = ["Net", "convolutional", "dense", "flipped_and_shifted", "wide_residual"]

Array = Any
_LAYOUT = ("NHWC", "HWIO", "NHWC")
_SMALL = 1e-5


@dataclass(frozen=True)
class Net:
    """`init(key)` gives the first parameters, `apply(params, x)` the outputs for a batch; no state between the two."""

    init: Callable[[Array], Any]
    apply: Callable[[Any, Array], Array]


def _he(key: Array, shape: tuple[int, ...]) -> Array:
    """Normal weights whose size suits ReLU: the last axis is what comes out, all others are what goes in.

    Where training starts is public: nothing private depends on these draws.
    """
    return jax.random.normal(key, shape) * math.sqrt(2 / max(1, math.prod(shape[:-1])))


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
    return {"weights": _he(key, shape), "bias": jnp.zeros(shape[-1])}


def wide_residual(
    depth: int = 16,
    width: int = 4,
    *,
    classes: int = 10,
    colours: int = 3,
    groups: int = 16,
    standardise: bool = False,
    low_precision: bool = False,
) -> Net:
    """A WRN-`depth`-`width`: three stages of residual blocks of two convolutions each, group norm and ReLU before each.

    `standardise` gives every filter mean zero and length one times a learned gain before it is used. `low_precision`
    carries activations as bfloat16; parameters, norms and sums stay float32.
    """
    blocks, left = divmod(depth - 4, 6)
    if left or blocks < 1:
        raise InputError("depth", depth, "4 more than a multiple of 6, such as 10, 16, 22, 28, 40")
    if width < 1:
        raise InputError("width", width, "a whole number above zero")
    stages = [16 * width, 32 * width, 64 * width]
    if any(size % min(groups, size) for size in (16, *stages)) or groups < 1:
        raise InputError("groups", groups, "a divisor of the numbers of channels, such as 16")
    plan = [
        (before, size, 2 if stage and not block else 1)
        for stage, size in enumerate(stages)
        for block, before in enumerate([([16, *stages][stage]), *[size] * (blocks - 1)])
    ]
    kind = jnp.bfloat16 if low_precision else jnp.float32

    def init(key: Array) -> Any:
        keys = iter(jax.random.split(key, 2 + 3 * len(plan)))
        body = []
        for before, size, step in plan:
            block = {
                "norm1": _norm_parts(before),
                "conv1": _filters(next(keys), (3, 3, before, size)),
                "norm2": _norm_parts(size),
                "conv2": _filters(next(keys), (3, 3, size, size)),
            }
            if before != size or step != 1:
                block["across"] = _filters(next(keys), (1, 1, before, size))
            body.append(block)
        return {
            "stem": _filters(next(keys), (3, 3, colours, 16)),
            "body": body,
            "norm": _norm_parts(stages[-1]),
            "head": {"weights": jnp.zeros((stages[-1], classes)), "bias": jnp.zeros(classes)},
        }

    def _filters(key: Array, shape: tuple[int, ...]) -> dict[str, Array]:
        parts = {"weights": _he(key, shape)}
        return {**parts, "gain": jnp.ones(shape[-1])} if standardise else parts

    def convolved(x: Array, filters: dict[str, Array], step: int = 1) -> Array:
        weights = filters["weights"]
        if standardise:
            weights = _standardised(weights) * filters["gain"]
        weights = weights.astype(kind)
        return jax.lax.conv_general_dilated(x, weights, (step, step), "SAME", dimension_numbers=_LAYOUT)

    def normed(x: Array, parts: dict[str, Array]) -> Array:
        x = _grouped(x.astype(jnp.float32), min(groups, x.shape[-1]))
        return jax.nn.relu(x * parts["scale"] + parts["offset"]).astype(kind)

    def apply(params: Any, x: Array) -> Array:
        x = convolved(x.astype(kind), params["stem"])
        for block, (_, _, step) in zip(params["body"], plan, strict=True):
            ready = normed(x, block["norm1"])
            past = convolved(ready, block["across"], step) if "across" in block else x
            inner = convolved(ready, block["conv1"], step)
            x = past + convolved(normed(inner, block["norm2"]), block["conv2"])
        x = normed(x, params["norm"]).astype(jnp.float32).mean(axis=(1, 2))
        return x @ params["head"]["weights"] + params["head"]["bias"]

    return Net(init, apply)


def _norm_parts(size: int) -> dict[str, Array]:
    return {"scale": jnp.ones(size), "offset": jnp.zeros(size)}


def _grouped(x: Array, groups: int) -> Array:
    """Mean zero and variance one within each example's groups of channels."""
    count, height, width, channels = x.shape
    parts = x.reshape(count, height * width, groups, channels // groups)
    mean = parts.mean(axis=(1, 3), keepdims=True)
    spread = jnp.square(parts - mean).mean(axis=(1, 3), keepdims=True)
    return ((parts - mean) * jax.lax.rsqrt(spread + _SMALL)).reshape(x.shape)


def _standardised(weights: Array) -> Array:
    """Each filter with mean zero and length root two: what suits ReLU, whatever the filter has grown to."""
    centred = weights - weights.mean(axis=(0, 1, 2), keepdims=True)
    length = jnp.square(centred).sum(axis=(0, 1, 2), keepdims=True)
    return centred * math.sqrt(2) * jax.lax.rsqrt(length + _SMALL)


def flipped_and_shifted(key: Array, images: Array, copies: int = 1, *, shift: int = 4, mirror: bool = True) -> Array:
    """`copies` of every image, next to each other, each mirrored by a fair coin and moved by up to `shift` pixels.

    Without `mirror` none is mirrored: letters, say, are others then.

    What is moved in from outside is the mirrored edge. Which looks are drawn depends on `key` alone, never on pixels,
    and an example's looks are its own: they change nothing about what one example can do to a sum.
    """
    if copies < 1:
        raise InputError("copies", copies, "a whole number above zero")
    count, height, width, _ = images.shape
    many = count * copies
    coin, down, right = jax.random.split(key, 3)
    around = ((0, 0), (shift, shift), (shift, shift), (0, 0))
    framed = jnp.pad(images, around, mode="reflect" if shift else "constant")
    mirrored = jax.random.bernoulli(coin, 0.5 if mirror else 0.0, (many,))
    top = jax.random.randint(down, (many,), 0, 2 * shift + 1)
    left = jax.random.randint(right, (many,), 0, 2 * shift + 1)

    def look(index: Array, mirror: Array, y: Array, x: Array) -> Array:
        rows = y + jnp.arange(height)
        columns = x + jnp.where(mirror, width - 1 - jnp.arange(width), jnp.arange(width))
        return framed[index][rows[:, None], columns[None, :]]

    return jax.vmap(look)(jnp.repeat(jnp.arange(count), copies), mirrored, top, left)
