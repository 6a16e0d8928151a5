"""Canaries: made-up examples that are put in by coins, and scores that tell how much a run gave each of them away.

For audits from one run: whoever guesses the coins from the scores better than the claimed epsilon allows has refuted
the claim (`discreet.audit.one_run`). A canary is an example like any other, so a run with canaries is as private as one
without; but its weights have learned nonsense, and it should be a run of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.learn.gradients import Losses, example_gradients
from discreet.learn.step import State
from discreet.noise.bernoulli import bernoulli

__all__ = ["Canaries", "Watch", "coins_for", "loss_scores"]

Tree = Any
Array = Any


@dataclass(frozen=True, slots=True, eq=False)
class Canaries:
    """Made-up examples, a tree of arrays like the data, and which of them are in: only the auditor may know."""

    examples: Tree
    present: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for leaf in jax.tree.leaves(self.examples):
            if np.shape(leaf)[:1] != (len(self.present),):
                raise InputError("canaries", np.shape(leaf)[:1], f"one row for each of {len(self.present)} coins")

    def inserted(self, data: Tree) -> Tree:
        """The data with the canaries that are in, at the end: lots are drawn by coins, so the place tells nothing."""

        def joined(real: Any, made: Any) -> Any:
            if np.shape(real)[1:] != np.shape(made)[1:]:
                allowed = f"rows of the same shape as the data's, {np.shape(real)[1:]}"
                raise InputError("canaries", np.shape(made)[1:], allowed)
            return np.concatenate([np.asarray(real), np.asarray(made)[self.present].astype(np.asarray(real).dtype)])

        return jax.tree.map(joined, data, self.examples)


def coins_for(count: int, bits: Bits | None = None) -> NDArray[np.bool_]:
    """A fair coin for each canary."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError("count", count, "a whole number of canaries, 1 or more")
    return bernoulli("1/2", count, bits=bits)


def loss_scores(losses: Losses, before: Tree, after: Tree, canaries: Canaries) -> NDArray[np.float64]:
    """How much better each canary is known after a run than before: what the weights alone show."""
    found = losses(before, canaries.examples) - losses(after, canaries.examples)
    return np.nan_to_num(np.asarray(found, dtype=np.float64))


@dataclass(eq=False)
class Watch:
    """Watches a run step by step, as an attacker who sees every state may: `train(..., after=watch)`.

    `along` adds up how far each step went along each canary's own gradient. `apart` adds up, in logarithms, how
    much the way along it differs from one step to the next: where noise is used twice it cancels, and only canaries are
    left.
    """

    losses: Losses
    canaries: Canaries
    params: Tree
    along: NDArray[np.float64] = field(init=False)
    apart: NDArray[np.float64] = field(init=False)
    _last: NDArray[np.float64] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.along = np.zeros(len(self.canaries.present))
        self.apart = np.zeros(len(self.canaries.present))
        self._way = jax.jit(self._directions)

    def _directions(self, before: Tree, after: Tree) -> Array:
        rows, _ = example_gradients(self.losses, before, self.canaries.examples)
        rows = rows / jnp.maximum(jnp.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        moved = [
            (a - b).ravel().astype(jnp.float32)
            for a, b in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
        ]
        return rows @ jnp.concatenate(moved)

    def __call__(self, state: State) -> None:
        """Take note of a step."""
        way = np.asarray(self._way(self.params, state.params), dtype=np.float64)
        self.along += way
        if self._last is not None:
            rounding = 1e-3 * np.median(np.abs(way)) + 1e-30
            self.apart += np.log(np.abs(way - self._last) + rounding)
        self._last, self.params = way, state.params
