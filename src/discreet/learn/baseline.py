"""Training without privacy, on public data: what a net can reach before a budget is spent on it.

Nothing here is private. Batches are shuffled, gradients are neither clipped nor noisy, and the weights may hold any of
the examples. It is for public benchmarks alone, and says so on what it makes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discreet.core.progress import notify
from discreet.errors import InputError, Phrase
from discreet.learn.curve import Curve
from discreet.learn.objective import cross_entropy

__all__ = ["NOT_PRIVATE", "Baseline", "train_baseline"]

Tree = Any
NOT_PRIVATE = "NOT PRIVATE: trained without clipping or noise, on data that was said to be public"
_REPORTS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """Weights of a run without privacy. `label` says so."""

    params: Tree
    steps: int
    label: str = NOT_PRIVATE


def train_baseline(
    apply: Any,
    params: Tree,
    x: Any,
    y: Any,
    *,
    public: bool,
    lot: int = 128,
    epochs: float = 20,
    rate: float = 0.05,
    momentum: float = 0.9,
    augment: Any = None,
    seed: int = 0,
    curve: Curve | None = None,
) -> Baseline:
    """Train by cross entropy with shuffled batches and momentum; the rate falls to zero by a cosine.

    Guarantee
        None. `public=True` is the caller's word that every example is public; without it nothing is done.
    """
    if public is not True:
        hint = "A baseline protects nobody. Private data is trained on by `train` or `discreet train`, under a ledger."
        raise InputError("public", public, "True: said by whoever knows that all examples are public", hint)
    if isinstance(lot, bool) or not isinstance(lot, int) or lot < 1:
        raise InputError("lot", lot, "a whole number from 1 up")
    for name, value in (("epochs", epochs), ("rate", rate)):
        if not math.isfinite(value) or value <= 0:
            raise InputError(name, value, "more than zero")
    many = len(x)
    if not many or len(y) != many:
        raise InputError("x", Phrase(f"{many:,} examples and {len(y):,} labels"), "as many examples as labels")
    lot = min(lot, many)
    each = many // lot
    steps = max(1, round(epochs * each))

    @jax.jit
    def step(params: Tree, moving: Tree, x: Any, y: Any, key: Any, pace: Any) -> tuple[Tree, Tree]:
        if augment is not None:
            x, y = augment(key, (x, y))
        gradient = jax.grad(lambda now: cross_entropy(apply(now, x), y).mean())(params)
        moving = jax.tree.map(lambda before, now: momentum * before + now, moving, gradient)
        return jax.tree.map(lambda before, way: before - pace * way, params, moving), moving

    def run() -> Tree:
        now, moving = params, jax.tree.map(jnp.zeros_like, params)
        key, order = jax.random.key(seed), np.arange(many)
        for number in range(steps):
            at = number % each
            if at == 0:
                order = np.asarray(jax.random.permutation(jax.random.fold_in(key, steps + number), many))
            batch = order[at * lot : (at + 1) * lot]
            pace = rate * 0.5 * (1 + np.cos(np.pi * number / steps))
            now, moving = step(now, moving, x[batch], y[batch], jax.random.fold_in(key, number), pace)
            if (number + 1) % max(1, steps // _REPORTS) == 0:
                notify(f"training without privacy: step {number + 1:,} of {steps:,}", (number + 1) / steps)
            if curve is not None:
                curve.look(number + 1, now)
        return now

    if curve is None:
        return Baseline(run(), steps)
    with curve.watching_plain(apply, steps, each):
        return Baseline(run(), steps)
