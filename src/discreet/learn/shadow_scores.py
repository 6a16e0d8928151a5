"""Scores of a membership attack from losses of many models, each trained on a random half of the same rows.

Each row has a law of losses with it and a law without it; a model under attack is compared with both (Carlini et al.
2022). It takes arrays alone, whatever the models were made with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

__all__ = ["FEWEST", "Lira", "confidence", "score_each", "score_first"]

FEWEST = 8
"""Shadow models, at least."""
_KNOWN = 2  # shadows with and without a row, to know where its losses are


@dataclass(frozen=True, slots=True, eq=False)
class Lira:
    """What the attack found: a score for each row, higher for those that look like members, and who was one.

    It is a measurement and not a bound: `discreet.audit.guess(scores, members, ...)` makes one of it. All of it is
    private where the rows are.
    """

    scores: NDArray[np.float64]
    members: NDArray[np.bool_]
    losses: NDArray[np.float64] | None = None
    """Of each row in the model under attack: what a threshold on the loss alone goes by."""

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
        inside, last = self.members[order], np.append(np.diff(self.scores[order]) != 0, True)
        gain = np.cumsum(inside) / inside.sum() - np.cumsum(~inside) / (~inside).sum()
        return float(gain[last].max(initial=0.0))  # equal scores are on one side of every threshold


def score_first(losses: Any, inside: Any) -> Lira:
    """Attack the first model with the others as its shadows: a row of losses for each model, and who was in it.

    >>> losses, inside = np.ones((9, 4)), np.indices((9, 4)).sum(axis=0) % 2 == 0
    >>> score_first(losses, inside).members
    array([ True, False,  True, False])
    """
    seen, held = _read(losses, inside)
    return Lira(_ratios(seen[0], seen[1:], held[1:]), held[0], np.asarray(losses, dtype=np.float64)[0])


def score_each(losses: Any, inside: Any) -> Lira:
    """Attack every model in turn with all others as its shadows: as many times the scores, from the same trainings.

    For a curve at few false alarms. Scores of the same row are not independent, so it makes no bound of one run.
    """
    seen, held = _read(losses, inside)
    turns = [
        _ratios(seen[turn], np.delete(seen, turn, axis=0), np.delete(held, turn, axis=0)) for turn in range(len(seen))
    ]
    return Lira(np.concatenate(turns), held.ravel(), np.asarray(losses, dtype=np.float64).ravel())


def _read(losses: Any, inside: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, held = np.asarray(losses, dtype=np.float64), np.asarray(inside, dtype=bool)
    if values.ndim != 2 or values.shape != held.shape:
        raise InputError("losses", Phrase(f"shape {values.shape}"), "a row for each model and a column for each row")
    if len(values) <= FEWEST:
        raise InputError("losses", Phrase(f"{len(values)} models"), f"at least {FEWEST} models beside the first")
    if held.shape[1] < 4:
        raise InputError("rows", Phrase(f"{held.shape[1]} of them"), "at least four rows")
    if held.all(axis=1).any() or not held.any(axis=1).all():
        raise InputError("inside", Phrase("a model with all rows or none"), "some rows of each model, and not all")
    return confidence(values), held


def confidence(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """How sure a model is of each row: the log odds of e^(-loss)."""
    bounded = np.clip(np.nan_to_num(losses, nan=50.0, posinf=50.0, neginf=0.0), 1e-9, 50.0)
    return np.asarray(-np.log(np.expm1(bounded)), dtype=np.float64)


def _ratios(
    target: NDArray[np.float64], shadows: NDArray[np.float64], joined: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The log of how much likelier each row's confidence is with it than without it, by two normal laws."""
    # One deviation for all rows: with few shadows a row's own says little.
    with_it, without = _means(shadows, joined), _means(shadows, ~joined)
    spread_in = _spread(shadows - with_it, joined)
    spread_out = _spread(shadows - without, ~joined)
    near = ((target - without) / spread_out) ** 2 - ((target - with_it) / spread_in) ** 2
    return np.asarray(near / 2 + np.log(spread_out / spread_in), dtype=np.float64)


def _means(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The mean over chosen shadows, for each row; over all of them where hardly any was chosen."""
    count = chosen.sum(axis=0)
    mean = np.where(chosen, values, 0).sum(axis=0) / np.maximum(count, 1)
    return np.asarray(np.where(count >= _KNOWN, mean, values.mean(axis=0)), dtype=np.float64)


def _spread(apart: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    return float(np.sqrt((apart[chosen] ** 2).mean())) + 1e-9
