"""Several looks at one image: flips and shifts whose gradients are averaged before they are clipped."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.learn.nets.net import Array

import jax  # isort: skip - after net, which names the extra that is missing
import jax.numpy as jnp  # isort: skip

__all__ = ["flipped_and_shifted"]


def flipped_and_shifted(key: Array, images: Array, copies: int = 1, *, shift: int = 4) -> Array:
    """`copies` of every image, next to each other, each mirrored by a fair coin and moved by up to `shift` pixels.

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
    mirrored = jax.random.bernoulli(coin, 0.5, (many,))
    top = jax.random.randint(down, (many,), 0, 2 * shift + 1)
    left = jax.random.randint(right, (many,), 0, 2 * shift + 1)

    def look(index: Array, mirror: Array, y: Array, x: Array) -> Array:
        rows = y + jnp.arange(height)
        columns = x + jnp.where(mirror, width - 1 - jnp.arange(width), jnp.arange(width))
        return framed[index][rows[:, None], columns[None, :]]

    return jax.vmap(look)(jnp.repeat(jnp.arange(count), copies), mirrored, top, left)
