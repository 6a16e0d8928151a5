"""Clipped gradients as whole numbers: each example's becomes integers of bounded length, and integers add up exactly.

Proof: docs/proofs/training.md, "Exact noise".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import jax.numpy as jnp

from discreet.core.exact import sqrt_up
from discreet.learn.clip import norms
from discreet.learn.recipe import LOSS_WEIGHT, Recipe

__all__ = ["LONGEST", "SMOOTH", "lattice_shares", "lattice_sigma", "lattice_sum"]

LONGEST = 2**20
"""On the integers, how long the clipped gradient of one example may be."""
SMOOTH = 16
"""4^2, what rounding at random takes: see docs/proofs/training.md, "Exact noise"."""
_LEAST = 1e-37  # squares below it may have vanished: their entries are zero on any lattice

Array = Any


def lattice_sum(
    gradients: Sequence[Array],
    mask: Array,
    bound: float | Array,
    longest: int = LONGEST,
    square: Array | None = None,
    stability: float | None = None,
) -> list[Array]:
    """The sums of gradients [examples, ...], each example's clipped to `bound` and cut to steps of bound / longest.

    With a `stability` each is scaled by bound / (norm + stability) instead. At most 1,024 examples at once: sums are
    int32. `square` are their squared norms, where these are known. Pure; for `jit`.

    Guarantee: it is the sum over examples of integer vectors that are no longer than `longest`, whatever the numbers
    were. Lengths are checked on the integers, with all that rounding could hide added; a vector that may be too long,
    or was no number, or is too long for squares in 32 bits, counts as zero. An example's integers follow from its own
    numbers and its place in the arrays.
    """
    slack = norms.slack(gradients)
    arrays = [array.astype(jnp.float32) for array in gradients]
    if square is None:
        square = sum(norms.square_sum(array) for array in arrays)
    finite = jnp.isfinite(square)
    norm = jnp.sqrt(jnp.where(finite, jnp.maximum(square, _LEAST), 1.0))
    if stability is None:
        scale = jnp.minimum(longest / bound, longest * (1 - 3 * slack) / norm)
    else:
        scale = longest * (1 - 3 * slack) / (norm + stability)
    # Towards zero: no vector becomes longer.
    steps = [jnp.trunc(norms.scaled(scale, norms.only(finite, array))) for array in arrays]
    length = sum(norms.square_sum(step) for step in steps)
    fit = finite & (mask > 0) & (length <= float(longest) ** 2 * (1 - 2 * slack))
    return [jnp.sum(norms.only(fit, step).astype(jnp.int32), axis=0) for step in steps]


def lattice_shares(recipe: Recipe) -> tuple[int, int]:
    """How long the gradient of an example, and each entry beside it, may be: together no longer than LONGEST."""
    if not recipe.beside:
        return LONGEST, 0
    weight = LOSS_WEIGHT
    gradient = math.isqrt(math.floor(LONGEST**2 / (1 + recipe.beside * weight * weight)))
    return gradient, math.floor(gradient * weight)


def lattice_sigma(multiplier: Fraction) -> Fraction:
    """The sigma of discrete Gaussian noise on the integers that costs no more than real noise of `multiplier`.

    Its square is (multiplier * LONGEST)^2 + 16, rounded up: docs/proofs/training.md, "Exact noise".
    """
    return sqrt_up((multiplier * LONGEST) ** 2 + SMOOTH)
