"""A search for good settings: several runs, one choice, one charge for all of it, whichever model is kept.

The candidates are fixed before the first run. All of their runs together are one plan, counted as one composition. The
best is picked on public data for nothing, or on private rows that were held out, by a private choice with its price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, fields, frozen

from discreet.accounting.convert import approx
from discreet.accounting.pld import COARSE, FINE, privacy_loss
from discreet.accounting.words import readable
from discreet.core.check import exact, named, within
from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.integers import refine
from discreet.core.loss import Composed, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.unit import Unit
from discreet.data.source import Connection
from discreet.errors import MISSING, InputError, LossError, Phrase
from discreet.learn.gradients import outputs_alone
from discreet.learn.keys import bits_of, new_secret
from discreet.learn.matrix import examples_of
from discreet.learn.model import check_trainable, pack_weights
from discreet.learn.plan import TrainPlan, planned_before
from discreet.learn.recipe import Recipe
from discreet.learn.row_keys import predictor
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.noise.bernoulli import bernoulli

__all__ = ["CHOICE", "Search", "SearchPlan", "choice_epsilon", "choose_privately", "plan_search", "right_answers"]

_UNITS = 10_000  # multipliers are scaled by multiples of 1/_UNITS
_MOST = 10**8
CHOICE = Fraction(1, 10)
"""Of the price of a search, for choosing, unless said otherwise."""
_HELD_OUT = Fraction(1, 10)  # of the rows, for choosing on


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
    def within(
        cls, epsilon: Number, delta: Number, recipes: Iterable[Recipe], choice: Number = 0, *, former: bool = False
    ) -> Search:
        """The same with the least noise, by one factor for all recipes, that keeps the whole within (epsilon, delta).

        The multipliers given say how the noise of the recipes compares: alike for runs that are alike. `former` noise
        is that which was found before grids of losses were narrowed, for searches that were paid then.
        """
        search = cls(recipes, choice)
        budget, missed = as_written(epsilon, "epsilon"), as_written(delta, "delta")
        if budget <= search.choice:
            raise InputError("epsilon", epsilon, f"more than the {float(search.choice):.3g} of the choice")
        if not 0 < missed < 1:
            raise InputError("delta", delta, "more than 0 and less than 1")

        def fits(units: int, interval: float) -> bool:
            try:
                cost = search._scaled(units).cost
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


def right_answers(outputs: Sequence[Any], y: Any) -> list[int]:
    """How many rows each candidate gets right, from its outputs for them; a row adds at most one to each count."""
    truth = np.asarray(y)
    return [int((np.asarray(one).argmax(axis=1) == truth).sum()) if len(truth) else 0 for one in outputs]


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """Candidates that are all trained and paid for; the one that is right most often on held-out rows is kept.

    Guarantee
        Whatever the candidates are, the kept model costs `cost`: all runs and the choice, though every row is used for
        one of the two only. Proof: docs/proofs/training.md, "Search".
    """

    kind: ClassVar[str] = "search"
    version: ClassVar[int] = 1
    candidates: tuple[TrainPlan, ...]
    search: Search
    held_out: Fraction
    confidence: float = 0.95
    """Of the error that is stated; what is released does not depend on it."""
    earlier: Callable[[], SearchPlan] | None = None
    """Plans the same with the noise that was found before."""

    @property
    def former(self) -> tuple[SearchPlan, ...]:
        """What was made of the same ask before grids of losses were narrowed: more noise. A search of seconds."""
        return tuple(replace(plan, confidence=self.confidence) for plan in planned_before(self.earlier))

    @property
    def _first(self) -> TrainPlan:
        return self.candidates[0]

    @property
    def dataset(self) -> str:
        """The dataset's name, as the ledger knows it."""
        return self._first.dataset

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return self._first.unit

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        return self._first.allotment

    @property
    def delta(self) -> Fraction:
        """The delta of the whole."""
        return self._first.delta

    @property
    def cost(self) -> Loss:
        """The price of all runs and of the choice."""
        return self.search.cost

    @cached_property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost, self.delta)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return f"{len(self.candidates)} runs, the first with {self._first.mechanism}; one kept by permute-and-flip"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {
            "search": [plan.query["train"] for plan in self.candidates],
            "choice": str(self.search.choice),
            "held_out": str(self.held_out),
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self._first.schema.to_dict(), "query": self.query}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return self._first.columns

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the candidates, and how one is chosen."""
        share = f"{float(self.held_out):.3g}"
        return Explanation(
            title=f"Plan for a search over {len(self.candidates)} settings on {self.dataset!r}",
            unit=str(self.unit),
            shape=(
                self.search.text(self.delta),
                f"Each row is held out for the choice with probability {share}; the others are trained on.",
            ),
            errors=(self._shortfall(),),
            confidence=self.confidence,
            notes=("All runs are charged before the first, whichever is kept. Stopping early refunds nothing.",),
            facts={"candidates": [plan.recipe.to_dict() for plan in self.candidates]},
        )

    def _shortfall(self) -> Accuracy:
        """How far the kept candidate may be behind the best one, in right answers on the held-out rows."""
        choice = PermuteAndFlip(self.search.choice, sensitivity=1, monotone=True)
        behind = float(choice.error(self.confidence, len(self.candidates)))
        noise = f"permute-and-flip, epsilon = {readable(self.search.choice)}"
        return Accuracy("the kept candidate", noise, behind, unit="right answers on held-out rows", of="shortfall")

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Lay out the examples, hold some out, train every candidate, keep one. Called by the one door only."""
        notify("laying out the examples in the engine")
        secret, plan = new_secret(bits), self._first
        x, y = examples_of(plan.encoding, plan.schema, data, bits_of(secret, "rows"), plan.condition)
        held = bernoulli(self.held_out, len(y), bits=bits_of(secret, "held out"))
        kept: list[Any] = []
        for place, candidate in enumerate(self.candidates):
            notify(f"candidate {place + 1} of {len(self.candidates)}")
            kept.append(candidate.resume(bits).go((x[~held], y[~held])))
        outputs = [
            np.asarray(outputs_alone(predictor(candidate.model.apply), one.params, x[held]))
            for candidate, one in zip(self.candidates, kept, strict=True)
        ]
        best = self.search.best(right_answers(outputs, y[held]), bits)
        notify("recording")
        return {
            "train": {
                **self.candidates[best].query["train"],
                "weights": pack_weights(kept[best].params),
                "losses": kept[best].losses,
                "unit": str(plan.schema.unit),
                "tuning": self.search.text(self.delta),
            }
        }

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: weights with noise in every step are what is published."""
        return measured


def plan_search(
    plan: TrainPlan,
    settings: Sequence[Mapping[str, Any]],
    epsilon: Fraction,
    *,
    choice: Number | None = None,
    held_out: Number = _HELD_OUT,
    former: bool = False,
) -> SearchPlan:
    """The search over `settings`, changes to the recipe of `plan`, with as little noise as `epsilon` allows.

    With `former` noise, as little as was found before grids of losses were narrowed.
    """
    if plan.count is not None:
        raise InputError("examples", MISSING, "declared for a search")
    if not plan.encoding.classes:
        raise InputError("target", plan.encoding.target.name, "a category or a boolean: right answers are counted")
    share = as_written(held_out, "held_out")
    if not 0 < share < 1:
        raise InputError("held_out", held_out, "more than 0 and less than 1")
    listed = list(settings)
    if len(listed) < 2:
        raise InputError(
            "settings", Phrase(f"{len(listed)} of them"), "at least two candidates", "For one, plan it as it is."
        )
    fixed = {"examples", "multiplier", "report_loss", "rows"}
    for one in listed:
        if not isinstance(one, Mapping) or fixed & set(one):
            raise InputError("settings", one, 'changes to the recipe, such as {"rate": 0.5, "steps": 200}')
    known = [one.name for one in fields(type(plan.recipe)) if one.name not in fixed]
    if unknown := [name for one in listed for name in one if name not in known]:
        raise InputError.unknown(f"settings.{unknown[0]}", known)
    recipes = [evolve(plan.recipe, **one) for one in listed]
    for recipe in recipes:
        check_trainable(plan.model, plan.encoding, recipe, plan.augment)
    price = epsilon * CHOICE if choice is None else as_written(choice, "choice")
    if price <= 0:
        raise InputError("choice", choice, "more than zero: held-out rows are private too")
    search = Search.within(epsilon, plan.delta, recipes, price, former=former)
    again = partial(plan_search, plan, listed, epsilon, choice=choice, held_out=held_out, former=True)
    candidates = tuple(replace(plan, recipe=recipe) for recipe in search.recipes)
    return SearchPlan(candidates, search, share, earlier=None if former else again)
