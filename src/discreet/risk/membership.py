"""Membership inference: was this person in the training set? Told from how well a model does on them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

__all__ = ["RATES", "Membership", "judge_membership", "most_named"]

Floats = NDArray[np.float64]

RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *(step / 20 for step in range(2, 20)))
"""Parts of others falsely accused at which an attack is judged."""


def most_named(accused: float, epsilon: float, delta: float = 0.0) -> float:
    """The largest part of members that any attack names, on average, who accuses so many of the others falsely.

    >>> round(most_named(0.01, 1), 4), round(most_named(0.5, math.log(3)), 4), most_named(0.25, 800)
    (0.0272, 0.8333, 1.0)
    """
    large = math.exp(min(epsilon, 700.0))
    return max(accused, min(1.0, large * accused + delta, 1 - (1 - delta - accused) / large))


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

    def at(self, accused: float) -> float:
        """The part of members named where so many of others are accused: one of `accused`."""
        if accused not in self.accused:
            raise InputError("accused", accused, among=[f"{rate:g}" for rate in self.accused])
        return self.caught[self.accused.index(accused)]

    def at_most(self, epsilon: float, delta: float = 0.0) -> float:
        """The largest advantage any attack has against an (epsilon, delta)-private model.

        The region of error rates that the guarantee allows is widest where both rates are equal.
        """
        return 1 - 2 * (1 - delta) / (1 + math.exp(epsilon)) if epsilon < 700 else 1.0

    def explain(self) -> str:
        """In words."""
        few = max(0.01, min(rate for rate in self.accused if rate * self.others >= 1 or rate == self.accused[-1]))
        return (
            f"{self.members:,} members and {self.others:,} non-members: at a false positive rate of {few:.0%}, the "
            f"attack identifies {self.at(few):.1%} of members (AUC {self.area:.3f}, advantage {self.advantage:.1%})."
        )

    def __str__(self) -> str:
        return self.explain()


def judge_membership(members: Floats, others: Floats) -> Membership:
    """Judge an attack by its scores: higher means "was in the data". A good score is minus the loss of a model, or that
    less the loss of a model trained without the person.
    """
    inside, outside = (np.asarray(scores, dtype=np.float64).ravel() for scores in (members, others))
    for field, scores in (("members", inside), ("others", outside)):
        if len(scores) < 2:
            raise InputError(field, Phrase("one of them" if len(scores) else "none"), "at least two scores")
        if not np.isfinite(scores).all():
            raise InputError(field, Phrase("some that are not"), "finite scores")
    levels = np.unique(np.concatenate([inside, outside]))[::-1]
    named = (len(inside) - np.searchsorted(np.sort(inside), levels, side="left")) / len(inside)
    accused = (len(outside) - np.searchsorted(np.sort(outside), levels, side="left")) / len(outside)
    x, y = np.concatenate([[0.0], accused]), np.concatenate([[0.0], named])
    area = float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())
    caught = tuple(float(y[x <= rate].max()) for rate in RATES)
    return Membership(len(inside), len(outside), area, float((y - x).max()), RATES, caught)
