"""Textures made by chance alone: untrained nets over noise, and random functions of the place in a picture.

No photograph is behind them. Everything is drawn from a key, so that the same key makes the same pictures anywhere. The
key is public: nothing private depends on these draws.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["SIZE", "coordinates", "grain", "shader"]

Array = Any
SIZE = 40
"""Pixels along each side: more than a net is shown, so that crops differ."""
_LAYOUT = ("NHWC", "HWIO", "NHWC")
_CHANNELS = 12  # of the nets that make grain
_SCALES = 4  # from SIZE / 8 to SIZE pixels
_FILTER = 5
_UNITS = 12  # of the nets that make shaders
_SMALL = 1e-3


def coordinates() -> tuple[Array, Array]:
    """Rows and columns of the pixels, counted from the middle."""
    line = jnp.arange(SIZE) - (SIZE - 1) / 2
    down, right = jnp.meshgrid(line, line, indexing="ij")
    return down, right


def _oriented(key: Array, inputs: int, outputs: int) -> Array:
    """Random filters that answer to edges and waves of one direction each."""
    turn, wave, phase, width, strength = jax.random.split(key, 5)
    shape = (inputs, outputs)
    angle = jax.random.uniform(turn, shape) * math.pi
    frequency = jax.random.uniform(wave, shape) ** 2 * 2.2
    start = jax.random.uniform(phase, shape) * 2 * math.pi
    spread = 0.6 + 1.4 * jax.random.uniform(width, shape)
    line = jnp.arange(_FILTER) - (_FILTER - 1) / 2
    down, right = (side[..., None, None] for side in jnp.meshgrid(line, line, indexing="ij"))
    along = right * jnp.cos(angle) + down * jnp.sin(angle)
    across = -right * jnp.sin(angle) + down * jnp.cos(angle)
    filters = jnp.exp(-(along**2 + 0.5 * across**2) / (2 * spread**2)) * jnp.cos(frequency * along + start)
    filters = filters / jnp.sqrt((filters**2).sum((0, 1), keepdims=True) + 1e-6)
    return filters * jax.random.normal(strength, shape) / math.sqrt(inputs)


def grain(key: Array, nets: int, each: int) -> Array:
    """`nets` times `each` textures: noise through untrained convolutional nets, from coarse to fine."""
    keys = iter(jax.random.split(key, 64))
    wide = nets * _CHANNELS
    side = SIZE // 2 ** (_SCALES - 1)
    x = jax.random.normal(next(keys), (each, side, side, wide))
    for scale in range(_SCALES):
        if scale:
            side *= 2
            x = jax.image.resize(x, (each, side, side, wide), "bilinear")
        edge = _FILTER // 2
        x = jnp.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)), mode="reflect")
        filters = _oriented(next(keys), _CHANNELS, wide)
        x = jax.lax.conv_general_dilated(
            x, filters, (1, 1), "VALID", dimension_numbers=_LAYOUT, feature_group_count=nets
        )
        specks = jnp.exp(jax.random.normal(next(keys), (wide,)) - 2.6)
        x = x + specks * jax.random.normal(next(keys), x.shape) + 0.5 * jax.random.normal(next(keys), (wide,))
        x = jnp.where(x > 0, x, 0.2 * x)
        x = (x - x.mean((1, 2), keepdims=True)) / (x.std((1, 2), keepdims=True) + _SMALL)
        style = (each, 1, 1, wide)
        x = x * jnp.exp(0.6 * jax.random.normal(next(keys), style)) + 0.6 * jax.random.normal(next(keys), style)
    brightness = jax.random.normal(next(keys), (1, 1, _CHANNELS, nets, 1))
    tint = 0.35 * jax.random.normal(next(keys), (1, 1, _CHANNELS, nets, 3))
    colours = (brightness + tint).reshape(1, 1, _CHANNELS, nets * 3) / math.sqrt(_CHANNELS)
    x = jax.lax.conv_general_dilated(x, colours, (1, 1), "VALID", dimension_numbers=_LAYOUT, feature_group_count=nets)
    x = x.reshape(each, SIZE, SIZE, nets, 3).transpose(3, 0, 1, 2, 4).reshape(nets * each, SIZE, SIZE, 3)
    return jax.random.permutation(next(keys), _exposed(next(keys), x), axis=0)


def shader(key: Array, count: int) -> Array:
    """`count` pictures of random functions of the place: small nets of waves, folds, steps and bumps."""
    keys = iter(jax.random.split(key, 32))
    down, right = (side.reshape(-1) / (SIZE / 2) for side in coordinates())
    place = jnp.stack([down, right, jnp.hypot(down, right), jnp.ones_like(down)], axis=-1)
    zoom = jnp.exp(0.7 * jax.random.normal(next(keys), (count, 1, 4)))
    x = jnp.broadcast_to(place, (count, *place.shape)) * zoom
    for layer in range(4):
        inputs = x.shape[-1]
        weights = jax.random.normal(next(keys), (count, inputs, _UNITS)) * (1.6 / math.sqrt(inputs))
        sparse = jax.random.bernoulli(next(keys), 0.6, weights.shape)
        x = jnp.einsum("bpi,bij->bpj", x, weights * sparse)
        x = x + 0.8 * jax.random.normal(next(keys), (count, 1, _UNITS))
        kind = jax.random.randint(next(keys), (count, 1, _UNITS), 0, 6)
        pitch = jnp.exp(0.5 * jax.random.normal(next(keys), (count, 1, _UNITS)) + (0.9 if layer == 0 else 0.3))
        shapes = (
            jnp.sin(pitch * x),
            jnp.tanh(x),
            jnp.abs(x) - 0.7,
            jnp.tanh(6 * jnp.sin(pitch * x)),
            2 * jnp.exp(-(x**2)) - 0.8,
            x * jnp.roll(x, 1, axis=-1),
        )
        x = jnp.stack([jnp.where(kind == index, shape, 0.0) for index, shape in enumerate(shapes)]).sum(axis=0)
    colours = jax.random.normal(next(keys), (count, _UNITS, 1)) + 0.5 * jax.random.normal(
        next(keys), (count, _UNITS, 3)
    )
    x = jnp.einsum("bpi,bic->bpc", jnp.clip(x, -4, 4), colours).reshape(count, SIZE, SIZE, 3)
    return _exposed(next(keys), x)


def _exposed(key: Array, x: Array) -> Array:
    """Pictures with a contrast and a mean of their own, as numbers from 0 to 1."""
    contrast, light, tint = jax.random.split(key, 3)
    count = x.shape[0]
    x = (x - x.mean((1, 2, 3), keepdims=True)) / (x.std((1, 2, 3), keepdims=True) + _SMALL)
    strength = 0.08 + 0.25 * jax.random.uniform(contrast, (count, 1, 1, 1))
    middle = 0.47 + 0.14 * jax.random.normal(light, (count, 1, 1, 1)) + 0.06 * jax.random.normal(tint, (count, 1, 1, 3))
    return jnp.clip(x * strength + middle, 0, 1)
