"""A search for good settings: several runs, one choice, one charge for all of it, whichever model is kept.

The candidates are fixed before the first run. Every one is trained, and all runs are counted as one composition; or a
random number of runs is made, each of a candidate picked at random, and the best costs two or three of them. The best
is picked on public data for nothing, or on private rows that were held out, by a private choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from discreet.accounting.convert import approx
from discreet.accounting.pld import COARSE, FINE, privacy_loss
from discreet.accounting.selection import RunCount, best_of
from discreet.accounting.words import readable
from discreet.core.check import exact, named, within
from discreet.core.exact import Number, as_written
from discreet.core.integers import refine
from discreet.core.loss import Approx, Composed, GaussianNoise, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.errors import InputError, LossError, Phrase, kind_of
from discreet.learn.recipe import Recipe
from discreet.mechanisms.permute_and_flip import PermuteAndFlip

__all__ = ["CHOICE", "Search", "choice_epsilon", "choose_privately", "read_runs", "right_answers", "score_precision"]

_UNITS = 10_000  # multipliers are scaled by multiples of 1/_UNITS
_MOST = 10**8
CHOICE = Fraction(1, 10)
"""Of the price of a search, for choosing, where the price is how good the choice is."""


def read_runs(runs: Number | RunCount | None) -> RunCount | None:
    """How many runs there are, where that is random: the law, or its mean."""
    if runs is None or isinstance(runs, RunCount):
        return runs
    try:
        return RunCount(runs)
    except InputError as problem:
        raise problem.about("runs") from None


def _listed(recipes: Iterable[Recipe]) -> tuple[Recipe, ...]:
    if not isinstance(recipes, Iterable):
        raise InputError("recipes", kind_of(recipes), "a list of at least one Recipe")
    listed = tuple(recipes)
    if not listed or not all(isinstance(one, Recipe) for one in listed):
        raise InputError("recipes", Phrase("others" if listed else "none"), "a list of at least one Recipe")
    if len({one.examples for one in listed}) > 1:
        raise InputError("recipes", Phrase("several numbers of examples"), "recipes for the same number of examples")
    return listed


@frozen(field_transformer=named)
class Search:
    """Runs of several recipes on the same examples, of which one is kept. `choice` is the epsilon of choosing.

    `disjoint` says that every row is for training or for choosing, by a coin of its own: then the search costs the
    larger of the two, not both. With `runs` there is a random number of runs, each of a recipe picked at random; the
    one with the highest score is kept and nothing else is told, the number of runs least of all. (How long it took
    tells it: whoever is shown that learns more.) A score is then a count of right answers with discrete Gaussian noise
    of deviation 1/`choice`, or public if that is zero.

    Guarantee
        All trained models and the choice together cost `cost_at(delta)`; with `runs`, the kept model and its score.
        However the settings were listed, as long as they were listed before the first run.
        Proof: docs/proofs/training.md, "Search".

    >>> recipes = [Recipe(examples=1000, lot=100, steps=10, bound=1, multiplier=2, rate=rate) for rate in (0.1, 1)]
    >>> Search(recipes).epsilon(1e-5) > recipes[0].epsilon(1e-5)
    True
    """

    recipes: tuple[Recipe, ...] = field(converter=_listed)
    choice: Fraction = field(default=Fraction(0), converter=exact, validator=within(least=0))
    disjoint: bool = field(default=False, kw_only=True)
    runs: RunCount | None = field(default=None, kw_only=True, converter=read_runs)

    @classmethod
    def within(
        cls,
        epsilon: Number,
        delta: Number,
        recipes: Iterable[Recipe],
        choice: Number = 0,
        *,
        former: bool = False,
        disjoint: bool = False,
        runs: RunCount | None = None,
    ) -> Search:
        """The same with the least noise, by one factor for all recipes, that keeps the whole within (epsilon, delta).

        The multipliers given say how the noise of the recipes compares: alike for runs that are alike. `former` noise
        is that which was found before grids of losses were narrowed, for searches that were paid then.
        """
        search = cls(recipes, choice, disjoint=disjoint, runs=runs)
        budget, missed = as_written(epsilon, "epsilon"), as_written(delta, "delta")
        if runs is None and (budget < search.choice or (budget == search.choice and not disjoint)):
            raise InputError("epsilon", epsilon, f"more than the {float(search.choice):.3g} of the choice")
        if not 0 < missed < 1:
            raise InputError("delta", delta, "more than 0 and less than 1")

        def fits(units: int, interval: float) -> bool:
            try:
                scaled = search._scaled(units)
                if runs is not None:
                    return scaled.epsilon(missed) <= budget
                cost = scaled._runs if disjoint else scaled.cost
                return privacy_loss(cost, interval, narrowed=not former).epsilon(missed) <= budget
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
        while high - low > max(1, high // (2000 if former else 100)):
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle, COARSE) else (middle, high)
        if former:
            while not fits(high, FINE):
                high += max(1, high // 2000)
            return search._scaled(high)
        return search._scaled(refine(high, -1, lambda units: fits(units, FINE)))

    def _scaled(self, units: int) -> Search:
        factor = Fraction(units, _UNITS)
        return evolve(self, recipes=tuple(evolve(one, multiplier=one.multiplier * factor) for one in self.recipes))

    @property
    def cost(self) -> Loss:
        """What all runs and the choice cost together, whatever rows they used. For `runs` ask `cost_at`."""
        if self.runs is not None:
            raise InputError("runs", Phrase("a random number"), "left out here", "Ask cost_at(delta).")
        return Composed([self._runs, Pure(self.choice)]) if self.choice else self._runs

    @property
    def _runs(self) -> Loss:
        return Composed([recipe.cost for recipe in self.recipes])

    def cost_at(self, delta: Number) -> Loss:
        """What the search costs at `delta`: (epsilon, delta) where runs are random or rows disjoint, else as `cost`."""
        return self.cost if self.runs is None and not self.disjoint else Approx(self.epsilon(delta), delta)

    def epsilon(self, delta: Number) -> Fraction:
        """The epsilon of the whole search at `delta`, rounded up."""
        if self.runs is not None:
            return self._random_epsilon(self.runs, as_written(delta, "delta"))
        if self.disjoint:
            return max(approx(self._runs, delta).epsilon, self.choice)
        return approx(self.cost, delta).epsilon

    def _random_epsilon(self, runs: RunCount, delta: Fraction) -> Fraction:
        added = runs.expected * max(recipe.noise_delta() for recipe in self.recipes)
        if delta <= added:
            raise InputError("delta", float(delta), "more than noise on the device adds to it", "Use noise='exact'.")
        trained = [recipe.ideal_cost() for recipe in self.recipes]
        if not self.choice:
            return best_of(trained, runs, delta - added)
        score = GaussianNoise(1 / self.choice, 1)
        if not self.disjoint:
            return best_of([Composed([loss, score]) for loss in trained], runs, delta - added)
        return max(best_of(trained, runs, delta - added), best_of([score], runs, delta - added))

    def text(self, delta: Number) -> str:
        """For the model card."""
        how = "on public data" if not self.choice else f"privately, for epsilon = {readable(self.choice)}"
        whole = readable(self.epsilon(delta))
        if self.runs is not None:
            scored = (
                "on public data" if not self.choice else f"counts with noise of deviation {readable(1 / self.choice)}"
            )
            return (
                f"A random number of runs, {readable(self.runs.mean, 4, 'near')} on average and not disclosed, of "
                f"{len(self.recipes)} settings picked at random: epsilon = {whole} for the whole search; scores "
                f"{scored}."
            )
        if self.choice and self.disjoint:
            how += " on rows of its own, which adds nothing to the price"
        return f"{len(self.recipes)} runs, all charged: epsilon = {whole} for the whole search; the best picked {how}."

    def best(self, scores: Sequence[int], bits: Bits | None = None) -> int:
        """Which candidate is kept: by public scores the best, else by a private choice (`choose_privately`)."""
        if len(scores) != len(self.recipes):
            raise InputError(
                "scores", Phrase(f"{len(scores)} of them"), f"one score for each of {len(self.recipes)} candidates"
            )
        return choose_privately(scores, self.choice, bits) if self.choice else int(np.argmax(scores))


def choose_privately(correct: Sequence[int], epsilon: Number, bits: Bits | None = None) -> int:
    """The place of about the largest of several counts of right answers on the same private rows.

    Guarantee: epsilon-differentially private for adding or removing a row, as long as a row adds at most one to each
    count: permute and flip, for counts that all move the same way.
    """
    for count in correct:
        if isinstance(count, bool) or int(count) != count:
            raise InputError("correct", count, "whole numbers: how many rows each candidate got right")
    return PermuteAndFlip(epsilon, sensitivity=1, monotone=True).release([int(one) for one in correct], bits=bits)


def choice_epsilon(within: Fraction, confidence: float, candidates: int) -> Fraction:
    """The least epsilon, in three digits, of a choice that is at most `within` right answers behind the best.

    >>> choice_epsilon(Fraction(30), 0.95, 3)
    Fraction(999, 10000)
    """
    # The distance is so much over epsilon: see `PermuteAndFlip.error`.
    distance = PermuteAndFlip(1, sensitivity=1, monotone=True).error(confidence, max(2, candidates))
    return Fraction(readable(max(distance, Fraction(1, 1000)) / within, 3))


def score_precision(epsilon: Fraction, delta: Fraction, runs: RunCount) -> Fraction:
    """The most precise scores, in three digits, that cost at most `epsilon` where scored rows are not trained on.

    One over the deviation of their noise: `Search.choice` with random runs.
    """
    low, high = Fraction(0), Fraction(1)
    while best_of([GaussianNoise(1 / high, 1)], runs, delta / 2) <= epsilon:
        low, high = high, 2 * high
    while high - low > high / 1000:
        middle = (low + high) / 2
        fit = best_of([GaussianNoise(1 / middle, 1)], runs, delta / 2) <= epsilon
        low, high = (middle, high) if fit else (low, middle)
        if high < Fraction(1, 10**6):
            hint = "A random number of runs costs at least what its law does: raise epsilon or delta."
            raise InputError("epsilon", float(epsilon), "larger: no score is so cheap", hint)
    return Fraction(readable(low, 3, "down"))


def right_answers(outputs: Sequence[Any], y: Any) -> list[int]:
    """How many rows each candidate gets right, from its outputs for them; a row adds at most one to each count."""
    truth = np.asarray(y)
    return [int((np.asarray(one).argmax(axis=1) == truth).sum()) if len(truth) else 0 for one in outputs]
