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

__all__ = ["NOT_PRIVATE", "Baseline", "check_public", "train_baseline"]

Tree = Any
NOT_PRIVATE = "NOT PRIVATE: trained without clipping or noise, on data that was said to be public"
_REPORTS = 100
_LONGEST = 200
_NO_NAMES = ("yes", "y", "true", "ok", "public", "no", "none", "false")


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """Weights of a run without privacy. `label` says so, and which data was said to be public."""

    params: Tree
    steps: int
    public: str
    """What the data is, in the words of whoever said that it is public."""

    @property
    def label(self) -> str:
        """What must be said wherever the weights go."""
        return f"{NOT_PRIVATE}: {self.public}"


def check_public(word: Any, field: str = "public") -> str:
    """The name of the data that is said to be public, as it will stand on what is made of it."""
    said = " ".join(word.split()) if isinstance(word, str) else ""
    if not any(letter.isalpha() for letter in said) or said.lower() in _NO_NAMES or len(said) > _LONGEST:
        hint = "A baseline protects nobody. Private data is trained on by `train` or `discreet train`, under a ledger."
        allowed = f"the name of the data that you say is public, in at most {_LONGEST} characters: 'MNIST, by NIST'"
        raise InputError(field, word, allowed, hint)
    return said


def train_baseline(
    apply: Any,
    params: Tree,
    x: Any,
    y: Any,
    *,
    public: str,
    lot: int = 128,
    epochs: float = 20,
    rate: float = 0.05,
    momentum: float = 0.9,
    decay: float = 0.0,
    augment: Any = None,
    seed: int = 0,
    curve: Curve | None = None,
) -> Baseline:
    """Train by cross entropy with shuffled batches and momentum; the rate falls to zero by a cosine.

    `decay` draws weights to zero: that much of them is added to the gradient.

    Guarantee
        None. `public` is the caller's word that every example is public, and names what they are: "MNIST, published by
        NIST". It stands on what is made; without it nothing is done.
    """
    word = check_public(public)
    if isinstance(lot, bool) or not isinstance(lot, int) or lot < 1:
        raise InputError("lot", lot, "a whole number from 1 up")
    for name, value in (("epochs", epochs), ("rate", rate)):
        if not math.isfinite(value) or value <= 0:
            raise InputError(name, value, "more than zero")
    if not math.isfinite(decay) or decay < 0:
        raise InputError("decay", decay, "zero or more")
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
        gradient = jax.tree.map(lambda now, weight: now + decay * weight, gradient, params)
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
        return Baseline(run(), steps, word)
    with curve.watching_plain(apply, steps, each):
        return Baseline(run(), steps, word)
