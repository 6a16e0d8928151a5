"""What a net is shown of a picture: a part of it, mirrored or not, in other light and colours."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from discreet.learn.priors.textures import SIZE

__all__ = ["SEEN", "view"]

Array = Any
SEEN = 32
"""Pixels along each side of what a net is shown."""
_LEAST = 0.3  # of a picture that a crop shows
_GREY = (0.3, 0.59, 0.11)


def _resampling(start: Array, length: Array) -> Array:
    """For each picture the matrix that reads SEEN pixels evenly from the `length` ones after `start`."""
    place = start[:, None] + (jnp.arange(SEEN) + 0.5) / SEEN * length[:, None] - 0.5
    place = jnp.clip(place, 0, SIZE - 1)
    return jnp.maximum(0, 1 - jnp.abs(place[..., None] - jnp.arange(SIZE)))


def view(key: Array, pictures: Array) -> Array:
    """Each picture cropped, mirrored by a coin, and with brightness, contrast, saturation and hue moved."""
    count = pictures.shape[0]
    keys = iter(jax.random.split(key, 12))
    single = (count, 1, 1, 1)

    def around(most: float, shape: tuple[int, ...] = single) -> Array:
        return most * (2 * jax.random.uniform(next(keys), shape) - 1)

    area = _LEAST + (1 - _LEAST) * jax.random.uniform(next(keys), (count,))
    aspect = jnp.exp(around(0.28, (count,)))
    height, width = (jnp.clip(jnp.sqrt(area) * side, 0, 1) * SIZE for side in (aspect, 1 / aspect))
    top, left = (jax.random.uniform(next(keys), (count,)) * (SIZE - side) for side in (height, width))
    x = jnp.einsum("bip,bpqc,bjq->bijc", _resampling(top, height), pictures, _resampling(left, width))
    x = jnp.where(jax.random.bernoulli(next(keys), 0.5, single), x[:, :, ::-1], x)
    x = x * (1 + around(0.4))
    mean = x.mean((1, 2, 3), keepdims=True)
    x = (x - mean) * (1 + around(0.4)) + mean
    grey = (x * jnp.array(_GREY)).sum(-1, keepdims=True)
    colours = (x - grey) * (1 + around(0.4))
    colours = jnp.einsum("bijc,bdc->bijd", colours, _turned(around(0.2 * math.pi, (count,))))
    coloured = jnp.where(jax.random.bernoulli(next(keys), 0.2, single), 0.0, 1.0)
    return jnp.clip(grey + coloured * colours, 0, 1)


def _turned(angle: Array) -> Array:
    """Rotations of colours about the grey axis."""
    axis = jnp.ones(3) / math.sqrt(3)
    cross = jnp.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]) / math.sqrt(3)
    cosine, sine = (wave(angle)[:, None, None] for wave in (jnp.cos, jnp.sin))
    return cosine * jnp.eye(3) + sine * cross + (1 - cosine) * jnp.outer(axis, axis)
