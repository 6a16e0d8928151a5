"""Pictures of things that there are not: shapes with parts, shade and texture, on a ground, each taken twice.

`taken_twice` gives two pictures of the same things: from elsewhere, bent, in other light, often on another ground. A
net that learns which two belong together has to see the thing. Draws come from a key that is public: nothing private
depends on them.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from discreet.learn.priors.textures import SIZE, coordinates, grain, shader

__all__ = ["bent", "leaves", "pictures_of_things", "taken_twice"]

Array = Any
_EXPONENTS = (1.0, 1.4, 2.0, 2.0, 5.0)  # of superellipses: diamonds, discs, boxes
_PARTS, _DETAILS = 5, 4
_LEAVES = 14
_EACH = 8  # textures of one untrained net


def taken_twice(key: Array, count: int) -> tuple[Array, Array]:
    """Two pictures each of `count` scenes: things, fallen leaves, and textures alone."""
    texture, mixed, thing, leaf, chosen, bend = jax.random.split(key, 6)
    nets = max(1, count // (2 * _EACH))
    fine = grain(texture, nets, _EACH)
    base = jnp.concatenate([fine, shader(mixed, count - len(fine))])
    base = jax.random.permutation(jax.random.fold_in(mixed, 1), base, axis=0)
    first, second = pictures_of_things(thing, base)
    fallen = leaves(leaf, base)
    kind = jax.random.uniform(chosen, (count, 1, 1, 1))
    still = jnp.where(kind < 0.88, fallen, base)
    once, again = jax.random.split(bend)
    pictures = (jnp.where(kind < 0.65, taken, still) for taken in (first, second))
    return tuple(bent(own, picture) for own, picture in zip((once, again), pictures, strict=True))


def _other(key: Array, base: Array) -> Array:
    """The same textures in another order."""
    return jnp.roll(base, jax.random.randint(key, (), 1, base.shape[0]), axis=0)


def _superellipse(x: Array, y: Array, radius: Array, aspect: Array, angle: Array, exponent: Array) -> Array:
    """How far inside a shape each pixel is, from 0 to 1, and the place within it."""
    along = (x * jnp.cos(angle) + y * jnp.sin(angle)) / (radius * aspect)
    across = (-x * jnp.sin(angle) + y * jnp.cos(angle)) / (radius / aspect)
    distance = (jnp.abs(along) ** exponent + jnp.abs(across) ** exponent + 1e-9) ** (1 / exponent)
    return jax.nn.sigmoid((1 - distance) * radius * 3)[..., None], along, across


def pictures_of_things(key: Array, base: Array) -> tuple[Array, Array]:
    """Two pictures of each of as many things as there are textures: parts in one palette, often mirrored, shaded."""
    count = base.shape[0]
    keys = iter(jax.random.split(key, 24))
    one = (count, 1, 1)

    def uniform(least: float, most: float, shape: tuple[int, ...] = one) -> Array:
        return least + (most - least) * jax.random.uniform(next(keys), shape)

    def normal(spread: float, shape: tuple[int, ...] = one) -> Array:
        return spread * jax.random.normal(next(keys), shape)

    many = _PARTS + _DETAILS
    small = jnp.where(jnp.arange(many) < _PARTS, 1.0, 0.35)[:, None, None, None]
    first = (jnp.arange(many) == 0)[:, None, None, None]
    several = (many, *one)
    size = uniform(6, 14)
    parts = {
        "x": jnp.where(first, 0.0, normal(0.75, several)) * size,
        "y": jnp.where(first, 0.0, normal(0.75, several)) * size,
        "radius": jnp.maximum(size * small * uniform(0.3, 0.95, several), 1.2),
        "aspect": jnp.exp(normal(0.55, several)),
        "angle": uniform(0, math.pi, several),
        "exponent": jnp.array(_EXPONENTS)[jax.random.randint(next(keys), several, 0, len(_EXPONENTS))],
        "shade": normal(0.1, (*several, 1)) + jnp.where(small[..., None] < 1, 0.2, 0.05) * normal(1.0, (*several, 3)),
        "inner": uniform(0, 1, (*several, 1)) < 0.35,  # drawn in the thing's second texture
    }
    mirror = jax.random.bernoulli(next(keys), 0.6, one)
    skins = []
    for _ in range(2):
        fill = _other(next(keys), base)
        flat = fill.mean((1, 2), keepdims=True)
        colour = normal(0.22, (count, 1, 1, 1)) + normal(0.12, (count, 1, 1, 3))
        skins.append(flat + (fill - flat) * uniform(0, 1, (count, 1, 1, 1)) + colour)
    shared = jax.random.bernoulli(next(keys), 0.3, (count, 1, 1, 1))
    looks = []
    for turn in range(2):
        ground = _other(jax.random.fold_in(next(keys), turn), base)
        ground = jnp.where(shared, base, ground)
        looks.append(_seen(next(keys), parts, skins, mirror, ground))
    return looks[0], looks[1]


def _seen(key: Array, parts: dict[str, Array], skins: list[Array], mirror: Array, ground: Array) -> Array:
    """The things from somewhere: moved, turned, nearer or farther, sheared, in a light of its own."""
    count = ground.shape[0]
    keys = iter(jax.random.split(key, 12))
    one = (count, 1, 1)
    down, right = coordinates()
    x = right - 5 * jax.random.normal(next(keys), one)
    y = down - 5 * jax.random.normal(next(keys), one)
    tilt = 0.4 * jax.random.normal(next(keys), one)
    scale = jnp.exp(0.25 * jax.random.normal(next(keys), one))
    stretch = jnp.exp(0.2 * jax.random.normal(next(keys), one))
    x, y = (
        (x * jnp.cos(tilt) + y * jnp.sin(tilt)) / (scale * stretch),
        (-x * jnp.sin(tilt) + y * jnp.cos(tilt)) / scale * stretch,
    )
    x = x + 0.25 * jax.random.normal(next(keys), one) * y
    x = jnp.where(mirror, jnp.abs(x), x)
    light = jax.random.uniform(next(keys), one) * 2 * math.pi
    strength = 0.1 + 0.25 * jax.random.uniform(next(keys), one)
    flat = ground.mean((1, 2), keepdims=True)
    calm = 0.3 + 0.7 * jax.random.uniform(next(keys), (count, 1, 1, 1))
    picture = flat + (ground - flat) * calm
    moved = 0.06 * jax.random.normal(next(keys), (count, 1, 1, 3))

    def drawn(picture: Array, part: dict[str, Array]) -> tuple[Array, None]:
        mask, along, across = _superellipse(
            x - part["x"], y - part["y"], part["radius"], part["aspect"], part["angle"], part["exponent"]
        )
        shade = (strength * (along * jnp.cos(light) + across * jnp.sin(light)))[..., None]
        skin = jnp.where(part["inner"], skins[1], skins[0])
        return picture * (1 - mask) + jnp.clip(skin + part["shade"] + shade + moved, 0, 1) * mask, None

    return jax.lax.scan(drawn, picture, parts)[0]


def leaves(key: Array, base: Array) -> Array:
    """Shapes of all sizes fallen on each other, each filled with another texture."""
    count = base.shape[0]
    down, right = coordinates()
    one = (count, 1, 1)

    def dropped(picture: Array, key: Array) -> tuple[Array, None]:
        keys = jax.random.split(key, 9)
        x, y = (
            side - (jax.random.uniform(own, one) - 0.5) * SIZE for side, own in zip((right, down), keys, strict=False)
        )
        radius = 3.0 / jnp.sqrt(jax.random.uniform(keys[2], one, minval=3.0**2 / 18.0**2))
        aspect = jnp.exp(0.5 * jax.random.normal(keys[3], one))
        angle = jax.random.uniform(keys[4], one) * math.pi
        exponent = jnp.array(_EXPONENTS)[jax.random.randint(keys[5], one, 0, len(_EXPONENTS))]
        mask, _, _ = _superellipse(x, y, radius, aspect, angle, exponent)
        colour = 0.22 * jax.random.normal(keys[7], (count, 1, 1, 1)) + 0.1 * jax.random.normal(
            keys[8], (count, 1, 1, 3)
        )
        return picture * (1 - mask) + jnp.clip(_other(keys[6], base) + colour, 0, 1) * mask, None

    return jax.lax.scan(dropped, base, jax.random.split(key, _LEAVES))[0]


def bent(key: Array, pictures: Array, most: float = 3.0) -> Array:
    """Pictures bent by a smooth field of up to about `most` pixels."""
    count = pictures.shape[0]
    field, strength = jax.random.split(key)
    coarse = jax.random.normal(field, (count, 5, 5, 2))
    move = jax.image.resize(coarse, (count, SIZE, SIZE, 2), "cubic")
    move = move * most * jax.random.uniform(strength, (count, 1, 1, 1))
    line = jnp.arange(SIZE)
    down, right = jnp.meshgrid(line, line, indexing="ij")
    y, x = (jnp.clip(side + move[..., axis], 0, SIZE - 1.001) for axis, side in enumerate((down, right)))
    top, left = y.astype(jnp.int32), x.astype(jnp.int32)
    low, near = (y - top)[..., None], (x - left)[..., None]
    flat = pictures.reshape(count, SIZE * SIZE, 3)

    def at(row: Array, column: Array) -> Array:
        index = (row * SIZE + column).reshape(count, -1, 1)
        return jnp.take_along_axis(flat, index, axis=1).reshape(pictures.shape)

    upper = at(top, left) * (1 - near) + at(top, left + 1) * near
    lower = at(top + 1, left) * (1 - near) + at(top + 1, left + 1) * near
    return jnp.clip(upper * (1 - low) + lower * low, 0, 1)
