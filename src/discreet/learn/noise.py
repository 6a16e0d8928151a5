"""Gaussian noise on a sum of gradients, on whole steps of a lattice, in two ways: drawn on the device, or exact.

Both are keyed by (secret, step), so that a step done again has the same noise and tells nothing new.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.learn.bands import banded_sigma, inverse_coefficients
from discreet.learn.keys import bits_of, key_of
from discreet.learn.lattice import LONGEST, lattice_sigma
from discreet.learn.recipe import LARGEST_LOT, MOST_EXACT, Recipe
from discreet.learn.sampler import VARIANCE, draw_integers, lattice_length
from discreet.noise.gaussian import gaussian

__all__ = [
    "add_noise",
    "device_key",
    "drawn_noise",
    "exact_noise",
    "settle_noise",
]

SMALL, MIDDLE = 1_000, 1_000_000
"""Up to SMALL parameters noise is exact unless it is named; on a CPU up to MIDDLE."""
_STEADY = 2**12  # steps, after which the deviation of correlated noise has settled
_WORD = 2**12  # of the lower of two words
_WIDEST = 2.0**41  # steps: farther than a million deviations, where the two words end

Tree = Any
Array = Any


def settle_noise(recipe: Recipe, params: Tree) -> Recipe:
    """The recipe with its noise named: "auto" is exact for small models and large lots, else drawn on the device."""
    if recipe.noise == "float":
        raise InputError(
            "noise",
            "float",
            "auto, device or exact",
            "Such noise is read from runs of version 0.1 and no longer drawn.",
        )
    if recipe.noise != "auto":
        return recipe
    if recipe.bands > 1:
        return evolve(recipe, noise="exact")
    size = sum(leaf.size for leaf in jax.tree.leaves(params))
    exact = size <= (MIDDLE if jax.default_backend() == "cpu" else SMALL) or recipe.lot > LARGEST_LOT
    return evolve(recipe, noise="exact" if exact and recipe.multiplier <= MOST_EXACT else "device")


def drawn_noise(recipe: Recipe, params: Tree) -> float:
    """The standard deviation of the noise that is drawn on each entry of the mean gradient of a step.

    It is a little wider than `Recipe.gradient_noise`, by what rounding to a lattice and sums of floats may add. With
    adaptive clipping it is that of the first step; with bands, of a late one, where it is largest.
    """
    match recipe.noise:
        case "exact" if recipe.bands > 1:
            size = sum(leaf.size for leaf in jax.tree.leaves(params)) + recipe.beside
            share = inverse_coefficients(recipe.bands, min(recipe.steps, _STEADY))
            steps = float(banded_sigma(recipe.multiplier, recipe.bands, size)) * math.sqrt(float(share @ share))
            length = float(LONGEST)
        case "exact":
            steps, length = float(lattice_sigma(recipe.multiplier)), float(LONGEST)
        case "device":
            size = sum(leaf.size for leaf in jax.tree.leaves(params)) + recipe.beside
            steps, length = math.sqrt(VARIANCE), float(lattice_length(recipe.multiplier, size))
        case _:  # of 0.1
            return recipe.gradient_noise
    return steps / length * recipe.bound * recipe.widened / float(recipe.lot)


def device_key(secret: bytes, step: int) -> NDArray[np.uint32]:
    """Two keys of JAX's generator for a step, from HMAC of the secret and the step."""
    return np.frombuffer(key_of(secret, "noise", step)[:16], dtype="<u4").astype(np.uint32).reshape(2, 2)


def add_noise(tree: Tree, keys: Array, bound: float | Array, multiplier: Fraction) -> Tree:
    """Every entry rounded to a lattice, plus discrete Gaussian noise drawn on the device. Pure; for `jit`.

    Guarantee: if the trees of neighbours differ in length by at most `bound` (1 + 1/1024), what comes out costs at most
    what real noise of deviation `multiplier * bound` does, up to a delta of `DEVICE_DELTA` and the strength of JAX's
    generator (threefry, keyed with two times 64 bits a step). It is made of whole numbers, sum plus noise, and of
    nothing else. That single precision sums neighbours so closely is a premise. Proof: docs/proofs/training.md.
    """
    leaves, shape = jax.tree.flatten(tree)
    sizes = [leaf.size for leaf in leaves]
    steps = float(lattice_length(multiplier, sum(sizes))) / bound
    # One long draw, cut up: a draw for each leaf takes far longer to compile.
    drawn, noisy, start = draw_integers(keys, sum(sizes)), [], 0
    for leaf, size in zip(leaves, sizes, strict=True):
        here = drawn[start : start + size].reshape(leaf.shape)
        noisy.append(_added(leaf.astype(jnp.float32) * steps, here) / steps)
        start += size
    return jax.tree.unflatten(shape, noisy)


def _added(values: Array, whole: Array) -> Array:
    """Values rounded to whole numbers, plus whole numbers: the exact sum in two words, and only then a float."""
    values = jnp.clip(jnp.where(jnp.isnan(values), 0.0, values), -_WIDEST, _WIDEST)
    high = jnp.floor(values / _WORD)
    low = jnp.round(values - high * _WORD).astype(jnp.int32) + whole  # the difference is exact
    high = high.astype(jnp.int32) + jnp.floor_divide(low, _WORD)
    return high.astype(jnp.float32) * _WORD + jnp.remainder(low, _WORD).astype(jnp.float32)


def exact_noise(secret: bytes, step: int, size: int, sigma: Fraction) -> NDArray[np.int64]:
    """Discrete Gaussian noise for every entry, from the exact sampler."""
    return gaussian(sigma, size, bits=bits_of(secret, "exact noise", step))
