"""Gaussian noise on a sum of gradients, in two ways: on the device in floating point, or exact on the integers.

Both are keyed by (secret, step), so that a step done again has the same noise and tells nothing new.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import sqrt_up
from discreet.learn.keys import bits_of, key_of
from discreet.learn.recipe import LOSS_WEIGHT, Recipe
from discreet.noise.gaussian import gaussian

__all__ = ["LONGEST", "device_key", "exact_noise", "lattice_shares", "lattice_sigma", "lattice_sum", "with_noise"]

LONGEST = 2**20
"""On the integers, how long the clipped gradient of one example may be."""
_SMOOTH = 16  # 4^2: see docs/proofs/training.md, "Exact noise"
_INSIDE = 1 - 2.0**-40  # so that what rounding adds to a length hardly ever makes a gradient too long

Tree = Any
Array = Any


def device_key(secret: bytes, step: int) -> NDArray[np.uint32]:
    """The key of JAX's generator for a step, from HMAC of the secret and the step."""
    return np.frombuffer(key_of(secret, "noise", step)[:8], dtype="<u4").astype(np.uint32)


def with_noise(tree: Tree, key: Array, scale: Any) -> Tree:
    """Every entry with Gaussian noise of standard deviation `scale`, in single precision. Pure; for `jit`.

    Not a proof: the generator (threefry) is keyed with 64 bits for each step, its numbers have 23 random bits and end
    at about 5.4 standard deviations, and floating-point sums round. Use noise="exact" where that matters.
    """
    leaves, shape = jax.tree.flatten(tree)
    sizes = [leaf.size for leaf in leaves]
    # One long draw, cut up: a draw for each leaf takes far longer to compile.
    noise = scale * jax.random.normal(jax.random.wrap_key_data(key, impl="threefry2x32"), (sum(sizes),), jnp.float32)
    noisy, start = [], 0
    for leaf, size in zip(leaves, sizes, strict=True):
        noisy.append(leaf.astype(jnp.float32) + noise[start : start + size].reshape(leaf.shape))
        start += size
    return jax.tree.unflatten(shape, noisy)


def lattice_sum(gradients: NDArray[Any], mask: NDArray[Any], bound: float, longest: int = LONGEST) -> NDArray[np.int64]:
    """The sum of gradients, one a row, each clipped to `bound` and rounded to whole steps of bound / longest.

    Guarantee: it is the sum over rows of integer vectors that depend on the numbers in their row alone, not on its
    place or on other rows, and are no longer than `longest`. Lengths are checked on the integers; a vector that is too
    long, or was no number, counts as zero.
    """
    rows = np.asarray(gradients, dtype=np.float64)
    rows = rows[(np.asarray(mask) > 0) & np.isfinite(rows).all(axis=1)]
    if not rows.size:
        return np.zeros(gradients.shape[1], dtype=np.int64)
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
    """Discrete Gaussian noise for every entry, from the house's exact sampler."""
    return gaussian(sigma, size, bits=bits_of(secret, "exact noise", step))
