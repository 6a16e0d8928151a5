"""LiRA: a membership attack with shadow models, for whoever wants to see what is left to gain.

Many models are trained on random halves of the same rows; each row then has a law of scores with it and a law without
it, and the model under attack is compared with both (Carlini et al. 2022). It is the strongest attack known that only
sees a model's outputs, and as dear as the number of shadows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.gradients import Losses
from discreet.learn.shadow_scores import FEWEST, Lira, score_each, score_first
from discreet.noise.bernoulli import bernoulli

__all__ = ["Lira", "draw_halves", "lira", "lira_together"]

Tree = Any
Fit = Callable[[Tree], Tree]
"""`fit(rows)`: the parameters of a model trained on these rows, as the one under attack is."""
WeightedFit = Callable[[Tree, Any], Tree]
"""`fit(rows, weights)`: the same by JAX alone, of all rows, where one with a weight of 0 must change nothing."""

_AT_ONCE = 16  # models that are trained side by side


def lira(
    fit: Fit, losses: Losses, rows: Tree, *, shadows: int = 32, each: bool = False, bits: Bits | None = None
) -> Lira:
    """Attack a model that `fit` makes of a random half of `rows`, with so many shadow models made the same way.

    `losses(params, rows)` is the loss of each row. Nothing is charged: it is for rows that are made up or public, or
    for the eyes of whoever has them. Each call of `fit` is a training; under privacy it must draw its own noise.
    With `each`, every model in turn is the one under attack, with all others as its shadows: as many times the scores
    from the same trainings, for a curve at few false alarms.
    """
    inside = draw_halves(rows, shadows, bits)
    seen = [losses(fit(jax.tree.map(lambda leaf, half=half: leaf[half], rows)), rows) for half in inside]
    found = np.stack([np.asarray(one, dtype=np.float64) for one in seen])
    return (score_each if each else score_first)(found, inside)


def lira_together(
    fit: WeightedFit,
    losses: Losses,
    rows: Tree,
    *,
    shadows: int = 32,
    each: bool = False,
    bits: Bits | None = None,
) -> Lira:
    """The same with models that are trained side by side by `jax.vmap`, where `fit(rows, weights)` is made of JAX."""
    inside = draw_halves(rows, shadows, bits)

    def seen(weights: Any) -> Any:
        return losses(fit(rows, weights), rows)

    trained = jax.jit(lambda all_weights: jax.lax.map(seen, all_weights, batch_size=_AT_ONCE))
    found = np.asarray(trained(jnp.asarray(inside, jnp.float32)), dtype=np.float64)
    return (score_each if each else score_first)(found, inside)


def draw_halves(rows: Tree, shadows: int, bits: Bits | None = None) -> NDArray[np.bool_]:
    """Which rows are in, by fair coins, for a model and so many shadows: not all and not none in any of them."""
    many = len(jax.tree.leaves(rows)[0])
    if isinstance(shadows, bool) or not isinstance(shadows, int) or shadows < FEWEST:
        raise InputError("shadows", shadows, f"a whole number of at least {FEWEST}")
    if many < 4:
        raise InputError("rows", Phrase(f"{many} of them"), "at least four rows")
    return np.stack([_half(many, bits) for _ in range(shadows + 1)])


def _half(many: int, bits: Bits | None) -> NDArray[np.bool_]:
    while True:
        coins = bernoulli("1/2", many, bits=bits)
        if coins.any() and not coins.all():
            return coins
