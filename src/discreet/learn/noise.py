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

from discreet.core.exact import sqrt_up
from discreet.errors import InputError
from discreet.learn.keys import bits_of, key_of
from discreet.learn.recipe import LARGEST_LOT, LOSS_WEIGHT, MOST_EXACT, Recipe
from discreet.learn.sampler import VARIANCE, draw_integers, lattice_length
from discreet.noise.gaussian import gaussian

__all__ = [
    "LONGEST",
    "add_noise",
    "device_key",
    "drawn_noise",
    "exact_noise",
    "lattice_shares",
    "lattice_sigma",
    "lattice_sum",
    "settle_noise",
]

LONGEST = 2**20
"""On the integers, how long the clipped gradient of one example may be."""
SMALL, MIDDLE = 1_000, 1_000_000
"""Up to SMALL parameters noise is exact unless it is named; on a CPU up to MIDDLE."""
_SMOOTH = 16  # 4^2: see docs/proofs/training.md, "Exact noise"
_WORD = 2**12  # of the lower of two words
_WIDEST = 2.0**41  # steps: farther than a million deviations, where the two words end
_BLOCK = 2**17  # numbers handled at once, so that they stay in the cache
_INSIDE = 1 - 2.0**-40  # so that what rounding adds to a length hardly ever makes a gradient too long

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
    size = sum(leaf.size for leaf in jax.tree.leaves(params))
    exact = size <= (MIDDLE if jax.default_backend() == "cpu" else SMALL) or recipe.lot > LARGEST_LOT
    return evolve(recipe, noise="exact" if exact and recipe.multiplier <= MOST_EXACT else "device")


def drawn_noise(recipe: Recipe, params: Tree) -> float:
    """The standard deviation of the noise that is drawn on each entry of the mean gradient of a step.

    It is a little wider than `Recipe.gradient_noise`, by what rounding to a lattice and sums of floats may add.
    """
    match recipe.noise:
        case "exact":
            steps, length = float(lattice_sigma(recipe.multiplier)), float(LONGEST)
        case "device":
            size = sum(leaf.size for leaf in jax.tree.leaves(params)) + (recipe.report_loss is not None)
            steps, length = math.sqrt(VARIANCE), float(lattice_length(recipe.multiplier, size))
        case _:  # of 0.1
            return recipe.gradient_noise
    return steps / length * recipe.bound * recipe.widened / float(recipe.lot)


def device_key(secret: bytes, step: int) -> NDArray[np.uint32]:
    """Two keys of JAX's generator for a step, from HMAC of the secret and the step."""
    return np.frombuffer(key_of(secret, "noise", step)[:16], dtype="<u4").astype(np.uint32).reshape(2, 2)


def add_noise(tree: Tree, keys: Array, bound: float, multiplier: Fraction) -> Tree:
    """Every entry rounded to a lattice, plus discrete Gaussian noise drawn on the device. Pure; for `jit`.

    Guarantee: if the trees of neighbours differ in length by at most `bound` (1 + 1/1024), what comes out costs at most
    what real noise of deviation `multiplier * bound` does, up to a delta of `DEVICE_DELTA` and the strength of JAX's
    generator (threefry, keyed with two times 64 bits a step). It is made of whole numbers, sum plus noise, and of
    nothing else. That single precision sums neighbours so closely is a premise. Proof: docs/proofs/training.md.
    """
    leaves, shape = jax.tree.flatten(tree)
    sizes = [leaf.size for leaf in leaves]
    steps = lattice_length(multiplier, sum(sizes)) / bound
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


def lattice_sum(gradients: NDArray[Any], mask: NDArray[Any], bound: float, longest: int = LONGEST) -> NDArray[np.int64]:
    """The sum of gradients, one a row, each clipped to `bound` and rounded to whole steps of bound / longest.

    Guarantee: it is the sum over rows of integer vectors that depend on the numbers in their row alone, not on its
    place or on other rows, and are no longer than `longest`. Lengths are checked on the integers; a vector that is too
    long, or was no number, counts as zero.
    """
    total = np.zeros(gradients.shape[1], dtype=np.int64)
    present, many = np.asarray(mask) > 0, max(1, _BLOCK // max(gradients.shape[1], 1))
    for start in range(0, len(gradients), many):
        part = slice(start, start + many)
        total += _block_sum(np.asarray(gradients[part], dtype=np.float64)[present[part]], bound, longest)
    return total


def _block_sum(rows: NDArray[np.float64], bound: float, longest: int) -> NDArray[np.int64]:
    rows = rows[np.isfinite(rows).all(axis=1)]
    if not rows.size:
        return np.zeros(rows.shape[1], dtype=np.int64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    largest[largest == 0] = 1
    rows = rows / largest
    # Sums of floats depend on the order of adding, and so on a row's place. Sums of these integers are exact.
    fine = (62 - rows.shape[1].bit_length()) // 2
    whole = np.ceil(np.abs(rows) * 2.0**fine).astype(np.int64)  # up: lengths may come out longer, never shorter
    lengths = np.sqrt(np.einsum("ij,ij->i", whole, whole).astype(np.float64))[:, None] * 2.0**-fine
    scale = np.minimum(largest, bound / np.maximum(lengths, 1.0)) * (_INSIDE * longest / bound)
    steps = np.trunc(rows * scale)  # towards zero: no vector becomes longer
    # Exact where it matters: a sum of squares of integers that is at most 2^40 was never rounded.
    fit = np.einsum("ij,ij->i", steps, steps) <= float(longest) ** 2
    return np.asarray(steps[fit].astype(np.int64).sum(axis=0))


def lattice_shares(recipe: Recipe) -> tuple[int, int]:
    """How long the gradient and the loss of an example may be on the integers: together no longer than LONGEST."""
    if recipe.report_loss is None:
        return LONGEST, 0
    weight = LOSS_WEIGHT
    gradient = math.isqrt(math.floor(LONGEST**2 / (1 + weight * weight)))
    return gradient, math.floor(gradient * weight)


def lattice_sigma(multiplier: Fraction) -> Fraction:
    """The sigma of discrete Gaussian noise on the integers that costs no more than real noise of `multiplier`.

    Its square is (multiplier * LONGEST)^2 + 16, rounded up: docs/proofs/training.md, "Exact noise".
    """
    return sqrt_up((multiplier * LONGEST) ** 2 + _SMOOTH)


def exact_noise(secret: bytes, step: int, size: int, sigma: Fraction) -> NDArray[np.int64]:
    """Discrete Gaussian noise for every entry, from the exact sampler."""
    return gaussian(sigma, size, bits=bits_of(secret, "exact noise", step))
