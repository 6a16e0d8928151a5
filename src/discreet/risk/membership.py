"""Membership inference: was this person in the training set? Told from how well a model does on them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

__all__ = ["Membership", "judge_membership"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Membership:
    """How well scores tell members from others.

    `caught` is the part of members named at each part of others falsely accused in `accused`; `area` is the chance that
    a member scores above another; `advantage` the most that members named exceed others accused.
    """

    members: int
    others: int
    area: float
    advantage: float
    accused: tuple[float, ...]
    caught: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def at_most(self, epsilon: float, delta: float = 0.0) -> float:
        """The largest advantage any attack has against an (epsilon, delta)-private model.

        The region of error rates that the guarantee allows is widest where both rates are equal.
        """
        return 1 - 2 * (1 - delta) / (1 + math.exp(epsilon)) if epsilon < 700 else 1.0

    def explain(self) -> str:
        """In words."""
        at = dict(zip(self.accused, self.caught, strict=True))
        low = min((rate for rate in at if rate >= 0.01), default=1.0)
        return (
            f"Told apart {self.members:,} members and {self.others:,} others: the attack's advantage over guessing is "
            f"{self.advantage:.1%} (area {self.area:.3f}); accusing {low:.0%} of others falsely, it names "
            f"{at.get(low, 1.0):.1%} of members."
        )

    def __str__(self) -> str:
        return self.explain()


def judge_membership(members: Floats, others: Floats) -> Membership:
    """Judge an attack by its scores: higher means "was in the data". A good score is minus the loss of a model, or that
    less the loss of a model trained without the person.
    """
    inside, outside = (np.asarray(scores, dtype=np.float64).ravel() for scores in (members, others))
    for field, scores in (("members", inside), ("others", outside)):
        if len(scores) < 2 or not np.isfinite(scores).all():
            raise InputError(field, Phrase(f"{len(scores)} scores"), "at least two finite scores")
    levels = np.unique(np.concatenate([inside, outside]))[::-1]
    named = (len(inside) - np.searchsorted(np.sort(inside), levels, side="left")) / len(inside)
    accused = (len(outside) - np.searchsorted(np.sort(outside), levels, side="left")) / len(outside)
    x, y = np.concatenate([[0.0], accused]), np.concatenate([[0.0], named])
    area = float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())
    rates = (0.001, 0.01, 0.02, 0.05, *(place / 20 for place in range(2, 20)))
    caught = tuple(float(y[x <= rate].max()) for rate in rates)
    return Membership(len(inside), len(outside), area, float((y - x).max()), rates, caught)
