"""A search for good settings on a private table: several runs, one choice, one charge for all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import evolve

from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.unit import Unit
from discreet.data.source import Connection
from discreet.errors import MISSING, InputError, Phrase
from discreet.learn.early import refuse_on_table
from discreet.learn.keys import bits_of, new_secret
from discreet.learn.matrix import examples_of
from discreet.learn.model import packed_weights
from discreet.learn.per_example import outputs_alone
from discreet.learn.plan import TrainPlan
from discreet.learn.tuning import Search, right_answers
from discreet.ledger.budget import Allotment, Charge
from discreet.noise.bernoulli import bernoulli

if TYPE_CHECKING:
    pass

__all__ = ["SearchPlan", "searched"]

_CHOICE = Fraction(1, 10)  # of the price, for choosing
_HELD_OUT = Fraction(1, 10)  # of the rows, for choosing on


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
            notes=("All runs are charged before the first, whichever is kept. Stopping early refunds nothing.",),
            facts={"candidates": [plan.recipe.to_dict() for plan in self.candidates]},
        )

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Lay out the examples, hold some out, train every candidate, keep one. Called by the one door only."""
        notify("laying out the examples in the engine")
        secret, plan = new_secret(bits), self._first
        x, y = examples_of(plan.encoding, plan.schema, data, bits_of(secret, "rows"), plan.condition)
        held = bernoulli(self.held_out, len(y), bits=bits_of(secret, "held out"))
        kept: list[Any] = []
        for place, candidate in enumerate(self.candidates):
            notify(f"candidate {place + 1} of {len(self.candidates)}")
            kept.append(candidate.taken_up(bits).go((x[~held], y[~held])))
        outputs = [
            np.asarray(outputs_alone(candidate.model.apply, one.params, x[held]))
            for candidate, one in zip(self.candidates, kept, strict=True)
        ]
        best = self.search.best(right_answers(outputs, y[held]), bits)
        notify("recording")
        return {
            "train": {
                **self.candidates[best].query["train"],
                "weights": packed_weights(kept[best].params),
                "losses": kept[best].losses,
                "unit": str(plan.schema.unit),
                "tuning": self.search.text(self.delta),
            }
        }

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: weights with noise in every step are what is published."""
        return measured


def searched(
    plan: TrainPlan,
    settings: Sequence[Mapping[str, Any]],
    epsilon: Fraction,
    *,
    choice: Number | None = None,
    held_out: Number = _HELD_OUT,
) -> SearchPlan:
    """The search over `settings`, changes to the recipe of `plan`, with as little noise as `epsilon` allows."""
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
    fixed = {"examples", "multiplier", "report_loss"}
    for one in listed:
        if not isinstance(one, Mapping) or fixed & set(one):
            raise InputError("settings", one, 'changes to the recipe, such as {"rate": 0.5, "steps": 200}')
    try:
        recipes = [evolve(plan.recipe, **one) for one in listed]
    except TypeError as problem:
        raise InputError("settings", str(problem).split()[-1], "changes to settings of a Recipe") from None
    for recipe in recipes:
        refuse_on_table(plan.model, plan.encoding, recipe)
    price = epsilon * _CHOICE if choice is None else as_written(choice, "choice")
    if price <= 0:
        raise InputError("choice", choice, "more than zero: held-out rows are private too")
    search = Search.within(epsilon, plan.delta, recipes, price)
    return SearchPlan(tuple(replace(plan, recipe=recipe) for recipe in search.recipes), search, share)
