"""Wide residual nets that train privately: group norm instead of batch norm, so that no example sees another."""

from __future__ import annotations

import math
from typing import Any

from discreet.errors import InputError
from discreet.learn.nets.net import Array, Net, he

import jax  # isort: skip - after net, which names the extra that is missing
import jax.numpy as jnp  # isort: skip

__all__ = ["wide_residual"]

_LAYOUT = ("NHWC", "HWIO", "NHWC")
_SMALL = 1e-5


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
        parts = {"weights": he(key, shape)}
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
