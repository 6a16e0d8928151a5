"""LiRA: a membership attack with shadow models, for whoever wants to see what is left to gain.

Many models are trained on random halves of the same rows; each row then has a law of scores with it and a law without
it, and the model under attack is compared with both (Carlini et al. 2022). It is the strongest attack known that only
sees a model's outputs, and as dear as the number of shadows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.gradients import Losses
from discreet.noise.bernoulli import bernoulli

__all__ = ["Lira", "lira"]

Tree = Any
Fit = Callable[[Tree], Tree]
"""`fit(rows)`: the parameters of a model trained on these rows, as the one under attack is."""

_FEWEST = 4  # shadows with and without a row, to know how its score is spread


@dataclass(frozen=True, slots=True, eq=False)
class Lira:
    """What the attack found: a score for each row, higher for those that look like members, and who was one.

    It is a measurement and not a bound: `discreet.audit.guess(scores, members, ...)` makes one of it. All of it is
    private where the rows are.
    """

    scores: NDArray[np.float64]
    members: NDArray[np.bool_]

    def found(self, false_alarms: float) -> float:
        """The share of members with a score that at most so large a share of the others has."""
        if not 0 <= false_alarms <= 1:
            raise InputError("false_alarms", false_alarms, "between 0 and 1")
        others = np.sort(self.scores[~self.members])[::-1]
        allowed = int(false_alarms * len(others))
        threshold = others[allowed] if allowed < len(others) else -np.inf
        return float((self.scores[self.members] > threshold).mean())

    @property
    def advantage(self) -> float:
        """Detections minus false alarms, at the threshold where that is most."""
        order = np.argsort(-self.scores, kind="stable")
        inside = self.members[order]
        return float((np.cumsum(inside) / inside.sum() - np.cumsum(~inside) / (~inside).sum()).max(initial=0.0))


def lira(fit: Fit, losses: Losses, rows: Tree, *, shadows: int = 32, bits: Bits | None = None) -> Lira:
    """Attack a model that `fit` makes of a random half of `rows`, with so many shadow models made the same way.

    `losses(params, rows)` is the loss of each row. Nothing is charged: it is for rows that are made up or public, or
    for the eyes of whoever has them. Each call of `fit` is a training; under privacy it must draw its own noise.
    """
    many = len(jax.tree.leaves(rows)[0])
    if isinstance(shadows, bool) or not isinstance(shadows, int) or shadows < 4 * _FEWEST:
        raise InputError("shadows", shadows, f"a whole number of at least {4 * _FEWEST}")
    if many < 4:
        raise InputError("rows", Phrase(f"{many} of them"), "at least four rows")
    inside = np.stack([_half(many, bits) for _ in range(shadows + 1)])
    seen = np.stack([_confidence(fit, losses, rows, half) for half in inside])
    target, members, shadow, joined = seen[0], inside[0], seen[1:], inside[1:]
    # One deviation for all rows: with few shadows a row's own says little.
    with_it, without = _means(shadow, joined), _means(shadow, ~joined)
    spread_in = _spread(shadow - with_it, joined)
    spread_out = _spread(shadow - without, ~joined)
    near = ((target - without) / spread_out) ** 2 - ((target - with_it) / spread_in) ** 2
    return Lira(near / 2 + np.log(spread_out / spread_in), members)


def _half(many: int, bits: Bits | None) -> NDArray[np.bool_]:
    """Which rows are in, by fair coins; not all and not none."""
    while True:
        coins = bernoulli("1/2", many, bits=bits)
        if coins.any() and not coins.all():
            return coins


def _confidence(fit: Fit, losses: Losses, rows: Tree, half: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How sure a model trained on half of the rows is of each of them: the log odds of e^(-loss)."""
    params = fit(jax.tree.map(lambda leaf: leaf[half], rows))
    loss = np.asarray(losses(params, rows), dtype=np.float64)
    loss = np.clip(np.nan_to_num(loss, nan=50.0, posinf=50.0), 1e-9, 50.0)
    return np.asarray(-np.log(np.expm1(loss)), dtype=np.float64)


def _means(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The mean over chosen shadows, for each row; over all of them where hardly any was chosen."""
    count = chosen.sum(axis=0)
    mean = np.where(chosen, values, 0).sum(axis=0) / np.maximum(count, 1)
    return np.asarray(np.where(count >= _FEWEST, mean, values.mean(axis=0)), dtype=np.float64)


def _spread(apart: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    return float(np.sqrt((apart[chosen] ** 2).mean())) + 1e-9
