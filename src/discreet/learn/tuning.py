"""What a search for good settings costs: every run is paid for, not only the one that is kept.

The candidates are fixed before the first run. All of their runs together are one plan, counted as one composition. The
best is picked on public data for nothing, or on private rows that were held out, by a private choice with its price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.accounting.convert import approx
from discreet.accounting.pld import COARSE, FINE, privacy_loss
from discreet.accounting.words import readable
from discreet.core.check import exact, named, within
from discreet.core.exact import Number, as_written
from discreet.core.loss import Composed, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.errors import InputError, LossError, Phrase
from discreet.learn.recipe import Recipe
from discreet.mechanisms.permute_and_flip import PermuteAndFlip

__all__ = ["Search", "chosen_privately", "right_answers"]

_UNITS = 10_000
_MOST = 10**8


def _listed(recipes: Iterable[Recipe]) -> tuple[Recipe, ...]:
    listed = tuple(recipes)
    if not listed or not all(isinstance(one, Recipe) for one in listed):
        raise InputError("recipes", len(listed), "at least one Recipe")
    if len({one.examples for one in listed}) > 1:
        raise InputError("recipes", Phrase("several numbers of examples"), "recipes for the same number of examples")
    return listed


@frozen(field_transformer=named)
class Search:
    """Runs of several recipes on the same examples, of which one is kept. `choice` is the epsilon of choosing.

    Guarantee
        All trained models and the choice together cost `cost`, however the settings were listed, as long as they were
        listed before the first run. Proof: docs/proofs/training.md, "Search".

    >>> recipes = [Recipe(examples=1000, lot=100, steps=10, bound=1, multiplier=2, rate=rate) for rate in (0.1, 1)]
    >>> Search(recipes).epsilon(1e-5) > recipes[0].epsilon(1e-5)
    True
    """

    recipes: tuple[Recipe, ...] = field(converter=_listed)
    choice: Fraction = field(default=Fraction(0), converter=exact, validator=within(least=0))

    @classmethod
    def within(cls, epsilon: Number, delta: Number, recipes: Iterable[Recipe], choice: Number = 0) -> Search:
        """The same with the least noise, by one factor for all recipes, that keeps the whole within (epsilon, delta).

        The multipliers given say how the noise of the recipes compares: alike for runs that are alike.
        """
        search = cls(recipes, choice)
        budget, missed = as_written(epsilon, "epsilon"), as_written(delta, "delta")
        if budget <= search.choice:
            raise InputError("epsilon", epsilon, f"more than the {float(search.choice):.3g} of the choice")
        if not 0 < missed < 1:
            raise InputError("delta", delta, "more than 0 and less than 1")

        def fits(units: int, interval: float) -> bool:
            try:
                return privacy_loss(search._scaled(units).cost, interval).epsilon(missed) <= budget
            except LossError:
                return False

        high = _UNITS
        while not fits(high, COARSE):
            high *= 2
            if high > _MOST:
                raise InputError("epsilon", epsilon, "larger: no noise in reach is enough", "Fewer candidates help.")
        low = high // 2
        while low > 1 and fits(low, COARSE):
            low, high = low // 2, low
        while high - low > max(1, high // 2000):
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle, COARSE) else (middle, high)
        while not fits(high, FINE):
            high += max(1, high // 2000)
        return search._scaled(high)

    def _scaled(self, units: int) -> Search:
        factor = Fraction(units, _UNITS)
        return evolve(self, recipes=tuple(evolve(one, multiplier=one.multiplier * factor) for one in self.recipes))

    @property
    def cost(self) -> Loss:
        """What all runs and the choice cost together."""
        runs = [recipe.cost for recipe in self.recipes]
        return Composed([*runs, Pure(self.choice)] if self.choice else runs)

    def epsilon(self, delta: Number) -> Fraction:
        """The epsilon of the whole search at `delta`, rounded up."""
        return approx(self.cost, delta).epsilon

    def text(self, delta: Number) -> str:
        """For the model card."""
        how = "on public data" if not self.choice else f"privately, for epsilon = {readable(self.choice)}"
        whole = readable(self.epsilon(delta))
        return f"{len(self.recipes)} runs, all charged: epsilon = {whole} for the whole search; the best picked {how}."

    def best(self, scores: Sequence[int], bits: Bits | None = None) -> int:
        """Which candidate is kept: by public scores the best, else by a private choice (`chosen_privately`)."""
        if len(scores) != len(self.recipes):
            raise InputError(
                "scores", Phrase(f"{len(scores)} of them"), f"one score for each of {len(self.recipes)} candidates"
            )
        return chosen_privately(scores, self.choice, bits) if self.choice else int(np.argmax(scores))


def chosen_privately(correct: Sequence[int], epsilon: Number, bits: Bits | None = None) -> int:
    """The place of about the largest of several counts of right answers on the same private rows.

    Guarantee: epsilon-differentially private for adding or removing a row, as long as a row adds at most one to each
    count: permute and flip, for counts that all move the same way.
    """
    for count in correct:
        if isinstance(count, bool) or int(count) != count:
            raise InputError("correct", count, "whole numbers: how many rows each candidate got right")
    return PermuteAndFlip(epsilon, sensitivity=1, monotone=True).release([int(one) for one in correct], bits=bits)


def right_answers(outputs: Sequence[Any], y: Any) -> list[int]:
    """How many rows each candidate gets right, from its outputs for them; a row adds at most one to each count."""
    truth = np.asarray(y)
    return [int((np.asarray(one).argmax(axis=1) == truth).sum()) if len(truth) else 0 for one in outputs]
